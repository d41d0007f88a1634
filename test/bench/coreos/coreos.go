package coreos

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// Label is the volume id of the live image, in a form that image services know.
const Label = "rhcos-bench-1"

// consoleArguments make the boot of an emulated machine quick and seen on its serial line.
const consoleArguments = "console=ttyS0 mitigations=off quiet loglevel=3 systemd.show_status=false"

// Artifacts are the files of the bench's system.
type Artifacts struct {
	LiveISO   string // boots from CD and USB stick, with BIOS and UEFI
	Kernel    string
	Initramfs string // without Ignition config; of live images, and of disks
	RootTree  string // tar, packed with zstd: what disks are made of
	Ignition  string // the program
	NMState   bool   // hosts can apply NMState themselves
}

// Options say how to build.
type Options struct {
	// Mirror of Debian; empty for the usual one.
	Mirror string
	// Nmstatectl is the program that hosts apply NMState with, which Debian does not have;
	// empty for hosts without.
	Nmstatectl string
}

// Dir is where the artifacts of a user are kept; cache is that of all his programs.
func Dir(cache string) string { return filepath.Join(cache, "slipway", "bench", "coreos") }

// Build makes what is missing and returns all artifacts.
func Build(ctx context.Context, c Cache, o Options) (Artifacts, error) {
	var made Artifacts
	steps, err := plan(ctx, o)
	if err != nil {
		return made, err
	}
	for _, one := range []struct {
		step Step
		file string
		path *string
	}{
		{steps.iso, "live.iso", &made.LiveISO},
		{steps.kernel, "vmlinuz", &made.Kernel},
		{steps.initramfs, "initrd.img", &made.Initramfs},
		{steps.root, "root.tar.zst", &made.RootTree},
		{steps.ignition, "ignition", &made.Ignition},
	} {
		dir, err := c.Make(ctx, one.step)
		if err != nil {
			return made, err
		}
		*one.path = filepath.Join(dir, one.file)
	}
	made.NMState = o.Nmstatectl != ""
	list, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return made, err
	}
	path, err := listPath(c.Dir)
	if err != nil {
		return made, err
	}
	return made, renameio.WriteFile(path, append(list, '\n'), 0o644)
}

// Find returns the artifacts that Build made last from the scripts as they are now,
// whatever versions of packages there are by now. It is fs.ErrNotExist without any.
func Find(dir string) (Artifacts, error) {
	var made Artifacts
	path, err := listPath(dir)
	if err != nil {
		return made, err
	}
	list, err := os.ReadFile(path)
	if err != nil {
		return made, err
	}
	if err := json.Unmarshal(list, &made); err != nil {
		return made, fmt.Errorf("read %s: %w", path, err)
	}
	for _, path := range []string{made.LiveISO, made.Kernel, made.Initramfs, made.RootTree, made.Ignition} {
		if _, err := os.Stat(path); err != nil {
			return made, err
		}
	}
	return made, nil
}

// listPath is the file with the artifacts' paths, by the key of the scripts alone.
func listPath(dir string) (string, error) {
	key, err := Step{Name: "artifacts", Script: ".", Settings: fixed}.Key()
	return filepath.Join(dir, key+".json"), err
}

// fixed are the settings that are not versions of something.
var fixed = map[string]string{"LABEL": Label, "ARGUMENTS": consoleArguments}

type steps struct{ ignition, kernel, root, rootfs, initramfs, iso Step }

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
	names, err := lines("packages")
	if err != nil {
		return s, err
	}
	versions, err := candidates(ctx, names)
	if err != nil {
		return s, err
	}
	nmstatectl, err := digest(o.Nmstatectl)
	if err != nil {
		return s, err
	}
	s.ignition = Step{Name: "ignition", Script: "ignition.sh", Settings: map[string]string{"SOURCE": ignition.Dir, "VERSION": ignition.Version}}
	s.kernel = Step{Name: "kernel", Script: "kernel.sh", Settings: map[string]string{"PACKAGE": newest.Name, "VERSION": newest.Version}}
	s.root = Step{
		Name: "root", Script: "root.sh", Files: []string{"root", "root-hook.sh"},
		Settings: map[string]string{
			"SUITE": suite, "MIRROR": o.Mirror, "PACKAGES": strings.Join(names, ","), "VERSIONS": versions,
			"NMSTATECTL": o.Nmstatectl, "NMSTATECTL_DIGEST": nmstatectl,
		},
		Needs: map[string]Step{"KERNEL": s.kernel},
	}
	s.rootfs = Step{Name: "rootfs", Script: "rootfs.sh", Needs: map[string]Step{"ROOT": s.root}}
	s.initramfs = Step{
		Name: "initramfs", Script: "initramfs.sh", Files: []string{"initramfs"},
		Needs: map[string]Step{"IGNITION": s.ignition, "KERNEL": s.kernel, "ROOT": s.root},
	}
	s.iso = Step{
		Name: "iso", Script: "iso.sh", Files: []string{"iso"}, Settings: fixed,
		Needs: map[string]Step{"KERNEL": s.kernel, "INITRAMFS": s.initramfs, "ROOTFS": s.rootfs},
	}
	return s, nil
}

// digest tells one content of a file from another; that of no file is empty.
func digest(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	content, err := os.ReadFile(path) //nolint:gosec // named by the caller
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}
