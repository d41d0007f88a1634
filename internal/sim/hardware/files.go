package hardware

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// dmi writes the firmware's description of the machine.
func (s *Spec) dmi(files map[string]string) {
	const dir = "/sys/class/dmi/id/"
	for name, value := range map[string]string{
		"sys_vendor": s.Vendor, "product_name": s.Product, "product_version": "1.0", "product_serial": s.Serial,
		"product_uuid": s.UUID.String(), "product_family": "", "product_sku": "",
		"board_vendor": s.Vendor, "board_name": "SIM-BOARD", "board_version": "A00", "board_serial": s.Serial, "board_asset_tag": "",
		"chassis_vendor": s.Vendor, "chassis_type": "23", "chassis_version": "", "chassis_serial": s.Serial, "chassis_asset_tag": s.AssetTag,
		"bios_vendor": "Slipway", "bios_version": "1.0.0", "bios_date": "01/01/2026",
	} {
		files[dir+name] = value + "\n"
	}
}

const cpuFlags = "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht syscall nx " +
	"rdtscp lm constant_tsc nopl pni pclmulqdq vmx ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c rdrand avx2 bmi1 bmi2"

func (s *Spec) cpus(files map[string]string) {
	const dir = "/sys/devices/system/cpu/"
	var info strings.Builder
	for n := range s.CPUs {
		fmt.Fprintf(&info, "processor\t: %d\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\nmodel name\t: %s\n"+
			"cpu MHz\t\t: 2000.000\ncache size\t: 49152 KB\nphysical id\t: 0\nsiblings\t: %d\ncore id\t\t: %d\ncpu cores\t: %d\n"+
			"flags\t\t: %s\nbogomips\t: 4000.00\n\n", n, s.CPUModel, s.CPUs, n, s.CPUs, cpuFlags)
		cpu := fmt.Sprintf("%scpu%d/", dir, n)
		files[cpu+"online"] = "1\n"
		files[cpu+"topology/physical_package_id"] = "0\n"
		files[cpu+"topology/core_id"] = fmt.Sprintf("%d\n", n)
		files[cpu+"cpufreq/cpuinfo_max_freq"] = "3200000\n"
	}
	files["/proc/cpuinfo"] = info.String()
	span := fmt.Sprintf("0-%d\n", s.CPUs-1)
	files[dir+"online"], files[dir+"present"], files[dir+"possible"] = span, span, span
}

// lastTable ends the tables of the firmware (DMTF DSP0134, section 7.45).
const lastTable = "\x7f\x04\xff\xfe\x00\x00"

// memoryModule makes the firmware's table of a memory module (DMTF DSP0134, section 7.18, as of version 2.7) in a place with a name.
func memoryModule(place string, mebibytes int) string {
	const (
		kind, length                  = 17, 34
		extendedFrom                  = 0x7fff // sizes from here on have a field of their own, in MiB too
		totalWidth, dataWidth         = 72, 64
		inDIMM, inDDR4                = 9, 26
		noError, synchronous          = 0xfffe, 1 << 7
		speed, array, firstOfItsTexts = 3200, 0x1000, 1
	)
	table := make([]byte, length)
	table[0], table[1], table[14], table[16], table[18] = kind, length, inDIMM, firstOfItsTexts, inDDR4
	for offset, value := range map[int]uint16{
		2: 0x1100, 4: array, 6: noError, 8: totalWidth, 10: dataWidth, 12: uint16(min(mebibytes, extendedFrom)), 19: synchronous,
		21: speed, 32: speed,
	} {
		binary.LittleEndian.PutUint16(table[offset:], value)
	}
	if mebibytes >= extendedFrom {
		binary.LittleEndian.PutUint32(table[28:], uint32(mebibytes))
	}
	return string(table) + place + "\x00\x00"
}

// memoryBlockMiB is the size of the blocks the kernel of a large machine uses.
const memoryBlockMiB = 2048

func (s *Spec) memory(files map[string]string) {
	const dir = "/sys/devices/system/memory/"
	usable := s.MemoryMiB * 1024 * 985 / 1000 // the kernel keeps some for itself
	files["/proc/meminfo"] = fmt.Sprintf(
		"MemTotal:       %d kB\nMemFree:        %d kB\nMemAvailable:   %d kB\nBuffers:               0 kB\n"+
			"HugePages_Total:       0\nHugePages_Free:        0\nHugePages_Rsvd:        0\nHugePages_Surp:        0\n"+
			"Hugepagesize:       2048 kB\nHugetlb:               0 kB\n",
		usable,
		usable*9/10,
		usable*9/10,
	)
	files["/sys/firmware/dmi/tables/DMI"] = memoryModule("A1", int(s.MemoryMiB/2)) + memoryModule("A2", int(s.MemoryMiB/2)) + lastTable
	files[dir+"block_size_bytes"] = fmt.Sprintf("%x\n", memoryBlockMiB<<20)
	for n := range s.MemoryMiB / memoryBlockMiB {
		block := fmt.Sprintf("%smemory%d/", dir, n)
		files[block+"online"], files[block+"state"] = "1\n", "online\n"
	}
}

