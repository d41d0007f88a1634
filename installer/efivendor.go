package installer

import (
	"context"
	"slices"
	"strings"
)

// vendors are the folders of the loader on the EFI system partition: that of RHEL CoreOS, and that of CentOS Stream
// CoreOS (openshift/assisted-installer, src/ops/ops.go). The first is the usual one.
var vendors = []string{"redhat", "centos"}

// efiMount is where the EFI system partition of the written disk is mounted for a look.
const efiMount = "/run/slipway/efi"

// partition is one of a disk that was just written; both are empty when it was not found.
type partition struct{ id, path string }

// efiPartition finds the EFI system partition of a disk.
func (i *Installer) efiPartition(ctx context.Context, device string) partition {
	text, err := i.output(ctx, "lsblk", "--noheadings", "--raw", "--output", "PARTTYPE,PARTUUID,PATH", device)
	if err != nil {
		return partition{}
	}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 3 && strings.EqualFold(fields[0], efiPartitionType) {
			return partition{strings.ToLower(fields[1]), fields[2]}
		}
	}
	return partition{}
}

// vendorFolder is the folder of the loader on the partition; the usual one when that cannot be read.
func (i *Installer) vendorFolder(ctx context.Context, part partition, shim string) string {
	if part.path == "" {
		return vendors[0]
	}
	if err := i.privateDir(efiMount); err != nil {
		i.Log.Warn("EFI system partition not read", "error", err)
		return vendors[0]
	}
	if err := i.command(ctx, "mount", "-o", "ro", part.path, efiMount); err != nil {
		i.Log.Warn("EFI system partition not read", "partition", part.path, "error", err)
		return vendors[0]
	}
	defer func() {
		if err := i.command(context.WithoutCancel(ctx), "umount", efiMount); err != nil {
			i.Log.Warn("EFI system partition still mounted", "partition", part.path, "error", err)
		}
	}()
	found := slices.IndexFunc(vendors, func(vendor string) bool { return i.exists(efiMount + "/EFI/" + vendor + "/" + shim) })
	return vendors[max(found, 0)]
}

// loaderPath is the path of a loader as firmware has it.
func loaderPath(vendor, shim string) string { return `\EFI\` + vendor + `\` + shim }

// ofCoreOS reports whether a boot entry's loader is one of CoreOS.
func ofCoreOS(loader, shim string) bool {
	return slices.ContainsFunc(vendors, func(vendor string) bool { return strings.EqualFold(loader, loaderPath(vendor, shim)) })
}
