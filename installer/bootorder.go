package installer

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

const (
	// efiPartition is the number of the EFI system partition on a CoreOS disk.
	efiPartition = "2"
	// efiPartitionType is the GPT type of that partition.
	efiPartitionType = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
	efiLabel         = "Red Hat Enterprise Linux"
)

// shims are the loaders that firmware starts on a CoreOS disk, by architecture.
var shims = map[string]string{"amd64": "shimx64.efi", "arm64": "shimaa64.efi"}

// SetBootOrder makes the firmware start from the boot device next. If that fails, the order of the firmware
// stays, and the service detects a host that started from the wrong device. An image beside the running system
// needs no entry: the firmware started the host from that disk, possibly through an entry of its first system.
//
// With /sys/firmware/efi:
//
//	(the link of DEVICE is waited for, 20 s at most; each call of efibootmgr that fails is repeated, every 2 s for 6 s)
//	lsblk --noheadings --raw --output PARTTYPE,PARTUUID,PATH DEVICE   every 2 s, until it lists the EFI system partition, for 20 s
//	efibootmgr -v; [efibootmgr -q -b NUMBER -B]   entries of earlier installations
//	mount -o ro PARTITION /run/slipway/efi; umount /run/slipway/efi   in which folder is the loader? mount: every 2 s for 20 s
//	efibootmgr -c -d DEVICE -p 2 -L "Red Hat Enterprise Linux" -l \EFI\redhat\shimx64.efi   shimaa64.efi on arm64
//
// On ppc64le:
//
//	bootlist -m normal -o DEVICE
func (i *Installer) SetBootOrder(ctx context.Context, req *wire.InstallCmdRequest) {
	if req.CoreosImage != "" {
		return
	}
	err := i.awaitDevices(ctx, req)
	device := ""
	if err == nil {
		device, err = i.device(req)
	}
	if err != nil {
		i.Log.Warn("boot order not set", "error", err)
		return
	}
	shim, efi := shims[runtime.GOARCH]
	switch {
	case runtime.GOARCH == "ppc64le":
		err = i.command(ctx, "bootlist", "-m", "normal", "-o", device)
	case efi && i.exists("/sys/firmware/efi"):
		part := i.efiPartition(ctx, device)
		i.removeStaleEntries(ctx, part, shim)
		loader := i.bootLoader(ctx, part, shim)
		_, err = i.efibootmgr(ctx, "-c", "-d", device, "-p", efiPartition, "-L", efiLabel, "-l", loader)
	default:
		return // BIOS and s390x choose by themselves
	}
	if err != nil {
		i.Log.Warn("boot order not set", "error", err)
	}
}

// removeStaleEntries removes the firmware's entries of earlier installations of the boot device: each made an
// entry, the room for them is small, and some firmware starts the oldest. Entries of other existing disks stay,
// and so do all that CoreOS cannot have made: a disk behind a path that is down still exists.
func (i *Installer) removeStaleEntries(ctx context.Context, mine partition, shim string) {
	text, err := i.efibootmgr(ctx, "-v")
	if err != nil {
		return // creating the entry will say why
	}
	entries := slices.DeleteFunc(ParseBootEntries(text), func(e BootEntry) bool {
		return e.Label != efiLabel || !ofCoreOS(e.Loader, shim) || e.PartitionNumber != efiPartition
	})
	i.awaitLink(ctx, entries, mine)
	for _, entry := range entries {
		if entry.Partition != mine.id && !i.partitionGone(entry.Partition, mine.id) {
			continue
		}
		if _, err := i.efibootmgr(ctx, "-q", "-b", entry.Number, "-B"); err != nil {
			i.Log.Warn("boot entry of an earlier installation not removed", "entry", entry.Number, "error", err)
		}
	}
}

// efibootmgr runs the program, again while the firmware refuses: some firmware is busy after a change.
func (i *Installer) efibootmgr(ctx context.Context, args ...string) (text string, err error) {
	var missing error
	err = i.until(ctx, lateFirmware, func() (err error) {
		if text, err = i.output(ctx, append([]string{"efibootmgr"}, args...)...); hostexec.Missing(err) {
			missing, err = err, nil
		}
		return err
	})
	return text, errors.Join(missing, err)
}

// links are how udev names partitions by their GPT ids.
const links = "/dev/disk/by-partuuid/"

// awaitLink waits for udev to name the partition of the disk just written, if an entry is of another one that has no link.
func (i *Installer) awaitLink(ctx context.Context, entries []BootEntry, mine partition) {
	missing := slices.ContainsFunc(entries, func(e BootEntry) bool { return e.Partition != mine.id && !i.exists(links+e.Partition) })
	if mine.id == "" || !missing {
		return
	}
	err := i.until(ctx, lateDevice, func() error {
		if i.exists(links + mine.id) {
			return nil
		}
		return fmt.Errorf("udev has not created %s", links+mine.id)
	})
	if err != nil {
		i.Log.Warn("boot entries of partitions that may be gone are kept", "error", err)
	}
}

// partitionGone reports that no disk has the partition. The links of udev are conclusive only when they include
// the partition of the disk just written.
func (i *Installer) partitionGone(id, mine string) bool {
	return mine != "" && i.exists(links+mine) && !i.exists(links+id)
}
