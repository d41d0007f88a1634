package lifecycle

import (
	"slices"
	"time"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
)

// Recorder is the transaction a transition is written in.
type Recorder interface {
	Now() time.Time
	// Event appends to the history of the object.
	Event(events ...model.Event)
}

// AboutHost makes the subject of events about a host; a host without a name is called by its id.
func AboutHost(h *model.Host) events.Subject {
	name := h.Hostname()
	if name == "" {
		name = h.ID.String()
	}
	return events.Subject{ClusterID: h.ClusterID, HostID: &h.ID, InfraEnvID: &h.InfraEnvID, HostName: name, Host: h}
}

// AboutCluster makes the subject of events about a cluster.
func AboutCluster(c *model.Cluster) events.Subject {
	return events.Subject{ClusterID: &c.ID, Cluster: c}
}

// ApplyHost carries out the transition of a host on an event: status, status info, effects and the lines of its history. It is the only
// way a host's status changes. A host without a status is new: its history begins with its registration, not here, and rec may be nil.
// An error comes from NextHost, and then nothing was changed.
func ApplyHost(h *model.Host, event HostEvent, facts HostFacts, rec Recorder) (HostTransition, error) {
	tr, err := NextHost(event, h.Status, facts)
	if err != nil {
		return tr, err
	}
	info := h.StatusInfo
	h.Status = tr.To
	if tr.StatusInfo != "" {
		h.StatusInfo = tr.StatusInfo
	}
	if tr.From == "" {
		return tr, nil
	}
	if tr.From != tr.To || info != h.StatusInfo && !slices.Contains(reports, event) {
		rec.Event(events.New(events.HostStatusUpdated, AboutHost(h), events.Props{
			"src_status": string(tr.From), "new_status": string(h.Status), "info": h.StatusInfo,
		}, rec.Now()))
	}
	if carryOut := hostEffects[tr.Effect]; carryOut != nil {
		carryOut(h, &facts, rec)
	}
	return tr, nil
}

// ApplyCluster does for a cluster what ApplyHost does for a host.
func ApplyCluster(c *model.Cluster, event ClusterEvent, facts ClusterFacts, rec Recorder) (ClusterTransition, error) {
	tr, err := NextCluster(event, c.Status, facts)
	if err != nil {
		return tr, err
	}
	info := c.StatusInfo
	c.Status = tr.To
	if tr.StatusInfo != "" {
		c.StatusInfo = tr.StatusInfo
	}
	if tr.From == "" {
		return tr, nil
	}
	if tr.From != tr.To || info != c.StatusInfo && event != RefreshCluster {
		rec.Event(events.New(events.ClusterStatusUpdated, AboutCluster(c), events.Props{
			"cluster_status": string(c.Status), "status_info": c.StatusInfo,
		}, rec.Now()))
	}
	if carryOut := clusterEffects[tr.Effect]; carryOut != nil {
		carryOut(c, tr.From, &facts, rec)
	}
	return tr, nil
}
