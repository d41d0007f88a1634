package hardware

import (
	"slices"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// dataDrives are the kinds of disks that storage is built on.
var dataDrives = []wire.DriveType{wire.DriveTypeSSD, wire.DriveTypeHDD, wire.DriveTypeMultipath}

// DataDisks counts the disks of a host, of a size or larger, that are unused and not the installation disk, and returns the bytes of
// the largest unused disk of any size.
func DataDisks(h *model.Host, minBytes int64) (count int, largest int64) {
	if h.Inventory == nil {
		return 0, 0
	}
	system := InstallationDisk(h)
	for i := range h.Inventory.Disks {
		d := &h.Inventory.Disks[i]
		if d == system || !free(h, d) || !slices.Contains(dataDrives, d.DriveType) {
			continue
		}
		largest = max(largest, int64(d.SizeBytes))
		if int64(d.SizeBytes) >= minBytes {
			count++
		}
	}
	return count, largest
}

// free reports whether nothing uses a disk; a path of a multipath device is counted as that device.
func free(h *model.Host, d *wire.Disk) bool {
	return !d.Removable && !d.IsInstallationMedia && d.Holders == "" && !HasPath(h.Inventory, d)
}
