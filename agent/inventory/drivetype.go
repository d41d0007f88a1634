package inventory

import (
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

// dasdTypes are the disks of s390x by the discipline of their driver.
var dasdTypes = map[string]wire.DriveType{"ECKD": wire.DriveTypeECKD, "FBA": wire.DriveTypeFBA}

func isMapper(name string) bool { return strings.HasPrefix(name, "dm-") }
func isRAID(name string) bool   { return strings.HasPrefix(name, "md") }
func isDASD(name string) bool   { return strings.HasPrefix(name, "dasd") }

// driveType says how a disk is attached where that matters, else of what kind it is.
func (m Machine) driveType(found *block.Disk) wire.DriveType {
	switch {
	case isMapper(found.Name):
		return m.mapperType(found.Name)
	case isRAID(found.Name):
		return wire.DriveTypeRAID
	case isDASD(found.Name):
		return m.dasdType(found.Name)
	}
	device := m.deviceFolder(found.Name)
	switch {
	case m.overISCSI(found.Name):
		return wire.DriveTypeISCSI
	case strings.Contains(device, "/rport-"):
		return wire.DriveTypeFC
	}
	if kind, listed := ghwTypes[found.DriveType]; listed {
		return kind
	}
	return wire.DriveTypeUnknown
}

// mapperType recognizes by their UUIDs the device mapper devices that can carry a system.
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

// dasdType distinguishes the disks of s390x; ESE disks take space as it is used.
func (m Machine) dasdType(name string) wire.DriveType {
	device := "/sys/block/" + name + "/device"
	kind, listed := dasdTypes[m.text(device+"/discipline")]
	switch {
	case !listed:
		return wire.DriveTypeUnknown
	case kind == wire.DriveTypeECKD && m.text(device+"/ese") == "1":
		return wire.DriveTypeECKDESE
	}
	return kind
}

// deviceFolder returns the folder where the kernel hangs the device of a disk, below the root: the
// root's own path may hold any word.
func (m Machine) deviceFolder(name string) string {
	place, err := filepath.EvalSymlinks(m.Root.Path("/sys/block/" + name + "/device"))
	if err != nil {
		return ""
	}
	root, err := filepath.EvalSymlinks(m.Root.Path("/"))
	if err != nil {
		return ""
	}
	return "/" + strings.TrimPrefix(strings.TrimPrefix(place, root), "/")
}
