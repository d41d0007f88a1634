package installer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// singleNode says that the host of the request is all of its cluster.
func singleNode(req *wire.InstallCmdRequest) bool { return req.ControlPlaneCount == 1 }

// bootstrapHost says that the host carries the bootstrap services.
func bootstrapHost(req *wire.InstallCmdRequest) bool {
	return string(req.Role) == string(model.RoleBootstrap) || singleNode(req)
}

// finalRole returns the host's role in its cluster: a bootstrap host becomes a master.
func finalRole(req *wire.InstallCmdRequest) model.Role {
	if bootstrapHost(req) {
		return model.RoleMaster
	}
	return model.Role(req.Role)
}

// CheckRequest returns an error unless the devices of a request are on this host. Every path must begin with
// /dev/ and exist (docs/reference/agent-protocol.md, "Install request on the host").
func (i *Installer) CheckRequest(req *wire.InstallCmdRequest) error {
	for _, path := range append([]string{req.BootDevice}, req.DisksToFormat...) {
		if !strings.HasPrefix(path, "/dev/") || filepath.Clean(path) != path {
			return fmt.Errorf("require a device below /dev, found %q", path)
		}
		if _, err := os.Stat(i.Root.Path(path)); err != nil {
			return fmt.Errorf("look for device %s: %w", path, err)
		}
	}
	_, err := installerArgs(req)
	return err
}

// awaitDevices repeats CheckRequest after the disks were cleaned: udev removes the links of a device for a moment when it changes.
func (i *Installer) awaitDevices(ctx context.Context, req *wire.InstallCmdRequest) error {
	var final error
	err := i.until(ctx, lateDevice, func() error {
		err := i.CheckRequest(req)
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
		final = err
		return nil
	})
	return errors.Join(final, err)
}

// installerArgs reads the arguments a user gave to coreos-installer: a JSON list of strings.
func installerArgs(req *wire.InstallCmdRequest) ([]string, error) {
	if req.InstallerArgs == "" {
		return nil, nil
	}
	var args []string
	if err := json.Unmarshal([]byte(req.InstallerArgs), &args); err != nil {
		return nil, fmt.Errorf("read the installer arguments %q: %w", req.InstallerArgs, err)
	}
	return args, nil
}

// device returns the boot device with its links followed: /dev/disk/by-id/x is /dev/sda.
func (i *Installer) device(req *wire.InstallCmdRequest) (string, error) {
	real, err := filepath.EvalSymlinks(i.Root.Path(req.BootDevice))
	if err != nil {
		return "", fmt.Errorf("look for device %s: %w", req.BootDevice, err)
	}
	root, err := filepath.EvalSymlinks(i.Root.Path("/"))
	if err != nil {
		return "", fmt.Errorf("look for the root of the host: %w", err)
	}
	path := "/" + strings.TrimPrefix(strings.TrimPrefix(real, root), "/")
	if strings.HasPrefix(path, "/dev/dm-") {
		return req.BootDevice, nil // tools know device mapper devices by their names
	}
	return path, nil
}
