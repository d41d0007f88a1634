package installer

import (
	"context"
	"fmt"
	"path"
)

// The units that lay the image of a node over the live system
// (docs/reference/installer.md, "Image of a node").
const (
	nodeImagePull    = "node-image-pull.service"
	nodeImageOverlay = "node-image-overlay.service"
	ocBinary         = "/usr/bin/oc"
)

// overlayNodeImage adds the tools of a node to live images that lack them: the bootstrap services need them. It
// waits until they are available, one of the units failed, or ctx ends.
func (i *Installer) overlayNodeImage(ctx context.Context) error {
	if i.exists(ocBinary) || !i.exists(path.Join(unitDir, nodeImageOverlay)) {
		return nil
	}
	if err := i.command(ctx, "systemctl", "start", "--no-block", nodeImagePull, nodeImageOverlay); err != nil {
		return fmt.Errorf("start %s: %w", nodeImageOverlay, err)
	}
	for !i.unitIs(ctx, nodeImageOverlay, unitActive) {
		// Neither is started again by systemd: the first failure is the last.
		if err := i.failedUnit(ctx, nodeImagePull, nodeImageOverlay); err != nil {
			return err
		}
		if err := i.Sleep(ctx, pollPause); err != nil {
			return fmt.Errorf("wait for %s: %w", nodeImageOverlay, err)
		}
	}
	return nil
}
