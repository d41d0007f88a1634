package installer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/coreos/ignition/v2/config/v3_5/types"
)

// applyUnits writes systemd units and their drop-ins and enables, disables or masks them.
func (i *Installer) applyUnits(ctx context.Context, units []types.Unit) error {
	var enable, disable, mask []string
	for _, u := range units {
		if err := i.writeUnit(u); err != nil {
			return fmt.Errorf("write unit %s: %w", u.Name, err)
		}
		switch {
		case u.Mask != nil && *u.Mask:
			mask = append(mask, u.Name)
		case u.Enabled != nil && *u.Enabled:
			enable = append(enable, u.Name)
		case u.Enabled != nil:
			disable = append(disable, u.Name)
		}
	}
	if err := i.command(ctx, "systemctl", "daemon-reload"); err != nil {
		return fmt.Errorf("load the units: %w", err)
	}
	for _, change := range [][]string{
		append([]string{"enable"}, enable...), append([]string{"disable"}, disable...), append([]string{"mask"}, mask...),
	} {
		if len(change) == 1 {
			continue
		}
		if err := i.command(ctx, append([]string{"systemctl"}, change...)...); err != nil {
			return fmt.Errorf("%s units: %w", change[0], err)
		}
	}
	return nil
}

func (i *Installer) writeUnit(u types.Unit) error {
	place := path.Join(unitDir, u.Name)
	if u.Mask != nil && *u.Mask {
		// systemctl mask refuses to replace a file.
		if err := os.Remove(i.Root.Path(place)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if u.Contents != nil {
		if err := i.writeFile(place, []byte(*u.Contents), defaultFileMode); err != nil {
			return err
		}
	}
	for _, d := range u.Dropins {
		if d.Contents == nil {
			continue
		}
		if err := i.writeFile(path.Join(place+".d", d.Name), []byte(*d.Contents), defaultFileMode); err != nil {
			return err
		}
	}
	return nil
}
