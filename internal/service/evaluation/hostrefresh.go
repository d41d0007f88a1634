package evaluation

import (
	"reflect"
	"slices"
	"time"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
	"slipway/internal/wire"
)

// hostContext is the input of a host's evaluation besides the host.
type hostContext struct {
	by            Criteria
	hosts         []*model.Host     // of the cluster
	peers         *validation.Peers // of the cluster
	timeouts      lifecycle.Timeouts
	awaitingRetry bool
}

// checkFailed is the exit code of the checks of a host whose preparation has failed.
const checkFailed = 1

// evaluateHost looks at the disks of a host again: its role, cluster or version may be another
// than when its inventory came. The inventory it was read with stays untouched.
func (e *Evaluator) evaluateHost(h *model.Host, by Criteria) {
	if h.Inventory == nil || !lifecycle.InDiscovery.Has(h.Status) {
		return
	}
	inv := *h.Inventory
	inv.Disks = slices.Clone(inv.Disks)
	e.EvaluateDisks(h, &inv, by)
	if !reflect.DeepEqual(inv.Disks, h.Inventory.Disks) {
		h.Inventory = &inv
	}
	hardware.ChooseInstallationDisk(h)
}

// refreshHost evaluates the rules of a host and its Refresh row.
func (e *Evaluator) refreshHost(h *model.Host, in hostContext, t *store.Tx) {
	before := h.Validations
	h.Validations = validation.Host(validation.HostFacts{
		Host: h, Cluster: in.by.cluster, Peers: in.peers, Requirements: in.by.requirements, Options: e.rules, Now: t.Now(),
	})
	hostValidationEvents(h, before, t)
	facts := lifecycle.NewHostFacts(lifecycle.HostInput{
		Host: h, Cluster: in.by.cluster, Hosts: in.hosts, Results: h.Validations,
		Timeouts: in.timeouts, AwaitingRetry: in.awaitingRetry, Now: t.Now(),
	})
	was := h.Status
	tr, err := lifecycle.ApplyHost(h, lifecycle.RefreshHost, facts, t)
	switch {
	case err != nil:
	case tr.Effect == lifecycle.EffectFailed:
		transitions.Failed(h, facts.ClusterStatus, wire.ExitInterrupted, h.StatusInfo, t)
	case h.Status == model.HostPreparingFailed && was != h.Status:
		t.FailSteps(h, checkFailed, h.StatusInfo) // a check that was reported before its step was armed is not waited for
	}
}

// wake ends the poll that is held for a host, if it is worth that now or was in an earlier run of the evaluation.
func (e *Evaluator) wake(n *news, before, h *model.Host, c *model.Cluster, t *store.Tx) {
	if n.woken[h.ID] || e.worthWaking(before, h, c, n.moved, t.Now()) {
		n.woken[h.ID] = true
		t.WakeHosts(h.ID)
	}
}

// worthWaking reports whether a poll that is held for a host has something to hand out
// now, or will have at another time than it thinks: its status is new, or the hosts it
// is asked about are others. Only polls of our own agent are held.
func (e *Evaluator) worthWaking(before, h *model.Host, c *model.Cluster, others bool, now time.Time) bool {
	if h.AgentSteps != model.FineSteps || now.Sub(h.CheckedInAt) > e.timeouts.Disconnect {
		return false
	}
	if others || before.Status != h.Status {
		return true
	}
	var of ClusterMarks
	if c != nil {
		of = ClusterMarks{ID: &c.ID, Networks: c.NetworkGeneration, Hosts: c.HostsGeneration}
	}
	view := e.Due.View(h, of, h.DiscoveryAgentVersion, now)
	return len(e.Due.Steps(h.ClusterID, view)) > 0
}
