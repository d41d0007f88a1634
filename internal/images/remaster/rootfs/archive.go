// Package rootfs extracts single files from the root file system of a live image: a cpio archive that holds a
// squashfs or EROFS image. It reads them in place: a root file system of a gigabyte costs as much memory as the
// requested file.
package rootfs

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	headerSize = 110 // of a member, in cpio(5)'s new ASCII format
	maxMembers = 4096
	maxName    = 4096
	trailer    = "TRAILER!!!"
)

// images are the members that hold a root file system.
var images = []string{"root.squashfs", "root.erofs"}

// errNoMember: no more members in the archive.
var errNoMember = errors.New("end of the archive")

// member is one file of a cpio archive, and where its data are.
type member struct {
	name         string
	offset, size int64
}

// find searches the members of an archive for a root file system. It skips their content.
func find(r io.ReaderAt, size int64) (member, error) {
	at := int64(0)
	for range maxMembers {
		m, err := readMember(r, size, at)
		if err != nil {
			return member{}, err
		}
		for _, name := range images {
			if strings.TrimPrefix(m.name, "./") == name {
				return m, nil
			}
		}
		if m.name == trailer {
			return member{}, fmt.Errorf("the archive does not contain %s", strings.Join(images, " or "))
		}
		at = align(m.offset + m.size)
	}
	return member{}, fmt.Errorf("more than %d files in the archive", maxMembers)
}

func align(offset int64) int64 { return (offset + 3) &^ 3 }

// readMember reads the header of the member at an offset. Numbers are eight hexadecimal
// digits: magic, then inode, mode, owners, links, time, size (6), devices, length of the
// name (11) and a checksum.
func readMember(r io.ReaderAt, size, at int64) (member, error) {
	header := make([]byte, headerSize)
	if at+headerSize > size {
		return member{}, fmt.Errorf("read the header at %d: %w", at, errNoMember)
	}
	if n, err := r.ReadAt(header, at); n < len(header) {
		return member{}, fmt.Errorf("read the header at %d: %w", at, err)
	}
	if magic := string(header[:6]); magic != "070701" && magic != "070702" {
		return member{}, fmt.Errorf("read the header at %d: require a cpio archive in the new ASCII format, found %q", at, magic)
	}
	length, err := number(header, 6)
	if err != nil {
		return member{}, err
	}
	named, err := number(header, 11)
	if err != nil {
		return member{}, err
	}
	if named < 1 || named > maxName {
		return member{}, fmt.Errorf("read the header at %d: require a name of at most %d bytes, found %d", at, maxName, named)
	}
	name := make([]byte, named)
	if n, err := r.ReadAt(name, at+headerSize); n < len(name) {
		return member{}, fmt.Errorf("read the name at %d: %w", at, err)
	}
	m := member{strings.TrimRight(string(name), "\x00"), align(at + headerSize + named), length}
	if m.offset+m.size > size {
		return member{}, fmt.Errorf("read %s: require its %d bytes in the archive, found %d", m.name, m.size, size-m.offset)
	}
	return m, nil
}

func number(header []byte, field int) (int64, error) {
	digits := header[6+8*field : 6+8*field+8]
	raw, err := hex.DecodeString(string(digits))
	if err != nil {
		return 0, fmt.Errorf("read a number of the archive: require hexadecimal digits, found %q", digits)
	}
	return int64(raw[0])<<24 | int64(raw[1])<<16 | int64(raw[2])<<8 | int64(raw[3]), nil
}
