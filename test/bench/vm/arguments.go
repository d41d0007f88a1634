package vm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Files of the Debian package ovmf.
const (
	FirmwareCode      = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	FirmwareVariables = "/usr/share/OVMF/OVMF_VARS_4M.fd"
)

// command returns QEMU with its arguments, in the network namespace of the machine.
func (o Options) command() ([]string, error) {
	boot, err := o.boot()
	if err != nil {
		return nil, err
	}
	// Room for a second processor makes QEMU emulate locked instructions as such even where
	// there is one: without them its devices see the memory of the machine out of order, and
	// after some hours of machines one waits for an interrupt indefinitely.
	processors := cmp.Or(o.CPUs, 1)
	words := []string{
		"qemu-system-x86_64", "-accel", "tcg,tb-size=256,thread=multi", "-M", "pc", "-cpu", "qemu64",
		"-smp", fmt.Sprintf("%d,maxcpus=%d", processors, max(processors, 2)), "-m", strconv.Itoa(cmp.Or(o.MemoryMiB, 2048)),
		"-nodefaults", "-display", "none", "-serial", "stdio", "-device", "virtio-rng-pci",
		"-uuid", ID(o.Number),
		"-smbios", fmt.Sprintf("type=1,manufacturer=Slipway,product=bench,serial=bench-%02d", o.Number),
	}
	if o.Firmware == UEFI {
		words = append(
			words,
			"-drive",
			"if=pflash,format=raw,readonly=on,file="+FirmwareCode,
			"-drive",
			"if=pflash,format=raw,file="+o.variables(),
		)
	}
	words = append(append(words, o.disk()...), boot...)
	if o.Tap.Namespace != "" {
		words = append([]string{"ip", "netns", "exec", o.Tap.Namespace}, words...)
	}
	return words, nil
}

// disk returns the arguments for the disk. Blocks of zeros that a machine writes are holes of the file; a
// machine whose power is cut loses what it has not handed to its disk, and nothing else.
func (o Options) disk() []string {
	if o.Disk == "" {
		return []string{"-no-reboot"}
	}
	return []string{
		"-drive", "if=none,id=disk,format=raw,cache=unsafe,discard=unmap,detect-zeroes=unmap,file=" + o.Disk,
		"-device", fmt.Sprintf("virtio-blk-pci,drive=disk,serial=disk-%02d%s", o.Number, o.index(DiskFirst)),
	}
}

// boot returns the arguments for the medium that the machine boots from, and for its network.
func (o Options) boot() ([]string, error) {
	var words []string
	network := "user,id=net"
	if o.Tap.Interface != "" {
		network = "tap,id=net,script=no,downscript=no,ifname=" + o.Tap.Interface
	}
	nic := "virtio-net-pci,netdev=net,mac=" + o.mac()
	drive := "if=none,id=image,format=raw,readonly=on,file=" + o.Image
	switch o.Medium {
	case CD:
		words = append(words, "-drive", drive+",media=cdrom", "-device", "ide-cd,drive=image"+o.index(ImageFirst))
		nic += ",romfile="
	case USB:
		words = append(words, "-drive", drive, "-device", "qemu-xhci", "-device", "usb-storage,drive=image"+o.index(ImageFirst))
		nic += ",romfile="
	case Network:
		// libslirp keeps what DHCP calls the boot file in a field of 128 bytes.
		if len(o.BootFile) > 127 {
			return nil, fmt.Errorf("require a boot file of at most 127 characters, found %q", o.BootFile)
		}
		network += ",bootfile=" + strings.ReplaceAll(o.BootFile, ",", ",,")
		nic += o.index(ImageFirst)
	default:
		return nil, fmt.Errorf("require a medium to boot from, found %q", o.Medium)
	}
	return append(words, "-netdev", network, "-device", nic), nil
}

// index returns the boot index of a device that comes first in a kind of order. QEMU's
// list goes before the firmware's own.
func (o Options) index(first Boot) string {
	switch cmp.Or(o.Boot, ImageFirst) {
	case FirmwareOrder:
		return ""
	case first:
		return ",bootindex=1"
	default:
		return ",bootindex=2"
	}
}

// prepare makes the files that a machine keeps from one time to the next.
func (o Options) prepare() error {
	if o.Firmware == UEFI {
		if err := unlessThere(o.variables(), func(path string) error { return copyFile(path, FirmwareVariables) }); err != nil {
			return err
		}
	}
	if o.Disk == "" {
		return nil
	}
	return unlessThere(o.Disk, func(path string) error {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, int64(o.DiskGiB)<<30)
	})
}

// variables returns the file with the variables of the firmware.
func (o Options) variables() string { return filepath.Join(o.Dir, "firmware.fd") }

// unlessThere makes a file that is missing.
func unlessThere(path string, make func(string) error) error {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return make(path)
	}
	return err
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
