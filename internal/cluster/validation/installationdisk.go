package validation

import (
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

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

// DevicePath returns the path of a disk by its name in the kernel, such as /dev/sda.
func DevicePath(d *wire.Disk) string {
	if strings.HasPrefix(d.Path, "/dev/") {
		return d.Path
	}
	return "/dev/" + d.Name
}
