package iso9660

import (
	"encoding/binary"
	"fmt"
)

const (
	platformEFI = 0xef
	maxCatalog  = 16 * sector
	maxBootFile = 8 << 20 // of a loader with a table in it; isolinux.bin has 38 KiB
)

// catalog is the boot catalogue of the El Torito specification: 32 bytes an entry.
type catalog struct {
	was     int64 // its offset in the old image
	content []byte
	entries []bootEntry
}

// bootEntry is one boot image.
type bootEntry struct {
	at       int // in the catalogue
	platform byte
	media    byte  // 0: no emulation
	sectors  int64 // to load, of 512 bytes
	offset   int64 // of the image in the old ISO image
}

// readCatalog reads the catalogue a boot descriptor points to.
func readCatalog(in *image, boot []byte, t *tree) (*catalog, error) {
	c := &catalog{was: int64(binary.LittleEndian.Uint32(boot[71:])) * sector}
	length := int64(sector)
	t.each(func(n *node) {
		if n.offset() == c.was && n.data == nil {
			length = max(length, min(n.extents[0].Length, maxCatalog))
		}
	})
	var err error
	if c.content, err = in.read(c.was, length); err != nil {
		return nil, fmt.Errorf("boot catalogue: %w", err)
	}
	if c.content[0] != 1 || c.content[30] != 0x55 || c.content[31] != 0xaa {
		return nil, fmt.Errorf("boot catalogue: no validation entry at %d", c.was)
	}
	c.parse()
	return c, nil
}

// parse lists the entries: the first stands alone, others are in sections.
func (c *catalog) parse() {
	c.entry(32, c.content[1])
	platform, more := byte(0), 0
	for at := 64; at < len(c.content); at += 32 {
		switch first := c.content[at]; {
		case more == 0 && (first == 0x90 || first == 0x91):
			platform, more = c.content[at+1], int(binary.LittleEndian.Uint16(c.content[at+2:]))
		case first == 0x44: // continues the entry before, without a place
		case more > 0:
			more--
			c.entry(at, platform)
		default:
			return
		}
	}
}

func (c *catalog) entry(at int, platform byte) {
	b := c.content[at:]
	e := bootEntry{
		at: at, platform: platform, media: b[1] & 15,
		sectors: int64(binary.LittleEndian.Uint16(b[6:])),
		offset:  int64(binary.LittleEndian.Uint32(b[8:])) * sector,
	}
	if e.offset != 0 {
		c.entries = append(c.entries, e)
	}
}

// length returns the length of a boot image that belongs to no file and no partition.
func (e bootEntry) length(in *image) (int64, error) {
	if info, ok, err := readBootInfo(in, e.offset); err != nil || ok {
		return info.length, err
	}
	floppies := map[byte]int64{1: 1200 << 10, 2: 1440 << 10, 3: 2880 << 10}
	switch {
	case floppies[e.media] != 0:
		return floppies[e.media], nil
	// For EFI 0 and 1 stand for all up to the end of the CD, and writers put 65535 where a
	// length does not fit. Other loaders that do not know their place have no more than
	// what is loaded.
	case e.media == 0 && e.sectors > 0 && (e.platform != platformEFI || e.sectors > 1 && e.sectors < 0xffff):
		return e.sectors * diskSector, nil
	}
	return 0, fmt.Errorf("the length of the boot image at byte %d is unknown: no file, no partition and %d sectors", e.offset, e.sectors)
}

// adopt makes sure that every boot image is kept: as a file, as a partition, or else as a range that belongs to
// neither.
func (c *catalog) adopt(in *image, all *blobs, removed map[int64]string) error {
	for _, e := range c.entries {
		if _, ok := all.newOffset(e.offset); ok {
			continue
		}
		if path, gone := removed[e.offset]; gone {
			return fmt.Errorf("the boot image %s must not be removed", path)
		}
		length, err := e.length(in)
		if err != nil {
			return err
		}
		at := Extent{Offset: e.offset, Length: length}
		if err := in.within(at); err != nil {
			return fmt.Errorf("boot image: %w", err)
		}
		all.extra(at)
	}
	return nil
}

// write puts the new places into the catalogue.
func (c *catalog) write(all *blobs) {
	for _, e := range c.entries {
		at, _ := all.newOffset(e.offset)
		binary.LittleEndian.PutUint32(c.content[e.at+8:], uint32(at/sector))
		// Firmware loads no more of a new EFI image than its length here; 0 is all up to the end of the CD
		// (UEFI specification, 13.3.2.1).
		if b := all.starts[e.offset]; b != nil && b.content != nil && e.platform == platformEFI && e.sectors > 1 {
			length := roundUp(b.length, diskSector) / diskSector
			if length > 0xffff {
				length = 0
			}
			binary.LittleEndian.PutUint16(c.content[e.at+6:], uint16(length))
		}
	}
}
