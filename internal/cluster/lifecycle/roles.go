package lifecycle

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/cluster/operators"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
)

// Weights of a host's hardware beyond the smallest control plane host
// (docs/reference/state-rules.md, "Automatic roles").
const (
	memoryWeight, diskWeight            = 0.1, 0.004
	baseCPU, baseMemoryGiB, baseDiskGiB = 4, 16, 100
	bytesPerGiB                         = 1 << 30
	arbiterControlPlanes                = 2
)

// SortHosts orders hosts for role assignment: without a GPU first, then the smallest
// first, then by id. The smallest sufficient hosts become control plane hosts, so that
// the large ones are left for the work.
func SortHosts(hosts []*model.Host) []*model.Host {
	out := slices.Clone(hosts)
	slices.SortStableFunc(out, func(a, b *model.Host) int {
		return cmp.Or(
			cmp.Compare(one(hasGPU(a)), one(hasGPU(b))),
			cmp.Compare(weight(a), weight(b)),
			cmp.Compare(a.ID.String(), b.ID.String()),
		)
	})
	return out
}

func hasGPU(h *model.Host) bool { return h.Inventory != nil && len(h.Inventory.Gpus) > 0 }

func weight(h *model.Host) float64 {
	if h.Inventory == nil {
		return 0
	}
	var disk int
	for i := range h.Inventory.Disks {
		if h.Inventory.Disks[i].InstallationEligibility.Eligible {
			disk += h.Inventory.Disks[i].SizeBytes
		}
	}
	return float64(h.Inventory.CPU.Count-baseCPU) +
		memoryWeight*(float64(h.Inventory.Memory.PhysicalBytes)/bytesPerGiB-baseMemoryGiB) +
		diskWeight*(float64(disk)/bytesPerGiB-baseDiskGiB)
}

// RoleOptions are what role assignment depends on besides the hosts.
type RoleOptions struct {
	Requirements model.RoleRequirements
	Validation   validation.Options
}

// FollowSingleNode makes a host that joined a single node its control plane host, whatever its hardware: its validations then
// show what it lacks. A role that a user chose stays. When the cluster gets more control plane hosts, the host is free again.
func FollowSingleNode(c *model.Cluster, h *model.Host) {
	switch {
	case c.DayTwo() || h.DayTwo() || !joining.Has(h.Status):
	case c.SingleNode() && !h.OfSingleNode && h.Role == model.RoleAutoAssign:
		h.Role, h.Bootstrap, h.OfSingleNode = model.RoleMaster, true, true
	case !c.SingleNode() && h.OfSingleNode:
		h.Bootstrap, h.OfSingleNode = false, false
		if h.Role == model.RoleMaster {
			h.Role = model.RoleAutoAssign
		}
	}
}

// joining are the statuses before an installation.
var joining = model.HostStatuses{
	model.HostDiscovering, model.HostBinding, model.HostPendingForInput, model.HostInsufficient, model.HostKnown, model.HostDisconnected,
}

// SuggestRoles gives a role to every host that left the choice to the service, once all hosts have sent their inventories:
// in SortHosts order, a host that can take it becomes a master while the others are too few, then the arbiter for a control
// plane of two, else a worker. The others are counted with the roles that were suggested before, so that a suggestion
// changes only where it has to. Roles chosen by the user count and are not among the result.
func SuggestRoles(cluster *model.Cluster, hosts []*model.Host, opts RoleOptions) map[uuid.UUID]model.Role {
	out := map[uuid.UUID]model.Role{}
	if slices.ContainsFunc(hosts, func(h *model.Host) bool { return h.Inventory == nil }) {
		for _, h := range hosts {
			if h.Role == model.RoleAutoAssign && h.SuggestedRole != "" {
				out[h.ID] = h.SuggestedRole
			}
		}
		return out
	}
	count := map[model.Role]int{}
	for _, h := range hosts {
		count[h.EffectiveRole()]++
	}
	wanted := []struct {
		role   model.Role
		number int
	}{
		{model.RoleMaster, cluster.ControlPlaneCount},
		{model.RoleArbiter, one(cluster.ControlPlaneCount == arbiterControlPlanes)},
	}
	plan := operators.NewPlan(cluster, hosts)
	for _, h := range SortHosts(hosts) {
		if h.Role != model.RoleAutoAssign {
			continue
		}
		count[h.EffectiveRole()]--
		out[h.ID] = model.RoleWorker
		for _, w := range wanted {
			if !cluster.DayTwo() && !h.DayTwo() && count[w.role] < w.number &&
				validation.CanTake(w.role, cluster, h, plan, opts.Requirements, opts.Validation) {
				out[h.ID] = w.role
				break
			}
		}
		count[out[h.ID]]++
	}
	return out
}

// ElectBootstrap chooses the control plane host that carries the bootstrap services:
// the one that has them already, else the first by hostname. Nil when there is none.
func ElectBootstrap(hosts []*model.Host) *model.Host {
	var elected *model.Host
	for _, h := range hosts {
		if h.EffectiveRole() != model.RoleMaster {
			continue
		}
		if elected == nil || compareCandidates(h, elected) < 0 {
			elected = h
		}
	}
	return elected
}

func compareCandidates(a, b *model.Host) int {
	return cmp.Or(
		cmp.Compare(one(b.Bootstrap), one(a.Bootstrap)),
		cmp.Compare(a.Hostname(), b.Hostname()),
		cmp.Compare(a.ID.String(), b.ID.String()),
	)
}
