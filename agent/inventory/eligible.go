package inventory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jaypipes/ghw/pkg/block"

	"slipway/internal/wire"
)

// Why the machine itself stands against installing on a disk
// (docs/reference/agent-protocol.md, "Reasons against a disk").
const (
	reasonController = "Disk has unknown storage controller"
	reasonVolume     = "Disk is an LVM logical volume"
	reasonISOType    = "Disk appears to be an ISO installation media (has partition with type iso9660)"
	reasonISOMount   = "Disk appears to be an ISO installation media (has partition with mountpoint suffix iso)"
	reasonMounted    = "Disk has partition '%s' mounted on '%s'"
	reasonISCSI      = "Host IP address of the iSCSI session is not known"

	reasonState    = "Require a disk that is running, found "
	reasonReadOnly = "Require a disk that can be written, found it read-only"

	reasonISCSIState   = "Require an iSCSI disk that is running, found "
	reasonISCSISession = "Require an iSCSI session that is logged in, found "
	reasonISCSITable   = "The firmware has no table of iSCSI targets"
	reasonISCSITarget  = "Require an iSCSI target that the firmware boots from, found "
	reasonISCSIPaths   = "A host can boot from none of the iSCSI paths "
)

const iso9660 = "iso9660"

// evaluate says whether the machine itself stands against installing on a disk; the service
// adds its own rules (docs/reference/validation-rules.md, "Disk eligibility"). Old
// volumes and RAID sets on a disk do not: the installation clears them.
func (m Machine) evaluate(disk *wire.Disk, found *block.Disk, mounted map[string]mount) {
	reasons := slices.Concat(attached(disk, found), m.writable(disk), m.reached(disk))
	contents, medium := m.contents(found, mounted)
	reasons = append(reasons, contents...)
	disk.IsInstallationMedia = medium || disk.DriveType == wire.DriveTypeODD
	disk.InstallationEligibility.Eligible = len(reasons) == 0
	disk.InstallationEligibility.NotEligibleReasons = reasons
}

// attached lists the reasons that lie in the kind of the disk. The kernel's removable flag is not one: bays with SATA hot-plug have it
// (openshift/assisted-installer-agent PR 716).
func attached(disk *wire.Disk, found *block.Disk) []string {
	var reasons []string
	if disk.DriveType == wire.DriveTypeUnknown || plain(found.Name) && found.StorageController == block.StorageControllerUnknown {
		reasons = append(reasons, reasonController)
	}
	if disk.DriveType == wire.DriveTypeLVM {
		reasons = append(reasons, reasonVolume)
	}
	if disk.DriveType == wire.DriveTypeISCSI && disk.Iscsi.HostIPAddress == "" {
		reasons = append(reasons, reasonISCSI)
	}
	return reasons
}

// runningStates are the states of disks that can be written: of SCSI (drivers/scsi/scsi_sysfs.c) and of a controller of NVMe. Disks of
// other drivers have no state.
var runningStates = []string{"", "running", "live"}

// writable lists the reasons that lie in the present state of a disk. An array is read-only until it is written to, and a drive for
// discs in any case.
func (m Machine) writable(disk *wire.Disk) []string {
	var reasons []string
	state := m.text("/sys/block/" + disk.Name + "/device/state")
	if disk.DriveType != wire.DriveTypeISCSI && !slices.Contains(runningStates, state) {
		reasons = append(reasons, reasonState+state)
	}
	readOnly := m.text("/sys/block/"+disk.Name+"/ro") == "1"
	if readOnly && disk.DriveType != wire.DriveTypeRAID && disk.DriveType != wire.DriveTypeODD {
		reasons = append(reasons, reasonReadOnly)
	}
	return reasons
}

// reached lists the reasons that lie in the network a disk is reached over.
func (m Machine) reached(disk *wire.Disk) []string {
	switch disk.DriveType {
	case wire.DriveTypeISCSI:
		return m.bootableOverISCSI(disk.Name)
	case wire.DriveTypeMultipath:
		return m.unusablePaths(disk.Name)
	}
	return nil
}

// plain says that a disk hangs at a controller, not at a driver that makes disks of other disks.
func plain(name string) bool { return !isMapper(name) && !isRAID(name) && !isDASD(name) }

// contents lists the reasons that lie in what is on the disk or its partitions; medium says that
// the live image came from it.
func (m Machine) contents(found *block.Disk, mounted map[string]mount) (reasons []string, medium bool) {
	sys := "/sys/block/" + found.Name
	names, places := []string{found.Name}, []string{sys}
	for _, p := range found.Partitions {
		names, places = append(names, p.Name), append(places, sys+"/"+p.Name)
	}
	for n, name := range names {
		use, inUse := m.mountedFrom(places[n], name, mounted)
		var found []string
		if m.fileSystem(places[n]) == iso9660 || inUse && use.kind == iso9660 {
			found = append(found, reasonISOType)
		}
		if inUse && strings.HasSuffix(use.target, "iso") {
			found = append(found, reasonISOMount)
		}
		medium = medium || len(found) > 0
		if inUse && !medium {
			found = append(found, fmt.Sprintf(reasonMounted, name, use.target))
		}
		for _, reason := range found {
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	return reasons, medium
}
