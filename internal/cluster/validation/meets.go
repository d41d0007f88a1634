package validation

import (
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Meets reports whether a machine has the CPU, memory and an eligible disk that a role
// requires; a machine without an inventory does not.
func Meets(inv *wire.Inventory, req model.Requirements) bool {
	if !validInventory(inv) || inv.CPU.Count < req.CPUCores {
		return false
	}
	if int64(inv.Memory.PhysicalBytes) < req.RAMMiB*mib-memoryTolerance {
		return false
	}
	for i := range inv.Disks {
		d := &inv.Disks[i]
		if d.InstallationEligibility.Eligible && int64(d.SizeBytes) >= req.DiskSizeGB*gb {
			return true
		}
	}
	return false
}
