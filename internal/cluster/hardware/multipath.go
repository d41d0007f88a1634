package hardware

import (
	"path"
	"slices"
	"strings"

	"slipway/internal/wire"
)

// Paths lists the disks a multipath device is built on, and the paths that it lost.
func Paths(inv *wire.Inventory, device *wire.Disk) []*wire.Disk {
	var out []*wire.Disk
	for i := range inv.Disks {
		if isPath(&inv.Disks[i], device) {
			out = append(out, &inv.Disks[i])
		}
	}
	return out
}

// HasPath reports whether a disk is a path of a multipath device: the device holds it exclusively, or it is a path that failed.
func HasPath(inv *wire.Inventory, d *wire.Disk) bool {
	return slices.ContainsFunc(inv.Disks, func(m wire.Disk) bool { return isPath(d, &m) })
}

// Holders lists the devices built on a disk.
func Holders(d *wire.Disk) []string {
	var out []string
	for name := range strings.SplitSeq(d.Holders, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// isPath reports whether a device holds a disk, or is the same unit: multipathd does not hold a path that failed before it was added.
func isPath(d, device *wire.Disk) bool {
	if device.DriveType != wire.DriveTypeMultipath || d.DriveType == wire.DriveTypeMultipath {
		return false
	}
	return slices.Contains(Holders(d), device.Name) || SameUnit(d, device)
}

// SameUnit reports whether two devices reach one disk: name and size are the same. Cheap disks share names.
func SameUnit(a, b *wire.Disk) bool {
	if a.SizeBytes != b.SizeBytes || a.SizeBytes == 0 || notUnits(a) || notUnits(b) {
		return false
	}
	names := unitNames(b)
	return slices.ContainsFunc(unitNames(a), func(name string) bool { return slices.Contains(names, name) })
}

// notUnits reports whether a device is made of other devices: it has their name or none.
func notUnits(d *wire.Disk) bool {
	return d.DriveType == wire.DriveTypeLVM || d.DriveType == wire.DriveTypeRAID
}

// unitNames lists the World Wide Names of a disk: its own, and the name in its persistent id.
func unitNames(d *wire.Disk) []string {
	var out []string
	for _, text := range []string{d.Wwn, path.Base(d.ByID)} {
		if name := unitName(text); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// prefixes are before the names in links of udev, UUIDs of device mapper and files of the kernel, the longer ones first.
var prefixes = []string{"wwn-", "scsi-3", "dm-uuid-mpath-3", "dm-uuid-mpath-", "mpath-3", "mpath-", "nvme-eui.", "nvme-uuid.", "naa."}

// unitName returns a World Wide Name without the prefixes of udev, multipath and the kernel; empty for other texts.
func unitName(text string) string {
	text = strings.ToLower(text)
	for _, prefix := range prefixes {
		if rest, found := strings.CutPrefix(text, prefix); found {
			text = rest
			break
		}
	}
	for _, prefix := range []string{"0x", "eui.", "uuid."} {
		text = strings.TrimPrefix(text, prefix)
	}
	if strings.HasPrefix(text, "nvme.") { // the kernel makes it of vendor, serial, model and namespace
		return text
	}
	digits := strings.ReplaceAll(text, "-", "")
	switch {
	case len(digits) < 16 || strings.Trim(digits, "0123456789abcdef") != "" || strings.Trim(digits, "0") == "":
		return ""
	case len(digits) == 16 && digits[0] == '6':
		return "" // half of a name of 16 bytes: all units of an array share it
	}
	return digits
}
