// Package coreos builds the system that the bench's machines boot: Debian packages, the
// real Ignition, udev and NetworkManager, in the shape of CoreOS's live image. Each part is
// made by a script of the folder system and kept outside the repository, by a key of all
// that it is made of.
package coreos

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

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
	RootTree  string // tar, packed with zstd: what live images and disks are made of
	Metal     string // disk image that boots with BIOS and UEFI, packed with zstd
	Ignition  string // the program
	Installer string // coreos-installer, which live systems have; empty without
	NMState   bool   // hosts can apply NMState themselves
}

// Options say how to build.
type Options struct {
	// Mirror of Debian; empty for the usual one.
	Mirror string
	// Nmstatectl is the program that hosts apply NMState with, which Debian does not have;
	// empty for hosts without.
	Nmstatectl string
	// Installer says that cargo is there, to build the coreos-installer of live systems.
	Installer bool
}

// Dir returns the folder with the artifacts of a user; cache is shared by all his programs.
func Dir(cache string) string { return filepath.Join(cache, "slipway", "bench", "coreos") }

// artifact is a file that a step leaves, and where to say which it is.
type artifact struct {
	step Step
	file string
	path *string
}

// Build makes what is missing and returns all artifacts.
func Build(ctx context.Context, c Cache, o Options) (Artifacts, error) {
	var made Artifacts
	steps, err := plan(ctx, o)
	if err != nil {
		return made, err
	}
	wanted := []artifact{
		{steps.iso, "live.iso", &made.LiveISO},
		{steps.kernel, "vmlinuz", &made.Kernel},
		{steps.initramfs, "initrd.img", &made.Initramfs},
		{steps.root, "root.tar.zst", &made.RootTree},
		{steps.metal, "metal.raw.zst", &made.Metal},
		{steps.ignition, "ignition", &made.Ignition},
	}
	if o.Installer {
		wanted = append(wanted, artifact{steps.installer, "coreos-installer", &made.Installer})
	}
	for _, one := range wanted {
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
	files := []string{made.LiveISO, made.Kernel, made.Initramfs, made.RootTree, made.Metal, made.Ignition}
	if made.Installer != "" {
		files = append(files, made.Installer)
	}
	for _, path := range files {
		if _, err := os.Stat(path); err != nil {
			return made, err
		}
	}
	return made, nil
}

// listPath returns the file with the artifacts' paths, by the key of the scripts alone.
func listPath(dir string) (string, error) {
	key, err := Step{Name: "artifacts", Script: ".", Settings: fixed}.Key()
	return filepath.Join(dir, key+".json"), err
}
