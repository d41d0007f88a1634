package metrics

import (
	"fmt"
	"time"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
)

// Results of installations and stages.
const (
	resultInstalled = "installed"
	resultError     = "error"
	resultCancelled = "cancelled"
	resultSuccess   = "success"
)

// counts updates the metrics for each event.
var counts = map[string]func(*Recorder, *model.Event){
	string(events.ClusterRegistrationSucceeded):      func(m *Recorder, e *model.Event) { m.count(clusterCreations, version(e)) },
	string(events.HostRegistrationSucceeded):         func(m *Recorder, _ *model.Event) { m.count(hostCreations) },
	string(events.HostRegistrationFailed):            func(m *Recorder, _ *model.Event) { m.count(invalidHost) },
	string(events.ClusterPrepareInstallationStarted): func(m *Recorder, e *model.Event) { m.count(installationStarted, version(e)) },
	string(events.ClusterInstallationCompleted):      func(m *Recorder, e *model.Event) { m.installation(e, resultInstalled) },
	string(events.ClusterInstallationFailed):         func(m *Recorder, e *model.Event) { m.installation(e, resultError) },
	string(events.ClusterInstallationCanceled):       func(m *Recorder, e *model.Event) { m.installation(e, resultCancelled) },
	string(events.HostInstallProgressUpdated):        (*Recorder).stageEnded,
	string(events.HostStatusUpdated):                 (*Recorder).hostMoved,
	string(events.HostValidationFailed):              func(m *Recorder, e *model.Event) { m.rule(hostRuleFailed, hostRuleChanged, e) },
	string(events.HostValidationFixed):               func(m *Recorder, e *model.Event) { m.rule("", hostRuleChanged, e) },
	string(events.ClusterValidationFailed): func(m *Recorder, e *model.Event) {
		m.rule(clusterRuleFailed, clusterRuleChanged, e)
	},
	string(events.ClusterValidationFixed):             func(m *Recorder, e *model.Event) { m.rule("", clusterRuleChanged, e) },
	string(events.ClusterDeregistered):                (*Recorder).clusterDeleted,
	string(events.AfterInactivityClusterDeregistered): (*Recorder).clusterDeleted,
	events.DiskSpeedMeasured: func(m *Recorder, e *model.Event) {
		m.observe(diskSync, float64(e.Counted.Duration)/float64(time.Millisecond))
	},
}

func version(e *model.Event) string {
	if e.Counted.Cluster == nil {
		return ""
	}
	return e.Counted.Cluster.OpenShiftVersion
}

func (m *Recorder) installation(e *model.Event, result string) {
	c := e.Counted.Cluster
	if c == nil || c.InstallStartedAt.IsZero() {
		return
	}
	m.observe(installationSeconds, e.At.Sub(c.InstallStartedAt).Seconds(), c.OpenShiftVersion, result)
}

func (m *Recorder) stageEnded(e *model.Event) {
	if h := e.Counted.Host; h != nil && e.Counted.Stage != "" {
		m.observe(phaseSeconds, e.Counted.Duration.Seconds(), string(e.Counted.Stage), role(h), resultSuccess)
	}
}

// hostResults are the statuses in which the installation of a host has ended.
var hostResults = map[string]bool{
	string(model.HostInstalled): true, string(model.HostAddedToExistingCluster): true, string(model.HostError): true,
	string(model.HostCancelled): true,
}

func (m *Recorder) hostMoved(e *model.Event) {
	result, h := fmt.Sprint(e.Props["new_status"]), e.Counted.Host
	if h == nil || !hostResults[result] {
		return
	}
	if result == string(model.HostError) && h.Stage != "" && !h.Progress.StageStartedAt.IsZero() {
		m.observe(phaseSeconds, e.At.Sub(h.Progress.StageStartedAt).Seconds(), string(h.Stage), role(h), resultError)
	}
	m.count(clusterHosts, role(h), result)
	if h.Inventory == nil {
		return
	}
	m.observe(hostCores, float64(h.Inventory.CPU.Count), role(h), result)
	m.observe(hostRAM, float64(h.Inventory.Memory.PhysicalBytes)/(1<<30), role(h), result)
	for i := range h.Inventory.Disks {
		d := &h.Inventory.Disks[i]
		m.observe(hostDisk, float64(d.SizeBytes)/1e9, role(h), result, string(d.DriveType))
	}
	for i := range h.Inventory.Interfaces {
		m.observe(hostNIC, float64(h.Inventory.Interfaces[i].SpeedMbps)/1000, role(h), result)
	}
}

func role(h *model.Host) string {
	if h.Bootstrap {
		return string(model.RoleBootstrap)
	}
	return string(h.EffectiveRole())
}

func (m *Recorder) rule(failed, changed string, e *model.Event) {
	id := fmt.Sprint(e.Props["validation_id"])
	if failed != "" {
		m.count(failed, id)
	}
	m.count(changed, id)
}

func (m *Recorder) clusterDeleted(e *model.Event) {
	if c := e.Counted.Cluster; c != nil {
		for _, v := range c.Validations {
			if v.Fails() {
				m.count(clusterRuleAtDeletion, v.ID)
			}
		}
	}
	for id, n := range e.Counted.FailedHostValidations {
		m.add(hostRuleAtDeletion, n, id)
	}
}
