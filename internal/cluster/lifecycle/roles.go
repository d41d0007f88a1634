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
	memoryWeight, diskWeight                       = 0.1, 0.004
	baseCPU, baseMemoryGiB, baseDiskGiB            = 4, 16, 100
	bytesPerGiB, bytesPerGB                        = 1 << 30, 1_000_000_000
	arbiterControlPlanes                           = 2
	defaultDayTwoRole                   model.Role = model.RoleWorker
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

// SuggestRoles gives a role to every host that left the choice to the service: the
// first hosts in SortHosts order that meet the control plane's requirements fill it up,
// then one arbiter for a control plane of two, the others are workers. Hosts without an
// inventory get none. Roles chosen by the user count and are not among the result.
func SuggestRoles(cluster *model.Cluster, hosts []*model.Host, opts RoleOptions) map[uuid.UUID]model.Role {
	out := map[uuid.UUID]model.Role{}
	masters, arbiters := 0, 0
	for _, h := range hosts {
		masters += one(h.Role == model.RoleMaster)
		arbiters += one(h.Role == model.RoleArbiter)
	}
	wantArbiters := one(cluster.ControlPlaneCount == arbiterControlPlanes)
	plan := operators.NewPlan(cluster, hosts)
	meets := func(h *model.Host, role model.Role) bool {
		base := validation.RequirementsOf(opts.Requirements, role, cluster, h.Inventory, opts.Validation)
		return validation.Meets(h.Inventory, plan.Requirements(base, h, role))
	}
	for _, h := range SortHosts(hosts) {
		if h.Role != model.RoleAutoAssign || h.Inventory == nil {
			continue
		}
		switch {
		case cluster.DayTwo() || h.DayTwo():
			out[h.ID] = defaultDayTwoRole
		case masters < cluster.ControlPlaneCount && meets(h, model.RoleMaster):
			out[h.ID] = model.RoleMaster
			masters++
		case arbiters < wantArbiters && meets(h, model.RoleArbiter):
			out[h.ID] = model.RoleArbiter
			arbiters++
		default:
			out[h.ID] = model.RoleWorker
		}
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
