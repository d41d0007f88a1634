// Package remaster makes discovery images: an ISO of CoreOS with an Ignition config,
// kernel arguments and network settings of a user in it. Nothing is copied: an image is a
// layout of ranges of the ISO and of what is laid over them (docs/reference/images.md,
// "Layout of a live ISO").
package remaster

import (
	"encoding/binary"
	"fmt"
	"io"

	"slipway/internal/images/remaster/iso9660"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/model"
)

// Files of an image, by their Rock Ridge names.
const (
	rootfsPath   = "images/pxeboot/rootfs.img"
	initrdPath   = "images/pxeboot/initrd.img"
	kernelPath   = "images/pxeboot/vmlinuz"
	insPath      = "generic.ins"
	addrSizePath = "images/initrd.addrsize"
)

// kernelPaths are where a kernel may be: s390x has its own name for it.
var kernelPaths = []string{kernelPath, "images/pxeboot/kernel.img", "images/kernel.img"}

// s390xPaths are files that only an image for s390x has.
var s390xPaths = []string{addrSizePath, insPath, "images/cdboot.img"}

// maxText limits the small files that are read whole, in bytes.
const maxText = 1 << 20

// Base describes a base ISO, or a minimal one made of it. It is immutable, and safe for concurrent use.
type Base struct {
	volume   *iso9660.Volume
	whole    *layout.Layout
	ignition area
	kargs    kernelArguments
}

// Inspect reads what Slipway needs to know of an ISO of size bytes, once per file. The volume label is not
// checked: every image that has an Ignition area can be used.
func Inspect(r io.ReaderAt, size int64) (*Base, error) {
	return inspect(r, layout.Of(layout.Base(0, size)))
}

// inspect reads an image that is a layout over r.
func inspect(r io.ReaderAt, whole *layout.Layout) (*Base, error) {
	image := whole.Reader(r)
	volume, err := iso9660.Read(image, whole.Size())
	if err != nil {
		return nil, err
	}
	b := &Base{volume: volume, whole: whole}
	if b.ignition, err = b.ignitionArea(image); err != nil {
		return nil, err
	}
	b.kargs = b.kernelArguments(image)
	return b, nil
}

// Label returns the identifier of the volume.
func (b *Base) Label() string { return b.volume.Label }

// Size returns the length of the ISO in bytes.
func (b *Base) Size() int64 { return b.whole.Size() }

// IsS390X reports whether the image is for s390x, which starts unlike all others.
func (b *Base) IsS390X() bool {
	_, ok := b.first(s390xPaths...)
	return ok
}

// Kernel returns the kernel for machines that boot over the network.
func (b *Base) Kernel() (*layout.Layout, error) { return b.artifact("kernel", kernelPaths...) }

// Rootfs returns the root file system that a minimal image fetches.
func (b *Base) Rootfs() (*layout.Layout, error) { return b.artifact("root file system", rootfsPath) }

// InsFile returns the file from which a machine of s390x reads what to load to which address.
func (b *Base) InsFile() (*layout.Layout, error) { return b.artifact("ins file", insPath) }

// AddrSize makes the file from which firmware of s390x reads the address of the initramfs and its
// size: initrdSize, in bytes, of PXEInitrd's result.
func (b *Base) AddrSize(r io.ReaderAt, initrdSize int64) ([]byte, error) {
	l, err := b.artifact("initrd.addrsize", addrSizePath)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 8, 16)
	if _, err := io.ReadFull(l.Reader(r), out); err != nil {
		return nil, fmt.Errorf("read %s: %w", addrSizePath, err)
	}
	return binary.BigEndian.AppendUint64(out, uint64(initrdSize)), nil //nolint:gosec // a length
}

// CheckSizes refuses an image whose largest files are too small: a broken download often
// is a whole image of an empty release (docs/reference/images.md, "Layout of a live ISO").
func (b *Base) CheckSizes() error {
	for _, required := range []struct {
		path string
		size int64
	}{{rootfsPath, 100 << 20}, {kernelPath, 5 << 20}} {
		paths := []string{required.path}
		if required.path == kernelPath {
			paths = kernelPaths
		}
		f, ok := b.first(paths...)
		if !ok || f.Size() < required.size {
			return model.Invalidf(
				"image is not complete: require %s of at least %d bytes, found %d",
				required.path,
				required.size,
				f.Size(),
			)
		}
	}
	return nil
}

// first returns the first of paths that is a file.
func (b *Base) first(paths ...string) (iso9660.File, bool) {
	for _, path := range paths {
		if f, ok := b.volume.File(path); ok && !f.Dir && f.Link == "" {
			return f, true
		}
	}
	return iso9660.File{}, false
}

func (b *Base) artifact(name string, paths ...string) (*layout.Layout, error) {
	f, ok := b.first(paths...)
	if !ok {
		return nil, model.NotFoundf("image %s has no %s: require %s", b.Label(), name, paths[0])
	}
	return b.content(f), nil
}

// content returns a file as a layout over the base file.
func (b *Base) content(f iso9660.File) *layout.Layout {
	var pieces []layout.Piece
	for _, e := range f.Extents {
		for p := range b.whole.Range(e.Offset, e.Length) {
			pieces = append(pieces, p)
		}
	}
	return layout.Of(pieces...)
}

// text reads a small file. It returns nil without an error when the file is missing.
func (b *Base) text(image io.ReaderAt, path string) ([]byte, error) {
	f, ok := b.first(path)
	if !ok {
		return nil, nil
	}
	if f.Size() > maxText {
		return nil, fmt.Errorf("read %s: require at most %d bytes, found %d", path, maxText, f.Size())
	}
	out := make([]byte, 0, f.Size())
	for _, e := range f.Extents {
		part := make([]byte, e.Length)
		if n, err := image.ReadAt(part, e.Offset); n < len(part) {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		out = append(out, part...)
	}
	return out, nil
}
