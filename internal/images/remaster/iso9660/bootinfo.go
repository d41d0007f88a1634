package iso9660

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Boot information table of isolinux and GRUB: from byte 8 of the loader on the block of the primary
// descriptor, its own block, its length and the sum of its 32 bit words from byte 64 on. With wrong values the
// loader does not find itself.
const (
	bootInfoEnd = 64
	// grubOffset is where GRUB's cdboot has the place of what follows it, in sectors of
	// 512 bytes (xorriso: --grub2-boot-info).
	grubOffset = 2548
	grubSkip   = 5
)

// bootInfo holds the values of a boot information table.
type bootInfo struct{ length int64 }

// readBootInfo searches for a table in the boot image at a byte of the old image.
func readBootInfo(in *image, offset int64) (bootInfo, bool, error) {
	if !in.has(Extent{offset, bootInfoEnd}) {
		return bootInfo{}, false, nil
	}
	b, err := in.read(offset, bootInfoEnd)
	if err != nil {
		return bootInfo{}, false, fmt.Errorf("boot image: %w", err)
	}
	found := int64(binary.LittleEndian.Uint32(b[8:])) == systemArea/sector && int64(binary.LittleEndian.Uint32(b[12:])) == offset/sector
	return bootInfo{length: int64(binary.LittleEndian.Uint32(b[16:]))}, found, nil
}

// loader is a boot image with a table.
type loader struct {
	data *blob
	grub bool // it has GRUB's place, too
}

// loaders loads the boot images with a table into memory, to be written when their places are known. New
// content gets a table when the old one had one.
func (c *catalog) loaders(in *image, all *blobs) ([]loader, error) {
	var list []loader
	for _, e := range c.entries {
		b := all.starts[e.offset]
		if b == nil || slices.ContainsFunc(list, func(l loader) bool { return l.data == b }) {
			continue
		}
		if _, ok, err := readBootInfo(in, e.offset); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		if b.length < bootInfoEnd || b.length > maxBootFile {
			return nil, fmt.Errorf("require a boot loader with a table of %d to %d bytes, found %d", bootInfoEnd, maxBootFile, b.length)
		}
		l := loader{data: b}
		if grub := (Extent{e.offset + grubOffset, 8}); in.has(grub) {
			word, err := in.read(grub.Offset, grub.Length)
			if err != nil {
				return nil, fmt.Errorf("boot image: %w", err)
			}
			l.grub = b.length >= grubOffset+8 && binary.LittleEndian.Uint64(word) == uint64(e.offset/diskSector+grubSkip)
		}
		if err := b.load(in); err != nil {
			return nil, fmt.Errorf("boot image: %w", err)
		}
		list = append(list, l)
	}
	return list, nil
}

// load takes a blob into memory.
func (b *blob) load(in *image) error {
	content := slices.Clone(b.content)
	for _, e := range b.extents {
		part, err := in.read(e.Offset, e.Length)
		if err != nil {
			return err
		}
		content = append(content, part...)
	}
	b.content, b.extents = content, nil
	return nil
}

// write puts the table into a loader.
func (l loader) write() {
	b := l.data.content
	if l.grub {
		binary.LittleEndian.PutUint64(b[grubOffset:], uint64(l.data.at/diskSector+grubSkip))
	}
	sum := uint32(0)
	for words := b[bootInfoEnd:]; len(words) > 0; words = words[min(4, len(words)):] {
		var word [4]byte
		copy(word[:], words)
		sum += binary.LittleEndian.Uint32(word[:])
	}
	for i, n := range []uint32{systemArea / sector, uint32(l.data.at / sector), uint32(len(b)), sum} {
		binary.LittleEndian.PutUint32(b[8+4*i:], n)
	}
}
