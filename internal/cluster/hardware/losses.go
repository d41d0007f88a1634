package hardware

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// DiskSpeedExempt reports whether the speed check of a host's installation disk is omitted: the check writes to
// the disk, and data that a host boots from or has to keep must survive (docs/reference/step-rules.md, "Disks
// that are not measured").
func DiskSpeedExempt(h *model.Host) bool {
	if h.Inventory != nil && h.Inventory.Boot.DeviceType == wire.Persistent {
		return true
	}
	return model.SavesPartitions(h.InstallerArgs)
}

// keptDrives are never formatted without a request: other machines may use them.
var keptDrives = []wire.DriveType{
	wire.DriveTypeFC, wire.DriveTypeISCSI, wire.DriveTypeMultipath, wire.DriveTypeRAID, wire.DriveTypeLVM,
}

// DisksToFormat lists the disks whose boot sector is cleared before the installation, so that the host does not boot an older system
// from them: the bootable disks that the user does not keep. An installation disk that keeps partitions, or whose system runs, is not
// among them, nor are the disks it is built on: their first sector is its own.
func DisksToFormat(h *model.Host) []*wire.Disk {
	if h.Inventory == nil {
		return nil
	}
	keeps := keptWithInstallation(h)
	var out []*wire.Disk
	for i := range h.Inventory.Disks {
		d := &h.Inventory.Disks[i]
		if keeps[d] || !d.Bootable || d.Removable || d.IsInstallationMedia || slices.Contains(keptDrives, d.DriveType) {
			continue
		}
		kept := slices.ContainsFunc(h.SkipFormattingDisks, func(ref string) bool { return FindDisk(h.Inventory, ref) == d })
		if !kept {
			out = append(out, d)
		}
	}
	return out
}

// keptWithInstallation lists the disks whose partition table is kept with the installation disk; none when that is
// overwritten as a whole.
func keptWithInstallation(h *model.Host) map[*wire.Disk]bool {
	disk := InstallationDisk(h)
	if disk == nil || !DiskSpeedExempt(h) {
		return nil
	}
	return beneath(h.Inventory, disk)
}

// beneath returns a disk and the disks it is built on, in any number of layers, with every other path to one of them.
func beneath(inv *wire.Inventory, disk *wire.Disk) map[*wire.Disk]bool {
	all := map[*wire.Disk]bool{disk: true}
	for grown := true; grown; {
		grown = false
		for i := range inv.Disks {
			d := &inv.Disks[i]
			if all[d] {
				continue
			}
			for over := range all {
				if over.Name != "" && slices.Contains(Holders(d), over.Name) || SameUnit(d, over) {
					all[d], grown = true, true
				}
			}
		}
	}
	return all
}

// Losses says what the installation of a host destroys, disk by disk; an empty list while its installation
// disk is not known (docs/reference/validation-rules.md, "What an installation destroys").
func Losses(h *model.Host) []string {
	disk := InstallationDisk(h)
	if disk == nil {
		return nil
	}
	lost := []string{shownLoss(disk, lossOfInstallationDisk(h))}
	under := beneath(h.Inventory, disk)
	formatted := DisksToFormat(h)
	for i := range h.Inventory.Disks {
		d := &h.Inventory.Disks[i]
		switch {
		case under[d] && d != disk:
			lost = append(lost, shownLoss(d, "the same: "+shownPath(disk)+" is built on it"))
		case d == disk:
		case slices.Contains(formatted, d):
			lost = append(lost, shownLoss(d, "its partition table: it is bootable and not in disks_skip_formatting"))
		case !DiskSpeedExempt(h) && sharesVolumes(d, disk):
			lost = append(lost, shownLoss(d, "the volumes that it has in common with "+shownPath(disk)))
		}
	}
	return lost
}

func lossOfInstallationDisk(h *model.Host) string {
	if h.Inventory.Boot.DeviceType == wire.Persistent {
		return "nothing: the system is installed beside the running one"
	}
	labels, indexes := model.SavedPartitions(h.InstallerArgs)
	var kept []string
	if len(labels) > 0 {
		kept = append(kept, "labelled "+strings.Join(labels, " or "))
	}
	if len(indexes) > 0 {
		kept = append(kept, "numbered "+strings.Join(indexes, " or "))
	}
	if len(kept) == 0 {
		return "everything"
	}
	return fmt.Sprintf("everything but partitions %s", strings.Join(kept, " and those "))
}

// sharesVolumes reports whether something is built on both disks, such as a group of volumes: it is removed whole.
func sharesVolumes(a, b *wire.Disk) bool {
	return slices.ContainsFunc(Holders(a), func(holder string) bool { return slices.Contains(Holders(b), holder) })
}

func shownLoss(d *wire.Disk, loss string) string { return fmt.Sprintf("%s (%s)", shownPath(d), loss) }

// shownPath returns the device of a disk, as its user knows it.
func shownPath(d *wire.Disk) string {
	return cmp.Or(d.Path, named(d))
}
