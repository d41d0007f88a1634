package operators

import (
	"slipway/internal/model"
)

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
	gb  = int64(1_000_000_000)
)

func hasInventory(h *model.Host) bool {
	return h.Inventory != nil && h.Inventory.CPU.Count > 0 && h.Inventory.Memory.PhysicalBytes > 0
}

// volumesOfMCE returns the room that volumes of multicluster engine take of a disk, besides the need of the storage: the size of the
// largest volume, and on a single node of all three.
func (p *Plan) volumesOfMCE() int64 {
	switch {
	case !p.chosen["mce"]:
		return 0
	case p.singleNode():
		return (10 + 10 + 50) * gb
	}
	return 50 * gb
}
