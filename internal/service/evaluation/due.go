package evaluation

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// Due decides which steps hosts are asked. It is safe for concurrent use.
type Due struct {
	store        *store.Store
	peers        peerCache
	disabled     []string
	agentImage   string
	agentVersion string
}

// ClusterMarks names the cluster of a host and the generations that decide which steps are due; the zero value stands for
// an unbound host.
type ClusterMarks struct {
	ID              *uuid.UUID
	Networks, Hosts int64
}

// View returns the state of a host with an agent of a version that decides which steps are due.
func (d *Due) View(h *model.Host, c ClusterMarks, agentVersion string, now time.Time) duesteps.View {
	return duesteps.View{
		Kind: h.Kind, Status: h.Status, AgentSteps: h.AgentSteps, Facts: h.Facts, StatusUpdatedAt: h.StatusUpdatedAt,
		NetworkGeneration: c.Networks, HostsGeneration: c.Hosts, Hosts: d.peers.size(c.ID),
		LogsDone:     !h.LogsCollectedAt.IsZero() || h.LogsInfo == model.LogsTimeout,
		UpgradeAgent: d.mustUpgrade(h.AgentSteps, agentVersion), Now: now,
	}
}

// Steps lists the steps to ask of a host of a cluster now.
func (d *Due) Steps(cluster *uuid.UUID, view duesteps.View) []duesteps.Step {
	return slices.DeleteFunc(duesteps.Due(view), func(step duesteps.Step) bool {
		return slices.Contains(d.disabled, string(step.Type)) ||
			step.Type == wire.StepTypeDhcpLeaseAllocate && !d.peers.leases(cluster, view.NetworkGeneration)
	})
}

// Remotes returns the hosts of a cluster for connectivity checks, in a generation of them.
func (d *Due) Remotes(ctx context.Context, cluster uuid.UUID, generation int64) (*duesteps.Remotes, error) {
	return d.peers.remotes(ctx, d.store, cluster, generation)
}

// LeasesNothing remembers that a cluster leases no addresses in a generation of its networks.
func (d *Due) LeasesNothing(cluster uuid.UUID, generation int64) {
	d.peers.noLease(cluster, generation)
}

// RequiredAgent returns the version that an agent must have; empty takes any.
func (d *Due) RequiredAgent(steps model.AgentSteps) string {
	if steps == model.FineSteps {
		return d.agentVersion
	}
	return d.agentImage
}

// mustUpgrade reports whether the version of an agent differs from the required one; an unknown version does not.
func (d *Due) mustUpgrade(steps model.AgentSteps, version string) bool {
	want := d.RequiredAgent(steps)
	return want != "" && version != "" && version != want
}
