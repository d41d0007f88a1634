// Package setup puts the service on this machine where no package does, and takes it away again.
package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"slipway/internal/app/process"
	"slipway/internal/app/settings"
)

// Below is where the files of the service are.
type Below struct {
	Prefix string `type:"path" default:"/usr/local" help:"Folder whose bin, lib and share get the files." placeholder:"FOLDER"`
}

// InstallCommand installs the service, or replaces an older one.
type InstallCommand struct{ Below }

// Help says what is written.
func (*InstallCommand) Help() string {
	return `Does what the packages do, for systems without them: copies this program and the programs of hosts beside it, makes the user
slipway, the units of systemd and /etc/slipway/slipway.yaml, and prints the next steps. A service that runs is restarted with the new
program; its installations continue. Settings and data of before stay. PostgreSQL has to be installed, unless --database-url names a
server.`
}

// Run writes files and runs what the packages run.
func (c *InstallCommand) Run(ctx context.Context, p *process.Process) error {
	if err := c.refuse(); err != nil {
		return fmt.Errorf("install the service: %w", err)
	}
	if err := c.install(ctx, p); err != nil {
		return fmt.Errorf("install the service: %w", err)
	}
	return nil
}

func (c *InstallCommand) install(ctx context.Context, p *process.Process) error {
	l := layout{c.Prefix}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	folder, err := settings.ProgramFolder("")
	if err != nil {
		return err
	}
	own := "slipway-agent-" + runtime.GOARCH
	if _, err := os.Stat(filepath.Join(folder, own)); err != nil {
		return fmt.Errorf("require %s beside this program, found none in %s", own, folder)
	}
	files, err := l.files(ctx, self, folder)
	if err != nil {
		return err
	}
	_, err = os.Stat(l.unit())
	before := err == nil
	if err := c.write(l, files); err != nil {
		return err
	}
	args := []string{"configure"}
	if before {
		args = append(args, "before")
	}
	return l.script(ctx, p, "postinstall", args...)
}

// write writes files, and removes programs of hosts that this version does not have.
func (c *InstallCommand) write(l layout, files []file) error {
	old := hostPrograms(l.library())
	for _, f := range files {
		if err := f.write(); err != nil {
			return err
		}
		old = slices.DeleteFunc(old, func(path string) bool { return path == f.path })
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// foreign lists the places of a unit that a package or a person has put there. The first ones win over the unit of this command.
var foreign = []string{
	"/etc/systemd/system/slipway.service", "/usr/lib/systemd/system/slipway.service", "/lib/systemd/system/slipway.service",
}

// refuse returns an error where this machine cannot or should not have the service.
func (b Below) refuse() error {
	if os.Geteuid() != 0 {
		return errors.New("require root")
	}
	for _, program := range []string{"systemctl", "systemd-sysusers"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("require systemd: %w", err)
		}
	}
	for _, path := range foreign {
		if _, err := os.Lstat(path); err == nil && path != (layout{b.Prefix}).unit() {
			return fmt.Errorf("%s is there already: upgrade or remove the package, or the unit of yours, that has it", path)
		}
	}
	return nil
}

// RemoveCommand removes what InstallCommand has installed.
type RemoveCommand struct {
	Below
	Purge bool `help:"Remove the settings, /etc/slipway, too."`
}

// Help says what stays.
func (*RemoveCommand) Help() string {
	return "Stops the service. /var/lib/slipway with clusters, keys and images stays, with its user slipway."
}

// Run stops the service and removes files.
func (c *RemoveCommand) Run(ctx context.Context, p *process.Process) error {
	if err := c.remove(ctx, p); err != nil {
		return fmt.Errorf("remove the service: %w", err)
	}
	return nil
}

func (c *RemoveCommand) remove(ctx context.Context, p *process.Process) error {
	if err := c.refuse(); err != nil {
		return err
	}
	l := layout{c.Prefix}
	if _, err := os.Stat(l.unit()); err != nil {
		return fmt.Errorf("require a service that slipway install-service has installed: %w", err)
	}
	if err := l.script(ctx, p, "preremove", "remove"); err != nil {
		return err
	}
	if err := l.remove(); err != nil {
		return err
	}
	how := "remove"
	if c.Purge {
		how = "purge"
	}
	return l.script(ctx, p, "postremove", how)
}

// script runs a script of the packages.
func (l layout) script(ctx context.Context, p *process.Process, name string, args ...string) error {
	text, err := l.text(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-s", "--"}, args...)...) //nolint:gosec // of this program
	cmd.Stdin = bytes.NewReader(text)
	cmd.Stdout, cmd.Stderr = p.Stdout, p.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
