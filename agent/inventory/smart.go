package inventory

import (
	"context"
	"encoding/json"
	"strings"

	"slipway/agent/smart"
	"slipway/internal/wire"
)

// Health asks a disk by its path for its verdict on its health; smart.Disks does on a real
// machine. An error is no verdict.
type Health interface {
	Health(ctx context.Context, path string) (smart.Verdict, error)
}

// readSMART adds what disks with a controller of their own say of their health. Only the
// verdict is kept: temperatures and hours would make every inventory differ from the last.
func (m Machine) readSMART(ctx context.Context, disks []wire.Disk) {
	for n := range disks {
		if m.Health == nil || ctx.Err() != nil || !keepsHealth(&disks[n]) {
			continue
		}
		verdict, err := m.Health.Health(ctx, disks[n].Path)
		if err != nil {
			continue
		}
		if text, err := json.Marshal(verdict); err == nil {
			disks[n].Smart = string(text)
		}
	}
}

// keepsHealth leaves out what has no SMART data: virtual disks, volumes, disks of a network.
func keepsHealth(disk *wire.Disk) bool {
	local := disk.DriveType == wire.DriveTypeHDD || disk.DriveType == wire.DriveTypeSSD
	return local && (strings.HasPrefix(disk.Name, "sd") || strings.HasPrefix(disk.Name, "nvme"))
}
