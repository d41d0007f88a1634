package remaster

import (
	"errors"
	"fmt"
	"io"

	"slipway/internal/images/remaster/iso9660"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/model"
)

const (
	ramdiskPath    = "images/assisted_installer_custom.img"
	nmstatectlPath = "images/nmstate.img"

	// ramdiskRoom is the room of a minimal image for the ramdisk of an InfraEnv, in bytes
	// (docs/reference/images.md, "Minimal ISO").
	ramdiskRoom = 1 << 20
)

// MinimalOptions are the common parts of all minimal images of a base.
type MinimalOptions struct {
	RootfsURL  string // where machines fetch the root file system
	Nmstatectl []byte // the result of Nmstatectl, where hosts apply NMState themselves, or nil
}

// ramdisks lists the files that the initramfs gets in addition, in order.
func (o MinimalOptions) ramdisks() []string {
	if len(o.Nmstatectl) == 0 {
		return []string{ramdiskPath}
	}
	return []string{ramdiskPath, nmstatectlPath}
}

// changes lists the changes to files of the image that are not text.
func (o MinimalOptions) changes() []iso9660.Change {
	changes := []iso9660.Change{{Path: rootfsPath, Remove: true}, {Path: ramdiskPath, Content: make([]byte, ramdiskRoom)}}
	if len(o.Nmstatectl) > 0 {
		changes = append(changes, iso9660.Change{Path: nmstatectlPath, Content: o.Nmstatectl})
	}
	return changes
}

// Minimal is an ISO without the root file system.
type Minimal struct {
	image *Base
}

// Minimal makes the image, over the same file: the ISO's directory without the root file
// system, boot loaders' files with the address of it, and room for a ramdisk.
func (b *Base) Minimal(r io.ReaderAt, o MinimalOptions) (*Minimal, error) {
	if b.IsS390X() {
		return nil, model.Invalidf(
			"there is no minimal image for s390x, which boots from one file that holds its initramfs: use the full image, or boot over " +
				"the network",
		)
	}
	if _, ok := b.first(rootfsPath); !ok {
		return nil, model.Invalidf("a minimal image cannot be made of %s: %s is missing", b.Label(), rootfsPath)
	}
	if !rootfsURL.MatchString(o.RootfsURL) {
		return nil, model.Invalidf("require an HTTP or HTTPS address of the root file system that needs no quotes, found %q", o.RootfsURL)
	}
	image := b.whole.Reader(r)
	configs, err := b.minimalConfigs(image, configEdit{o.RootfsURL, o.ramdisks()})
	if err != nil {
		return nil, fmt.Errorf("make a minimal image of %s: %w", b.Label(), err)
	}
	made, err := b.volume.Remaster(image, append(o.changes(), configs...)...)
	if err != nil {
		return nil, fmt.Errorf("make a minimal image of %s: %w", b.Label(), err)
	}
	// Inspect it like any other image: its description of its areas must be true for other tools as well.
	minimal, err := inspect(r, made.Layout)
	if err != nil {
		return nil, fmt.Errorf("read the minimal image of %s: %w", b.Label(), err)
	}
	if (b.kargs.info == nil) != (minimal.kargs.info == nil) || len(b.kargs.areas) != len(minimal.kargs.areas) {
		return nil, fmt.Errorf(
			"read the minimal image of %s: require %d areas for kernel arguments, found %d",
			b.Label(),
			len(b.kargs.areas),
			len(minimal.kargs.areas),
		)
	}
	return &Minimal{image: minimal}, nil
}

// minimalConfigs edits the files of boot loaders, and the description of their areas.
func (b *Base) minimalConfigs(image io.ReaderAt, e configEdit) ([]iso9660.Change, error) {
	offsets := make([]int64, len(b.kargs.areas))
	var changes []iso9660.Change
	for _, path := range b.configs() {
		edited, err := b.minimalConfig(image, path, e, offsets)
		if err != nil {
			return nil, fmt.Errorf("edit %s: %w", path, err)
		}
		if edited != nil {
			changes = append(changes, iso9660.Change{Path: path, Content: edited})
		}
	}
	if len(changes) == 0 {
		return nil, fmt.Errorf("find the files of boot loaders: %w", errNoLines)
	}
	if b.kargs.info != nil {
		info, err := movedInfo(b.kargs.info, offsets)
		if err != nil {
			return nil, err
		}
		changes = append(changes, iso9660.Change{Path: kargsInfoPath, Content: info})
	}
	return changes, nil
}

// minimalConfig edits one file, and sets the new offsets of its areas. It is nil for one
// that has nothing to edit.
func (b *Base) minimalConfig(image io.ReaderAt, path string, e configEdit, offsets []int64) ([]byte, error) {
	content, err := b.text(image, path)
	if err != nil {
		return nil, err
	}
	var places []int
	var areas []kargsArea
	for i, a := range b.kargs.areas {
		if a.path == path && !a.appendOnly {
			places, areas = append(places, i), append(areas, a)
		}
	}
	edited, newOffsets, err := e.config(path, content, areas)
	if errors.Is(err, errNoLines) && len(areas) == 0 {
		return nil, nil // one that only includes another
	} else if err != nil {
		return nil, err
	}
	for i, place := range places {
		offsets[place] = newOffsets[i]
	}
	return edited, nil
}

// configs lists the files of boot loaders that the image has: the usual ones, and others with areas.
func (b *Base) configs() []string {
	paths := map[string]bool{}
	var out []string
	add := func(path string) {
		if f, ok := b.first(path); ok && !paths[f.Path] {
			paths[f.Path] = true
			out = append(out, f.Path)
		}
	}
	for _, p := range configPaths {
		add(p)
	}
	for _, a := range b.kargs.areas {
		add(a.path)
	}
	return out
}

// Size returns the length of the ISO in bytes.
func (m *Minimal) Size() int64 { return m.image.Size() }

// With returns the image of one InfraEnv. Nmstatectl is common to all of them: the parts' is ignored. A part
// that does not fit is a model.ErrConflict.
func (m *Minimal) With(p Parts) (*layout.Layout, error) {
	edits, err := m.image.embed(p)
	if err != nil {
		return nil, err
	}
	if len(p.Ramdisk) > ramdiskRoom {
		return nil, model.Conflictf(
			"network settings do not fit into the image: require at most %d bytes packed, found %d; describe fewer hosts, or use the "+
				"full image",
			ramdiskRoom,
			len(p.Ramdisk),
		)
	}
	if len(p.Ramdisk) > 0 {
		edits = append(edits, m.image.fill(area{path: ramdiskPath, length: ramdiskRoom}, p.Ramdisk))
	}
	return lay(m.image.whole, edits)
}
