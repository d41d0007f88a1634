// Package roles chooses a role for each host that left the choice to the service.
package roles

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

// Sort orders hosts for role assignment: without a GPU first, then the smallest
// first, then by id. The smallest sufficient hosts become control plane hosts, so that
// the large ones are left for the work.
func Sort(hosts []*model.Host) []*model.Host {
	out := slices.Clone(hosts)
	slices.SortStableFunc(out, func(a, b *model.Host) int {
		return cmp.Or(
			cmp.Compare(gpus(a), gpus(b)),
			cmp.Compare(weight(a), weight(b)),
			cmp.Compare(a.ID.String(), b.ID.String()),
		)
	})
	return out
}

// gpus returns 1 for a host with a GPU.
func gpus(h *model.Host) int {
	if h.Inventory != nil && len(h.Inventory.Gpus) > 0 {
		return 1
	}
	return 0
}

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

// Options configure the choice of roles.
type Options struct {
	Requirements model.RoleRequirements
	Validation   validation.Options
}

// Suggest gives a role to every host that left the choice to the service, once all hosts have sent their inventories:
// in Sort order, a host that can take it becomes a master while the others are too few, then the arbiter for a control
// plane of two, else a worker. While no host is new, the others are counted with the roles that were suggested before, so
// that a suggestion changes only where it has to; a new host lets all be chosen anew, so that no role depends on the order
// in which hosts arrive. Roles chosen by the user count and are not among the result.
func Suggest(cluster *model.Cluster, hosts []*model.Host, opts Options) map[uuid.UUID]model.Role {
	out := map[uuid.UUID]model.Role{}
	if slices.ContainsFunc(hosts, func(h *model.Host) bool { return h.Inventory == nil }) {
		for _, h := range hosts {
			if h.Role == model.RoleAutoAssign && h.SuggestedRole != "" {
				out[h.ID] = h.SuggestedRole
			}
		}
		return out
	}
	roleOf := (*model.Host).EffectiveRole
	if slices.ContainsFunc(hosts, isNew) {
		roleOf = func(h *model.Host) model.Role { return h.Role }
	}
	count := map[model.Role]int{}
	for _, h := range hosts {
		count[roleOf(h)]++
	}
	arbiters := 0
	if cluster.ControlPlaneCount == arbiterControlPlanes {
		arbiters = 1
	}
	wanted := []struct {
		role   model.Role
		number int
	}{
		{model.RoleMaster, cluster.ControlPlaneCount},
		{model.RoleArbiter, arbiters},
	}
	plan := operators.NewPlan(cluster, hosts)
	for _, h := range Sort(hosts) {
		if h.Role != model.RoleAutoAssign {
			continue
		}
		count[roleOf(h)]--
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

// isNew reports whether a host that is there waits for its first suggestion.
func isNew(h *model.Host) bool {
	return h.Role == model.RoleAutoAssign && h.SuggestedRole == "" && !h.DayTwo() &&
		h.Status != model.HostDisconnected && h.Status != model.HostDisabled
}
