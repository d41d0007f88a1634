package inventory

import (
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/jaypipes/ghw/pkg/block"

	"slipway/internal/wire"
)

// ghwTypes are the drive types of ghw.
var ghwTypes = map[block.DriveType]wire.DriveType{
	block.DriveTypeHDD: wire.DriveTypeHDD, block.DriveTypeSSD: wire.DriveTypeSSD, block.DriveTypeODD: wire.DriveTypeODD,
	block.DriveTypeFDD: wire.DriveTypeFDD, block.DriveTypeVirtual: wire.DriveTypeVirtual,
}

// driveType says how a disk is attached where that matters, else of what kind it is.
func (m Machine) driveType(found *block.Disk) wire.DriveType {
	switch {
	case strings.HasPrefix(found.Name, "dm-"):
		return m.mapperType(found.Name)
	case strings.HasPrefix(found.Name, "md"):
		return wire.DriveTypeRAID
	case strings.HasPrefix(found.Name, "dasd"):
		return m.dasdType(found.Name)
	}
	device := m.deviceFolder(found.Name)
	switch {
	case strings.Contains(device, "/session"):
		return wire.DriveTypeISCSI
	case strings.Contains(device, "/rport-"):
		return wire.DriveTypeFC
	}
	if kind, listed := ghwTypes[found.DriveType]; listed {
		return kind
	}
	return wire.DriveTypeUnknown
}

// mapperType tells by their UUIDs the device mapper devices that can carry a system.
func (m Machine) mapperType(name string) wire.DriveType {
	id := m.text("/sys/block/" + name + "/dm/uuid")
	switch {
	case strings.HasPrefix(id, "mpath-"):
		return wire.DriveTypeMultipath
	case strings.HasPrefix(id, "LVM-"):
		return wire.DriveTypeLVM
	}
	return wire.DriveTypeUnknown
}

// dasdType tells the disks of s390x apart.
func (m Machine) dasdType(name string) wire.DriveType {
	device := "/sys/block/" + name + "/device"
	switch {
	case m.text(device+"/discipline") == "FBA":
		return wire.DriveTypeFBA
	case m.text(device+"/ese") == "1":
		return wire.DriveTypeECKDESE
	}
	return wire.DriveTypeECKD
}

// deviceFolder is where the kernel hangs the device of a disk: /sys/devices/...
func (m Machine) deviceFolder(name string) string {
	place, err := filepath.EvalSymlinks(m.Root.Path("/sys/block/" + name + "/device"))
	if err != nil {
		return ""
	}
	return place
}

// iscsiAddress is the host's own address of the session that carries a disk:
// .../host2/session1/target2:0:0/2:0:0:0 has it at .../host2/iscsi_host/host2/ipaddress.
func (m Machine) iscsiAddress(name string) string {
	host, _, found := strings.Cut(m.deviceFolder(name), "/session")
	if !found {
		return ""
	}
	text := m.text("/sys/class/iscsi_host/" + filepath.Base(host) + "/ipaddress")
	if _, err := netip.ParseAddr(text); err != nil {
		return ""
	}
	return text
}
