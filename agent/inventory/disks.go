package inventory

import (
	"context"
	"math"
	"os"
	"regexp"
	"strings"

	"github.com/jaypipes/ghw"
	"github.com/jaypipes/ghw/pkg/block"

	"slipway/internal/wire"
)

// skippedDisks are devices that are never installed on, by the beginning of their names.
var skippedDisks = []string{"loop", "zram", "ram", "nbd", "mtdblock"}

// firmwareArea are the parts of an eMMC chip beside its data: boot code and a sealed store.
var firmwareArea = regexp.MustCompile(`^mmcblk\d+(boot\d+|rpmb)$`)

func readDisks(ctx context.Context, m Machine, into *wire.Inventory) error {
	if _, err := os.ReadDir(m.Root.Path("/sys/block")); err != nil { // ghw finds no disks then, and no error
		return err
	}
	info, err := ghw.Block(ghw.WithChroot(string(m.Root)), ghw.WithDisableWarnings())
	if err != nil {
		return err
	}
	ids, paths, mounted := m.aliases("/dev/disk/by-id"), m.aliases("/dev/disk/by-path"), m.mountedDevices()
	for _, found := range info.Disks {
		if m.skipDisk(found) {
			continue
		}
		disk := m.disk(found)
		disk.ByID, disk.ByPath = preferredID(ids[found.Name]), preferredPath(paths[found.Name], found.BusPath)
		disk.ID = first([]string{disk.ByID, disk.ByPath, disk.Path})
		m.evaluate(&disk, found, mounted)
		into.Disks = append(into.Disks, disk)
	}
	m.readSMART(ctx, into.Disks)
	return nil
}

func (m Machine) skipDisk(found *block.Disk) bool {
	for _, prefix := range skippedDisks {
		if strings.HasPrefix(found.Name, prefix) {
			return true
		}
	}
	switch {
	case firmwareArea.MatchString(found.Name):
		return true
	case m.text("/sys/block/"+found.Name+"/hidden") == "1":
		return true // one path of an NVMe device that the kernel joins itself
	case isRAID(found.Name):
		return found.SizeBytes == 0 // the container of a firmware RAID set, or one that is not assembled
	}
	return isMapper(found.Name) && m.mapperType(found.Name) == wire.DriveTypeUnknown
}

func (m Machine) disk(found *block.Disk) wire.Disk {
	sys := "/sys/block/" + found.Name
	disk := wire.Disk{
		Name: found.Name, Path: devicePath(found.Name), SizeBytes: size(found.SizeBytes), Removable: found.IsRemovable,
		DriveType: m.driveType(found), Vendor: known(found.Vendor), Model: m.model(found),
		Serial: m.serial(found), Wwn: m.worldWideName(found),
		Bootable: m.bootable(found.Name), HasUUID: m.hasUUID(found.Name),
		Hctl: first(m.list(sys + "/device/scsi_device")), Holders: strings.Join(m.list(sys+"/holders"), ","),
	}
	if disk.DriveType == wire.DriveTypeISCSI {
		disk.Iscsi.HostIPAddress = m.iscsiAddress(found.Name)
	}
	return disk
}

// size converts the size of a disk; 0 for a number that is no size of a disk.
func size(bytes uint64) int {
	if bytes > math.MaxInt64 {
		return 0
	}
	return int(bytes)
}

// devicePath returns the node of a device. Device mapper devices go by it too, /dev/dm-0: the
// service distinguishes them by it (docs/reference/agent-protocol.md, "Device mapper paths").
func devicePath(name string) string { return "/dev/" + strings.ReplaceAll(name, "!", "/") }

// model, serial and worldWideName come from udev where it runs, else from the device.
func (m Machine) model(found *block.Disk) string {
	if model := known(found.Model); model != "" {
		return model
	}
	device := "/sys/block/" + found.Name + "/device"
	return first([]string{m.text(device + "/model"), m.text(device + "/name")}) // eMMC has a name
}

func (m Machine) serial(found *block.Disk) string {
	if serial := known(found.SerialNumber); serial != "" {
		return serial
	}
	return first([]string{m.text("/sys/block/" + found.Name + "/serial"), m.text("/sys/block/" + found.Name + "/device/serial")})
}

func (m Machine) worldWideName(found *block.Disk) string {
	if wwn := known(found.WWN); wwn != "" {
		return wwn
	}
	return m.text("/sys/block/" + found.Name + "/wwid") // NVMe
}

// bootable says that the disk begins with a boot sector: it ends with 55 AA.
func (m Machine) bootable(name string) bool {
	file, err := os.Open(m.Root.Path(devicePath(name)))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	sector := make([]byte, 512)
	if n, err := file.ReadAt(sector, 0); err != nil || n != len(sector) {
		return false
	}
	return sector[510] == 0x55 && sector[511] == 0xAA
}

// hasUUID says that the device has a unique name of its own (SCSI VPD page 83, also
// through the paths of a multipath device; NVMe identifiers). Hypervisors hide it unless
// configured otherwise, and a logical volume has none to ask for.
func (m Machine) hasUUID(name string) bool {
	sys := "/sys/block/" + name
	return m.exists(sys+"/device/vpd_pg83") || m.text(sys+"/wwid") != "" || m.mapperType(name) == wire.DriveTypeMultipath
}
