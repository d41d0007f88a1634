package installer

import (
	"context"
	"runtime"

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
func (i *Installer) SetBootOrder(ctx context.Context, req *wire.InstallCmdRequest) {
	if req.CoreosImage != "" {
		return
	}
	device, err := i.device(req)
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
		loader := loaderPath(i.vendorFolder(ctx, part, shim), shim)
		err = i.command(ctx, "efibootmgr", "-c", "-d", device, "-p", efiPartition, "-L", efiLabel, "-l", loader)
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
	text, err := i.output(ctx, "efibootmgr", "-v")
	if err != nil {
		return // creating the entry will say why
	}
	for _, entry := range ParseBootEntries(text) {
		if entry.Label != efiLabel || !ofCoreOS(entry.Loader, shim) || entry.PartitionNumber != efiPartition {
			continue
		}
		if entry.Partition != mine.id && !i.partitionGone(entry.Partition, mine.id) {
			continue
		}
		if err := i.command(ctx, "efibootmgr", "-q", "-b", entry.Number, "-B"); err != nil {
			i.Log.Warn("boot entry of an earlier installation not removed", "entry", entry.Number, "error", err)
		}
	}
}

// partitionGone reports that no disk has the partition. The links of udev are conclusive only when they include
// the partition of the disk just written.
func (i *Installer) partitionGone(id, mine string) bool {
	const links = "/dev/disk/by-partuuid/"
	return mine != "" && i.exists(links+mine) && !i.exists(links+id)
}
