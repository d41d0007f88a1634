package iso9660

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// Volume descriptors (ECMA-119, 8): a list of sectors from sector 16 on.
const (
	bootDescriptor    = 0
	primaryDescriptor = 1
	lastDescriptor    = 255

	maxDescriptors = 64 // an image has three to five
	// maxMetadata bounds the directories, names and attributes that are read and kept. The whole directory of a
	// CoreOS image is some 30 KiB.
	maxMetadata = 64 << 20
)

// image is the file that is read, with the remaining read limit.
type image struct {
	r    io.ReaderAt
	size int64
	left int64
}

// read reads metadata; its sum is limited.
func (in *image) read(offset, length int64) ([]byte, error) {
	if err := in.within(Extent{offset, length}); err != nil {
		return nil, err
	}
	if err := in.spend(length); err != nil {
		return nil, err
	}
	b := make([]byte, length)
	if n, err := in.r.ReadAt(b, offset); n < len(b) {
		return nil, fmt.Errorf("read %d bytes at %d: %w", length, offset, err)
	}
	return b, nil
}

// spend counts against the limit; little pieces cost a minimum, as each is a read.
func (in *image) spend(length int64) error {
	in.left -= max(length, 64)
	if in.left < 0 {
		return fmt.Errorf("more than %d bytes of directories and names", int64(maxMetadata))
	}
	return nil
}

func (in *image) has(e Extent) bool {
	return e.Offset >= 0 && e.Length >= 0 && e.Offset <= in.size-e.Length
}

func (in *image) within(e Extent) error {
	if !in.has(e) {
		return fmt.Errorf(
			"require data within the %d bytes of the image, found %d bytes at %d: is it truncated?",
			in.size,
			e.Length,
			e.Offset,
		)
	}
	return nil
}

// descriptors are the relevant volume descriptors.
type descriptors struct {
	primary []byte
	boot    []byte // nil: no El Torito
}

func readDescriptors(in *image) (descriptors, error) {
	var set descriptors
	for i := range int64(maxDescriptors) {
		b, err := in.read(systemArea+i*sector, sector)
		if err != nil {
			return set, fmt.Errorf("volume descriptor %d: %w", i, err)
		}
		if string(b[1:6]) != "CD001" {
			return set, fmt.Errorf("volume descriptor %d: require identifier CD001, found %q", i, b[1:6])
		}
		switch {
		case b[0] == lastDescriptor:
			return set, set.check()
		case b[0] == primaryDescriptor && set.primary == nil:
			set.primary = b
		case b[0] == bootDescriptor && set.boot == nil && strings.HasPrefix(string(b[7:39]), "EL TORITO SPECIFICATION"):
			set.boot = b
		}
	}
	return set, fmt.Errorf("no end after %d volume descriptors", maxDescriptors)
}

func (set descriptors) check() error {
	if set.primary == nil {
		return fmt.Errorf("the primary volume descriptor is missing")
	}
	if block := binary.LittleEndian.Uint16(set.primary[128:]); block != sector {
		return fmt.Errorf("require logical blocks of %d bytes, found %d", sector, block)
	}
	return nil
}

// label returns the volume identifier: byte 32808 of the image, 32 bytes.
func label(primary []byte) string {
	return strings.Trim(string(primary[40:72]), " \x00")
}