func (s *Spec) disks(files map[string]string) {
	for _, d := range s.Disks {
		dir := "/sys/block/" + d.Name + "/"
		rotational := "0\n"
		if d.Rotational {
			rotational = "1\n"
		}
		number := fmt.Sprintf("8:%d", 16*d.port())
		for name, value := range map[string]string{
			"size": fmt.Sprintf("%d\n", d.SizeGB*1e9/512), "removable": "0\n", "ro": "0\n", "hidden": "0\n", "dev": number + "\n",
			"queue/rotational": rotational, "queue/physical_block_size": "4096\n", "queue/logical_block_size": "512\n",
			"device/vpd_pg83": "\x00\x83\x00\x0c\x01\x03\x00\x08" + d.WWN[len(d.WWN)-8:], // SPC-4, "Device Identification VPD page"
			"device/vendor":   d.Vendor + "\n", "device/model": d.Model + "\n", "device/type": "0\n", "device/state": "running\n",
		} {
			files[dir+name] = value
		}
		files["/run/udev/data/b"+number] = d.udev()
	}
}

// udev returns the entry of the disk in udev's database.
func (d Disk) udev() string {
	lines := []string{"I:1000000"}
	for _, link := range d.links() {
		lines = append(lines, "S:"+strings.TrimPrefix(link, "/dev/"))
	}
	for _, p := range [][2]string{
		{"ID_ATA", "1"},
		{"ID_TYPE", "disk"},
		{"ID_BUS", "ata"},
		{"ID_MODEL", d.Model},
		{"ID_VENDOR", d.Vendor},
		{"ID_SERIAL", d.Model + "_" + d.Serial},
		{"ID_SERIAL_SHORT", d.Serial},
		{"ID_WWN", d.WWN},
		{"ID_WWN_WITH_EXTENSION", d.WWN},
		{"ID_PATH", d.busPath()},
	} {
		lines = append(lines, "E:"+p[0]+"="+p[1])
	}
	return strings.Join(lines, "\n") + "\n"
}

func (s *Spec) nics(files map[string]string) {
	for n, nic := range s.NICs {
		dir := "/sys/class/net/" + nic.Name + "/"
		for name, value := range map[string]string{
			"address": nic.MAC, "mtu": fmt.Sprint(nic.MTU), "carrier": "1", "operstate": "up", "type": "1", "addr_assign_type": "0",
			"speed": fmt.Sprint(nic.SpeedMbps), "duplex": "full", "ifindex": fmt.Sprint(n + 2),
			"device/vendor": "0x8086", "device/device": "0x1572",
		} {
			files[dir+name] = value + "\n"
		}
	}
}

// system writes what is not hardware: the files of a running Linux.
func (s *Spec) system(files map[string]string, bootID string) {
	files["/proc/cmdline"] = "BOOT_IMAGE=/images/pxeboot/vmlinuz ignition.firstboot ignition.platform.id=metal coreos.liveiso=rhcos-sim\n"
	files["/proc/sys/kernel/random/boot_id"] = bootID + "\n"
	files["/proc/sys/kernel/hostname"] = s.Hostname + "\n"
	if s.Architecture != "" {
		files["/proc/sys/kernel/arch"] = s.Architecture + "\n"
	}
	files["/proc/sys/kernel/osrelease"] = "5.14.0-570.el9.x86_64\n"
	mounts := "proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0\nsysfs /sys sysfs ro,nosuid,nodev,noexec 0 0\n" +
		"/dev/loop1 /sysroot squashfs ro,relatime 0 0\n" + // a live image: a reboot forgets it
		"tmpfs / tmpfs rw,relatime 0 0\ntmpfs /run tmpfs rw,nosuid,nodev 0 0\n"
	files["/proc/self/mounts"], files["/proc/mounts"], files["/etc/mtab"] = mounts, mounts, mounts
	files["/etc/hostname"] = s.Hostname + "\n"
	files["/etc/os-release"] = "NAME=\"Red Hat Enterprise Linux CoreOS\"\nID=\"rhcos\"\nVERSION_ID=\"4.20\"\n"
	files["/root/.docker/config.json"] = "{\"auths\":{}}\n"
}
