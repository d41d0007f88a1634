package hardware

import (
	"cmp"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// InstallationDisk returns the disk that a host is installed to, as its user or the default chose it; nil while there is none.
func InstallationDisk(h *model.Host) *wire.Disk {
	return FindDisk(h.Inventory, cmp.Or(h.InstallationDiskID, h.InstallationDiskPath))
}

// ChooseInstallationDisk keeps the installation disk of a host while it can be installed to, and
// chooses the default one otherwise.
func ChooseInstallationDisk(h *model.Host) {
	for _, ref := range []string{h.InstallationDiskID, h.InstallationDiskPath} {
		if d := FindDisk(h.Inventory, ref); d != nil && d.InstallationEligibility.Eligible {
			h.InstallationDiskID, h.InstallationDiskPath = DiskID(d), DevicePath(d)
			return
		}
	}
	h.InstallationDiskID, h.InstallationDiskPath = "", ""
	if d := DefaultInstallationDisk(h.Inventory); d != nil {
		h.InstallationDiskID, h.InstallationDiskPath = DiskID(d), DevicePath(d)
	}
}
