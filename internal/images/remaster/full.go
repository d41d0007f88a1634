package remaster

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"slipway/internal/images/remaster/layout"
	"slipway/internal/model"
)

// Parts are the parts of an image that belong to one InfraEnv.
type Parts struct {
	Ignition        []byte                 // discovery config, JSON; empty: the image's own stays
	KernelArguments []model.KernelArgument // append, delete, replace
	Ramdisk         []byte                 // for hosts that fetch their root file system: gzip'ed cpio, or nil
	Nmstatectl      []byte                 // the result of Nmstatectl, where hosts apply NMState themselves, or nil
}

// Full returns the whole image: the config and the kernel arguments laid over the base. A part that does not
// fit is a model.ErrConflict.
func (b *Base) Full(p Parts) (*layout.Layout, error) {
	edits, err := b.embed(p)
	if err != nil {
		return nil, err
	}
	return lay(b.whole, edits)
}

func (b *Base) embed(p Parts) ([]edit, error) {
	edits, err := b.embedIgnition(p.Ignition)
	if err != nil {
		return nil, err
	}
	kargs, err := b.embedArguments(p.KernelArguments)
	if err != nil {
		return nil, err
	}
	return append(edits, kargs...), nil
}

// PXEInitrd returns the initramfs for machines that boot over the network: the image's initramfs, the config,
// and with a ramdisk also the ramdisk and nmstatectl. Kernel arguments are in the script that loads it.
func (b *Base) PXEInitrd(p Parts) (*layout.Layout, error) {
	initrd, err := b.artifact("initramfs", initrdPath)
	if err != nil {
		return nil, err
	}
	config, err := IgnitionArchive(p.Ignition)
	if err != nil {
		return nil, err
	}
	members := [][]layout.Piece{initrd.Pieces(), {layout.Bytes(config)}}
	if len(p.Ramdisk) > 0 {
		members = append(members, []layout.Piece{layout.Bytes(p.Ramdisk)}, []layout.Piece{layout.Bytes(p.Nmstatectl)})
	}
	var pieces []layout.Piece
	for _, m := range members {
		pieces = append(pieces, m...)
		pieces = append(pieces, layout.Zeros(padding(layout.Of(m...).Size())))
	}
	return layout.Of(pieces...), nil
}

// edit is data, and zeros after them up to length, that lie over an image from offset on.
type edit struct {
	offset, length int64
	data           []byte
}

// same reports whether two edits are equal: two names of an image may refer to one file.
func same(a, b edit) bool {
	return a.offset == b.offset && a.length == b.length && bytes.Equal(a.data, b.data)
}

// lay puts edits over an image. They must not lie over each other.
func lay(l *layout.Layout, edits []edit) (*layout.Layout, error) {
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.offset, b.offset) })
	edits = slices.CompactFunc(edits, same)
	var pieces []layout.Piece
	at := int64(0)
	for _, e := range edits {
		if e.offset < at || e.offset+e.length > l.Size() {
			return nil, fmt.Errorf(
				"lay %d bytes over the image: require a range of its own within %d bytes, found offset %d",
				e.length,
				l.Size(),
				e.offset,
			)
		}
		pieces = slices.AppendSeq(pieces, l.Range(at, e.offset-at))
		pieces = append(pieces, layout.Bytes(e.data), layout.Zeros(e.length-int64(len(e.data))))
		at = e.offset + e.length
	}
	return layout.Of(slices.AppendSeq(pieces, l.Range(at, l.Size()-at))...), nil
}
