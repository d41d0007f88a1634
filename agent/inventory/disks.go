package inventory

import (
	"context"
	"os"
	"strings"

	"github.com/jaypipes/ghw"
	"github.com/jaypipes/ghw/pkg/block"

	"slipway/internal/wire"
)

// skippedDisks are devices nobody installs on, by the beginning of their names.
var skippedDisks = []string{"loop", "zram", "ram", "nbd", "mtdblock"}

func readDisks(_ context.Context, m Machine, into *wire.Inventory) {
	info, err := ghw.Block(ghw.WithChroot(string(m.Root)), ghw.WithDisableWarnings())
	if err != nil {
		return
	}
	ids, paths, mounts := m.aliases("/dev/disk/by-id"), m.aliases("/dev/disk/by-path"), m.mounts()
	for _, found := range info.Disks {
		if m.skipDisk(found.Name) {
			continue
		}
		disk := m.disk(found)
		disk.ByID, disk.ByPath = preferredID(ids[found.Name]), first(paths[found.Name])
		disk.ID = first([]string{disk.ByID, disk.ByPath, disk.Path})
		m.judge(&disk, found, mounts)
		into.Disks = append(into.Disks, disk)
	}
}

func (m Machine) skipDisk(name string) bool {
	for _, prefix := range skippedDisks {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	if m.text("/sys/block/"+name+"/hidden") == "1" {
		return true
	}
	return strings.HasPrefix(name, "dm-") && m.mapperType(name) == wire.DriveTypeUnknown
}

func (m Machine) disk(found *block.Disk) wire.Disk {
	sys := "/sys/block/" + found.Name
	disk := wire.Disk{
		Name: found.Name, Path: m.devicePath(found.Name), SizeBytes: int(found.SizeBytes), Removable: found.IsRemovable,
		DriveType: m.driveType(found), Vendor: known(found.Vendor), Model: m.model(found),
		Serial: m.serial(found), Wwn: known(found.WWN),
		Bootable: m.bootable(found.Name), HasUUID: m.hasUUID(found.Name),
		Hctl: first(m.list(sys + "/device/scsi_device")), Holders: strings.Join(m.list(sys+"/holders"), ","),
	}
	if disk.DriveType == wire.DriveTypeISCSI {
		disk.Iscsi.HostIPAddress = m.iscsiAddress(found.Name)
	}
	return disk
}

// devicePath is the name people know a device by: device mapper has its own.
func (m Machine) devicePath(name string) string {
	if mapped := m.text("/sys/block/" + name + "/dm/name"); mapped != "" {
		return "/dev/mapper/" + mapped
	}
	return "/dev/" + strings.ReplaceAll(name, "!", "/")
}

// model and serial come from udev where it runs, else from the device itself.
func (m Machine) model(found *block.Disk) string {
	if model := known(found.Model); model != "" {
		return model
	}
	return m.text("/sys/block/" + found.Name + "/device/model")
}

func (m Machine) serial(found *block.Disk) string {
	if serial := known(found.SerialNumber); serial != "" {
		return serial
	}
	return first([]string{m.text("/sys/block/" + found.Name + "/serial"), m.text("/sys/block/" + found.Name + "/device/serial")})
}

// bootable says that the disk begins with a boot sector: it ends with 55 AA.
func (m Machine) bootable(name string) bool {
	file, err := os.Open(m.Root.Path(m.devicePath(name)))
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

// hasUUID says that the device tells a unique name of its own (SCSI VPD page 83, NVMe
// identifiers); hypervisors hide it unless configured otherwise.
func (m Machine) hasUUID(name string) bool {
	sys := "/sys/block/" + name
	return m.exists(sys+"/device/vpd_pg83") || m.text(sys+"/wwid") != "" || m.text(sys+"/dm/uuid") != ""
}

// aliases are the links in a folder of /dev/disk by the device they lead to.
func (m Machine) aliases(folder string) map[string][]string {
	all := map[string][]string{}
	for _, name := range m.list(folder) {
		if target := m.link(folder + "/" + name); target != "" {
			device := target[strings.LastIndex(target, "/")+1:]
			all[device] = append(all[device], folder+"/"+name)
		}
	}
	return all
}

// preferredID is the most lasting of the names of a disk: its world wide name.
func preferredID(names []string) string {
	for _, prefix := range []string{"wwn-", "nvme-eui.", "dm-uuid-mpath-", "scsi-"} {
		for _, name := range names {
			if strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], prefix) {
				return name
			}
		}
	}
	return first(names)
}

// first is the first text that says something.
func first(texts []string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// known drops what ghw says for lack of knowledge.
func known(text string) string {
	if text == "unknown" {
		return ""
	}
	return text
}
