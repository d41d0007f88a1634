package discovery

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// clusterMarks is what of a cluster decides which steps are due on its hosts; the zero
// value is that of an unbound host.
type clusterMarks struct {
	id              *uuid.UUID
	networks, hosts int64 // generations
}

// viewOf is what of a host with an agent of a version decides which steps are due.
func (s *Service) viewOf(h *model.Host, c clusterMarks, agentVersion string, now time.Time) duesteps.View {
	return duesteps.View{
		Kind: h.Kind, Status: h.Status, AgentSteps: h.AgentSteps, Facts: h.Facts, StatusUpdatedAt: h.StatusUpdatedAt,
		NetworkGeneration: c.networks, HostsGeneration: c.hosts, Hosts: s.peers.size(c.id),
		LogsDone:     !h.LogsCollectedAt.IsZero() || h.LogsInfo == model.LogsTimeout,
		UpgradeAgent: s.mustUpgrade(h.AgentSteps, agentVersion), Now: now,
	}
}

// due lists the steps to ask of a host of a cluster now.
func (s *Service) due(cluster *uuid.UUID, view duesteps.View) []duesteps.Step {
	return slices.DeleteFunc(duesteps.Due(view), func(step duesteps.Step) bool {
		return slices.Contains(s.options.DisabledSteps, string(step.Type)) ||
			step.Type == wire.StepTypeDhcpLeaseAllocate && !s.peers.leases(cluster, view.NetworkGeneration)
	})
}
