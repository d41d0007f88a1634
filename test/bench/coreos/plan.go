package coreos

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"strings"
)

// installerCrate is the version of the crate coreos-installer that live systems have.
const installerCrate = "0.26.0"

// fixed are the settings that are not versions of something.
var fixed = map[string]string{"LABEL": Label, "ARGUMENTS": consoleArguments}

type steps struct{ ignition, installer, kernel, root, rootfs, initramfs, metal, iso Step }

// plan finds out the versions of all that is used.
func plan(ctx context.Context, o Options) (steps, error) {
	var s steps
	if err := requireSuite(); err != nil {
		return s, err
	}
	ignition, err := ignitionModule(ctx)
	if err != nil {
		return s, err
	}
	newest, err := kernel(ctx)
	if err != nil {
		return s, err
	}
	s.ignition = Step{
		Name:     "ignition",
		Script:   "ignition.sh",
		Settings: map[string]string{"SOURCE": ignition.Dir, "VERSION": ignition.Version},
	}
	s.installer = Step{Name: "installer", Script: "installer.sh", Settings: map[string]string{"VERSION": installerCrate}}
	s.kernel = Step{Name: "kernel", Script: "kernel.sh", Settings: map[string]string{"PACKAGE": newest.Name, "VERSION": newest.Version}}
	if s.root, err = s.planRoot(ctx, o); err != nil {
		return s, err
	}
	s.rootfs = Step{Name: "rootfs", Script: "rootfs.sh", Needs: map[string]Step{"ROOT": s.root}}
	s.initramfs = Step{
		Name: "initramfs", Script: "initramfs.sh", Files: []string{"initramfs"},
		Needs: map[string]Step{"IGNITION": s.ignition, "KERNEL": s.kernel, "ROOT": s.root},
	}
	booted := map[string]Step{"KERNEL": s.kernel, "INITRAMFS": s.initramfs, "ROOT": s.root}
	s.metal = Step{Name: "metal", Script: "metal.sh", Files: []string{"metal"}, Settings: fixed, Needs: booted}
	s.iso = Step{Name: "iso", Script: "iso.sh", Files: []string{"iso"}, Settings: fixed, Needs: maps.Clone(booted)}
	delete(s.iso.Needs, "ROOT")
	s.iso.Needs["ROOTFS"], s.iso.Needs["METAL"] = s.rootfs, s.metal
	return s, nil
}

// planRoot makes the tree, with the programs that Debian does not have.
func (s steps) planRoot(ctx context.Context, o Options) (Step, error) {
	names, err := lines("packages")
	if err != nil {
		return Step{}, err
	}
	versions, err := candidates(ctx, names)
	if err != nil {
		return Step{}, err
	}
	nmstatectl, err := digest(o.Nmstatectl)
	if err != nil {
		return Step{}, err
	}
	root := Step{
		Name: "root", Script: "root.sh", Files: []string{"root", "root-hook.sh"},
		Settings: map[string]string{
			"SUITE": suite, "MIRROR": o.Mirror, "PACKAGES": strings.Join(names, ","), "VERSIONS": versions,
			"NMSTATECTL": o.Nmstatectl, "NMSTATECTL_DIGEST": nmstatectl,
		},
		Needs: map[string]Step{"KERNEL": s.kernel},
	}
	if o.Installer {
		root.Needs["INSTALLER"] = s.installer
	}
	return root, nil
}

// digest identifies one content of a file; it is empty without a file.
func digest(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	content, err := os.ReadFile(path) //nolint:gosec // named by the caller
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}
