package operators

import (
	"cmp"
	"slices"
	"strings"

	"slipway/internal/cluster/multipath"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
	gb  = int64(1_000_000_000)
)

func hasInventory(h *model.Host) bool {
	return h.Inventory != nil && h.Inventory.CPU.Count > 0 && h.Inventory.Memory.PhysicalBytes > 0
}

// dataDrives are the kinds of disks that storage is built on.
var dataDrives = []wire.DriveType{wire.DriveTypeSSD, wire.DriveTypeHDD, wire.DriveTypeMultipath}

// dataDisks counts the disks of a host, of a size or larger, that the system is not
// installed to, and gives the size of the largest disk of any size among those.
func dataDisks(h *model.Host, minBytes int64) (count int, largest int64) {
	eachDataDisk(h, func(d *wire.Disk) {
		largest = max(largest, int64(d.SizeBytes))
		if int64(d.SizeBytes) >= minBytes {
			count++
		}
	})
	return count, largest
}

func eachDataDisk(h *model.Host, see func(*wire.Disk)) {
	if h.Inventory == nil {
		return
	}
	for i := range h.Inventory.Disks {
		d := &h.Inventory.Disks[i]
		if !installed(h, d) && free(h, d) && slices.Contains(dataDrives, d.DriveType) {
			see(d)
		}
	}
}

// free reports whether nothing uses a disk; a path of a multipath device is counted as that device.
func free(h *model.Host, d *wire.Disk) bool {
	return !d.Removable && !d.IsInstallationMedia && d.Holders == "" && !multipath.HasPath(h.Inventory, d)
}

func installed(h *model.Host, d *wire.Disk) bool {
	id := cmp.Or(d.ID, d.ByID, d.ByPath, d.Path)
	return id != "" && id == h.InstallationDiskID ||
		h.InstallationDiskPath != "" && (d.Path == h.InstallationDiskPath || "/dev/"+d.Name == h.InstallationDiskPath)
}

// volumesOfMCE is the room that volumes of multicluster engine take of a disk, besides what the storage needs: that of
// the largest one, and on a single node that of all three.
func (p *Plan) volumesOfMCE() int64 {
	switch {
	case !p.chosen["mce"]:
		return 0
	case p.singleNode():
		return (10 + 10 + 50) * gb
	}
	return 50 * gb
}

// Vendors of GPUs, by their PCI ids.
const (
	vendorNVIDIA = "10de"
	vendorAMD    = "1002"
)

func pciID(text string) string { return strings.TrimPrefix(strings.ToLower(text), "0x") }

// gpusOf counts the GPUs of a host by one vendor.
func gpusOf(h *model.Host, vendor string) int {
	if h.Inventory == nil {
		return 0
	}
	n := 0
	for _, g := range h.Inventory.Gpus {
		if pciID(g.VendorID) == vendor {
			n++
		}
	}
	return n
}
