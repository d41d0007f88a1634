package validation

import (
	"slices"

	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// CanTake reports whether a host meets the requirements of a role in its cluster: processors, memory, and for the control plane the
// chosen operators' requirements. Rules that the cluster ignores do not count. Its installation disk makes no difference: without one
// the host is not ready in any role.
func CanTake(role model.Role, c *model.Cluster, h *model.Host, plan *operators.Plan, all model.RoleRequirements, opts Options) bool {
	if !validInventory(h.Inventory) {
		return false
	}
	candidate, off := *h, hostsOff(c, opts)
	candidate.Role = role
	req := plan.Requirements(RequirementsOf(all, role, c, h.Inventory, opts), &candidate, role)
	if h.Inventory.CPU.Count < req.CPUCores && !off.has(string(wire.HostValidationIDHasCPUCoresForRole)) {
		return false
	}
	if int64(h.Inventory.Memory.PhysicalBytes) < req.RAMMiB*mib-memoryTolerance &&
		!off.has(string(wire.HostValidationIDHasMemoryForRole)) {
		return false
	}
	return role != model.RoleMaster || !slices.ContainsFunc(operators.All(), func(o *operators.Operator) bool {
		return plan.Chosen(o.Name) && !off.has(o.RuleID()) && plan.ValidateHost(o, &candidate).Status != model.ValidationSuccess
	})
}
