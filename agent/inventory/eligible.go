package inventory

import (
	"fmt"
	"strings"

	"github.com/jaypipes/ghw/pkg/block"

	"slipway/internal/wire"
)

// mediaMount is where a live image mounts the medium it came from.
const mediaMount = "/run/media/iso"

// judge says whether the machine itself stands against installing on a disk; the service
// adds its own rules (contract/validations.md).
func (m Machine) judge(disk *wire.Disk, found *block.Disk, mounts []mount) {
	var reasons []string
	if disk.DriveType == wire.DriveTypeUnknown {
		reasons = append(reasons, "Disk has unknown storage controller")
	}
	if disk.DriveType == wire.DriveTypeLVM {
		reasons = append(reasons, "Disk is an LVM logical volume")
	}
	if disk.DriveType == wire.DriveTypeISCSI && disk.Iscsi.HostIPAddress == "" {
		reasons = append(reasons, "Host IP address of the iSCSI session is not known")
	}
	for _, mount := range mounts {
		name, ours := partOf(found, disk.Path, mount.source)
		if !ours {
			continue
		}
		if mount.target == mediaMount || strings.HasPrefix(mount.target, mediaMount+"/") {
			disk.IsInstallationMedia = true
			reasons = append(reasons, fmt.Sprintf("Disk appears to be an ISO installation media (%s)", name))
			continue
		}
		reasons = append(reasons, fmt.Sprintf("Disk has partition '%s' mounted on '%s'", name, mount.target))
	}
	disk.InstallationEligibility.Eligible = len(reasons) == 0
	disk.InstallationEligibility.NotEligibleReasons = reasons
}

// partOf names the disk or its partition that a mount comes from. Names are compared
// whole: sda1 is no part of sda10.
func partOf(found *block.Disk, path, source string) (string, bool) {
	if source == path || source == "/dev/"+found.Name {
		return found.Name, true
	}
	for _, p := range found.Partitions {
		if source == "/dev/"+p.Name {
			return p.Name, true
		}
	}
	return "", false
}
