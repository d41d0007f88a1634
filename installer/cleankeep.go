package installer

import (
	"context"
	"path/filepath"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// keepsDisk reports whether what is on the boot device is kept, and why.
func keepsDisk(req *wire.InstallCmdRequest) (why string, keeps bool) {
	args, err := installerArgs(req)
	switch {
	case err == nil && model.SavesPartitions(args):
		return "partitions of it are kept", true
	case req.SkipInstallationDiskCleanup:
		return "cleanup was switched off", true
	}
	return "", false
}

// apart returns the disks that are formatted although the boot device is kept: neither that, by whatever name it goes,
// nor a disk that it is built on, whose first sector is its own. A disk that cannot be looked at may be one of them.
func (i *Installer) apart(ctx context.Context, boot string, disks []string, report *CleanReport) []string {
	var out []string
	for _, disk := range disks {
		tree, err := i.blocks(ctx, disk)
		switch {
		case i.same(disk, boot):
			report.Skipped = append(report.Skipped, disk+" is not formatted: what is on the installation disk is kept")
		case err != nil:
			report.warn("did not format %s, which may carry the installation disk: %s", disk, err)
		case i.carries(tree, boot):
			report.Skipped = append(report.Skipped, disk+" is not formatted: it carries the installation disk, and what is on that is kept")
		default:
			out = append(out, disk)
		}
	}
	return out
}

// carries reports whether a device is anywhere in a tree of block devices.
func (i *Installer) carries(tree Block, device string) bool {
	if i.same(tree.Name, device) || i.same(tree.Kernel, device) {
		return true
	}
	for _, child := range tree.Children {
		if i.carries(child, device) {
			return true
		}
	}
	return false
}

// same reports whether two paths lead to one device.
func (i *Installer) same(a, b string) bool {
	return a == b || i.followed(a) == i.followed(b)
}

// followed returns a path with its links followed, or the path itself when it leads nowhere.
func (i *Installer) followed(path string) string {
	real, err := filepath.EvalSymlinks(i.Root.Path(path))
	if err != nil {
		return path
	}
	return real
}
