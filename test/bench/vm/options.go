package vm

import (
	"cmp"
	"fmt"
	"time"
)

// Firmware that a machine starts with.
type Firmware string

// Medium that a machine boots from.
type Medium string

// What machines start with and from.
const (
	BIOS Firmware = "BIOS"
	UEFI Firmware = "UEFI"

	CD      Medium = "CD"
	USB     Medium = "USB"
	Network Medium = "network"
)

// Boot is which of disk and image a machine tries first.
type Boot string

// What machines try first. They continue with the other one where nothing can be booted.
const (
	ImageFirst Boot = "image first"
	DiskFirst  Boot = "disk first"
	// FirmwareOrder leaves it to the list that UEFI keeps, which efibootmgr(8) changes. With
	// BIOS that is the disk.
	FirmwareOrder Boot = "as the firmware's list says"
)

// The addresses of QEMU's network for users.
const (
	HostAddress = "10.0.2.2"     // this machine's loopback interface
	DHCPAddress = "10.0.2.15/24" // what every machine gets by DHCP
)

// Options describe a machine. Dir, Number and one of Image and BootFile are required.
type Options struct {
	Number   int    // 1 to 99: distinguishes machines, by MAC address, UUID and serial number
	Dir      string // for its serial log, and the variables of its firmware
	Firmware Firmware
	Medium   Medium
	Image    string // of CD and USB
	BootFile string // of Network: address of a script for iPXE, 127 characters at most
	Now      func() time.Time

	MemoryMiB int // 2048 if it is 0
	CPUs      int // one if it is 0
	// Disk is the file of a disk, /dev/vda with the serial number disk-NN, which is made with
	// DiskGiB where it is missing. A machine with a disk may reboot; one without is switched
	// off instead.
	Disk    string
	DiskGiB int
	Boot    Boot // ImageFirst if it is empty
	// Tap is where the machine's network interface is plugged in; the zero value is QEMU's
	// network for users.
	Tap Tap
}

// Tap is an interface of the kind tap. It is there before the machine is switched on.
type Tap struct {
	Namespace string // as ip(8) knows it: QEMU runs in it
	Interface string
	MAC       string // of the machine; empty: made of its number
}

// ID returns a machine's UUID in its firmware, by which the service knows its host.
func ID(number int) string { return fmt.Sprintf("5117aa00-be9c-4000-8000-%012d", number) }

// MAC returns the address of a machine's network interface.
func MAC(number int) string { return fmt.Sprintf("52:54:00:be:9c:%02d", number) }

func (o Options) mac() string { return cmp.Or(o.Tap.MAC, MAC(o.Number)) }
