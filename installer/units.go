package installer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5/types"
)

// unitDirs hold unit files; files of the first hide files of later ones (systemd.unit(5), "Unit File Load Path").
var unitDirs = []string{unitDir, "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// applyUnits writes systemd units and their drop-ins, masks them, and enables or disables them. As with Ignition's
// presets, a unit that does not exist or cannot be enabled does not stop the others: it is logged by its name.
func (i *Installer) applyUnits(ctx context.Context, units []types.Unit) error {
	var enable, disable, mask []string
	for _, u := range units {
		if err := i.writeUnit(u); err != nil {
			return fmt.Errorf("write unit %s: %w", u.Name, err)
		}
		switch {
		case u.Mask != nil && *u.Mask:
			mask = append(mask, u.Name)
		case u.Enabled == nil:
		case !i.hasUnit(u.Name):
			i.Log.Warn("unit is not on this host", "unit", u.Name, "enabled", *u.Enabled)
		case *u.Enabled:
			enable = append(enable, u.Name)
		default:
			disable = append(disable, u.Name)
		}
	}
	if err := i.command(ctx, "systemctl", "daemon-reload"); err != nil {
		return fmt.Errorf("load the units: %w", err)
	}
	if len(mask) > 0 {
		if err := i.command(ctx, append([]string{"systemctl", "mask"}, mask...)...); err != nil {
			return fmt.Errorf("mask units: %w", err)
		}
	}
	i.changeUnits(ctx, "enable", enable)
	i.changeUnits(ctx, "disable", disable)
	return ctx.Err()
}

// changeUnits enables or disables units in one command, or one by one where that fails: systemctl changes none then.
func (i *Installer) changeUnits(ctx context.Context, verb string, units []string) {
	if len(units) == 0 || i.command(ctx, append([]string{"systemctl", verb}, units...)...) == nil {
		return
	}
	for _, unit := range units {
		if err := i.command(ctx, "systemctl", verb, unit); err != nil {
			i.Log.Warn("unit not changed", "unit", unit, "command", verb, "error", err)
		}
	}
}

// hasUnit reports whether the host has a file of a unit, or the template of an instance, that is not masked.
func (i *Installer) hasUnit(name string) bool {
	names := []string{name}
	if at := strings.Index(name, "@"); at >= 0 {
		names = append(names, name[:at+1]+path.Ext(name))
	}
	for _, n := range names {
		for _, dir := range unitDirs {
			info, err := os.Lstat(i.Root.Path(path.Join(dir, n)))
			if err != nil {
				continue
			}
			if target, err := os.Readlink(i.Root.Path(path.Join(dir, n))); err == nil && target == os.DevNull {
				return false
			}
			return info.Size() > 0 // systemd takes an empty file for a mask
		}
	}
	return false
}

// writeUnit writes the parts of a unit that have contents. A unit with empty contents is the system's own.
func (i *Installer) writeUnit(u types.Unit) error {
	place := path.Join(unitDir, u.Name)
	if u.Mask != nil {
		if err := i.unmask(place, *u.Mask); err != nil {
			return err
		}
		if *u.Mask {
			return nil
		}
	}
	if u.Contents != nil && *u.Contents != "" {
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

// unmask removes the mask of a unit, and with all its file too: systemctl mask refuses to replace a file.
func (i *Installer) unmask(place string, all bool) error {
	target, _ := os.Readlink(i.Root.Path(place)) // empty: no link
	if masked := target == os.DevNull; masked == all {
		return nil
	}
	if err := os.Remove(i.Root.Path(place)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
