package hardware

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/wire"
)

// DiskID returns the id of a disk: its persistent id, else its path on the bus, else its device
// (docs/reference/validation-rules.md, "Disk id").
func DiskID(d *wire.Disk) string { return cmp.Or(d.ByID, d.ByPath, d.Path, named(d)) }

// DevicePath returns the path of a disk by its name in the kernel, such as /dev/sda.
func DevicePath(d *wire.Disk) string {
	if strings.HasPrefix(d.Path, "/dev/") {
		return d.Path
	}
	return "/dev/" + d.Name
}

func named(d *wire.Disk) string {
	if d.Name == "" {
		return ""
	}
	return "/dev/" + d.Name
}

// FindDisk finds a disk by id, by-id path, by-path path, device path or name, the ways clients name disks
// (docs/reference/wire.md, "Names of disks"). It returns nil when the disk does not exist.
func FindDisk(inv *wire.Inventory, ref string) *wire.Disk {
	if inv == nil || ref == "" {
		return nil
	}
	for _, key := range diskKeys {
		for i := range inv.Disks {
			if key(&inv.Disks[i]) == ref {
				return &inv.Disks[i]
			}
		}
	}
	return nil
}

// diskKeys return the names of a disk, the most persistent first.
var diskKeys = []func(*wire.Disk) string{
	func(d *wire.Disk) string { return d.ID },
	func(d *wire.Disk) string { return d.ByID },
	func(d *wire.Disk) string { return d.ByPath },
	func(d *wire.Disk) string { return d.Path },
	named,
	func(d *wire.Disk) string { return d.Name },
}

// SetDiskIDs fills the id of every disk.
func SetDiskIDs(inv *wire.Inventory) {
	for i := range inv.Disks {
		inv.Disks[i].ID = DiskID(&inv.Disks[i])
	}
}

// DefaultInstallationDisk returns the eligible disk installed to when the user chose none:
// removable ones last, then bootable ones first, NVMe last, then by drive type, size and address on the bus
// (docs/reference/validation-rules.md, "Default installation disk"). Nil when none is
// eligible.
func DefaultInstallationDisk(inv *wire.Inventory) *wire.Disk {
	if inv == nil {
		return nil
	}
	var best *wire.Disk
	for i := range inv.Disks {
		d := &inv.Disks[i]
		if d.InstallationEligibility.Eligible && (best == nil || compareDisks(d, best) < 0) {
			best = d
		}
	}
	return best
}

func compareDisks(a, b *wire.Disk) int {
	return cmp.Or(
		compareBool(a.Removable, b.Removable),
		compareBool(b.Bootable, a.Bootable), // bootable first
		compareBool(isNVMe(a), isNVMe(b)),
		cmp.Compare(string(a.DriveType), string(b.DriveType)),
		cmp.Compare(a.SizeBytes, b.SizeBytes),
		cmp.Compare(a.Hctl, b.Hctl),
	)
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func isNVMe(d *wire.Disk) bool { return strings.HasPrefix(d.Name, "nvme") }

// ISCSIPaths lists the iSCSI disks that a disk is reached over: itself, or the paths of a multipath device.
func ISCSIPaths(inv *wire.Inventory, d *wire.Disk) []*wire.Disk {
	disks := []*wire.Disk{d}
	if d.DriveType == wire.DriveTypeMultipath {
		disks = Paths(inv, d)
	}
	return slices.DeleteFunc(disks, func(m *wire.Disk) bool { return m.DriveType != wire.DriveTypeISCSI })
}

// ISCSIAddresses lists the addresses of the host from which an iSCSI disk, or the iSCSI paths
// of a multipath disk, are reached.
func ISCSIAddresses(inv *wire.Inventory, d *wire.Disk) []netip.Addr {
	var out []netip.Addr
	for _, path := range ISCSIPaths(inv, d) {
		if a, ok := ParseAddr(path.Iscsi.HostIPAddress); ok {
			out = append(out, a)
		}
	}
	return out
}

// ParseAddr reads an address, an IPv4 one also from its IPv6 form.
func ParseAddr(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(text)
	return a.Unmap(), err == nil
}
