package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// vendors are the usual folders of the loader on the EFI system partition, the most usual one first: RHEL CoreOS has redhat, CentOS
// Stream CoreOS and some RHEL CoreOS have centos (openshift/assisted-installer, src/ops/ops.go).
var vendors = []string{"redhat", "centos"}

// efiMount is where the EFI system partition of the written disk is mounted for a look.
const efiMount = "/run/slipway/efi"

// removableLoaders names the files that firmware starts on a disk without an entry, in folder BOOT (UEFI specification, 3.5.1.1).
var removableLoaders = map[string]string{"amd64": "BOOTX64.EFI", "arm64": "BOOTAA64.EFI"}

// partition is a partition of a disk that was just written; both are empty when it was not found.
type partition struct{ id, path string }

// efiPartition finds the EFI system partition of a disk, which the kernel may show seconds after it was written.
func (i *Installer) efiPartition(ctx context.Context, device string) (found partition) {
	err := i.until(ctx, lateDevice, func() error {
		text, err := i.output(ctx, "lsblk", "--noheadings", "--raw", "--output", "PARTTYPE,PARTUUID,PATH", device)
		if err != nil {
			return err
		}
		for line := range strings.Lines(text) {
			if fields := strings.Fields(line); len(fields) == 3 && strings.EqualFold(fields[0], efiPartitionType) {
				found = partition{strings.ToLower(fields[1]), fields[2]}
				return nil
			}
		}
		return fmt.Errorf("no EFI system partition on %s", device)
	})
	if err != nil {
		i.Log.Warn("EFI system partition not found", "error", err)
	}
	return found
}

// bootLoader returns the path of the loader on the partition, as firmware has it; the usual one when that cannot be read.
func (i *Installer) bootLoader(ctx context.Context, part partition, shim string) string {
	usual := loaderPath(vendors[0], shim)
	if part.path == "" {
		return usual
	}
	if err := i.mountEFI(ctx, part); err != nil {
		i.Log.Warn("EFI system partition not read", "partition", part.path, "error", err)
		return usual
	}
	defer func() {
		if err := i.command(context.WithoutCancel(ctx), "umount", efiMount); err != nil {
			i.Log.Warn("EFI system partition still mounted", "partition", part.path, "error", err)
		}
	}()
	loader := i.loaderOn(efiMount, shim)
	if loader == "" {
		i.Log.Warn("no loader on the EFI system partition", "partition", part.path)
	}
	return cmp.Or(loader, usual)
}

// mountEFI mounts the partition; its device may appear later than lsblk lists it.
func (i *Installer) mountEFI(ctx context.Context, part partition) error {
	if err := i.privateDir(efiMount); err != nil {
		return err
	}
	return i.until(ctx, lateDevice, func() error { return i.command(ctx, "mount", "-o", "ro", part.path, efiMount) })
}

// loaderOn finds the loader of a mounted EFI system partition: in a usual folder, else in the folder of any vendor, else the loader that
// firmware starts without an entry.
func (i *Installer) loaderOn(mount, shim string) string {
	for _, vendor := range slices.Concat(vendors, i.foldersOf(mount+"/EFI")) {
		if !strings.EqualFold(vendor, bootFolder) && i.exists(mount+"/EFI/"+vendor+"/"+shim) {
			return loaderPath(vendor, shim)
		}
	}
	removable := removableLoaders[runtime.GOARCH]
	if removable != "" && i.exists(mount+"/EFI/"+bootFolder+"/"+removable) {
		return loaderPath(bootFolder, removable)
	}
	return ""
}

// bootFolder is the folder of no vendor.
const bootFolder = "BOOT"

// foldersOf lists the names in a folder, sorted; none when it cannot be read.
func (i *Installer) foldersOf(path string) []string {
	entries, err := os.ReadDir(i.Root.Path(path))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		i.Log.Warn("folder not read", "path", path, "error", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// loaderPath returns the path of a loader as firmware has it.
func loaderPath(vendor, shim string) string { return `\EFI\` + vendor + `\` + shim }

// ofCoreOS reports whether the loader of a boot entry is one that SetBootOrder names: the shim in the folder of a vendor, or the
// loader without an entry.
func ofCoreOS(loader, shim string) bool {
	parts := strings.Split(loader, `\`)
	if len(parts) != 4 || parts[0] != "" || !strings.EqualFold(parts[1], "EFI") {
		return false
	}
	if strings.EqualFold(parts[2], bootFolder) {
		return strings.EqualFold(parts[3], removableLoaders[runtime.GOARCH])
	}
	return strings.EqualFold(parts[3], shim)
}
