package iso9660

import (
	"encoding/binary"
	"fmt"
	"strings"
)

const maxContinuations = 64 // areas of one record; a symbolic link of 4 KiB takes three

// field is an entry of the system use sharing protocol (IEEE P1281): signature, length,
// version, data. Rock Ridge (IEEE P1282) defines most of them.
type field []byte

func (f field) is(signature string) bool { return string(f[:2]) == signature }

// sharing reports whether the root's own record begins with the field SP, without which none of the fields are
// meaningful, and how many bytes to skip in every other record.
func sharing(use []byte) (skip int, ok bool) {
	// CD-ROM XA puts 14 bytes in front.
	for _, at := range []int{0, 14} {
		if len(use) >= at+7 && string(use[at:at+2]) == "SP" && use[at+4] == 0xbe && use[at+5] == 0xef {
			return int(use[at+6]), true
		}
	}
	return 0, false
}

// fields reads the fields of a system use area and of all its continuations.
func (in *image) fields(use []byte) ([]field, error) {
	var all []field
	for range maxContinuations {
		var more field
		all, more = appendFields(all, use)
		if more == nil {
			return all, nil
		}
		block, offset := binary.LittleEndian.Uint32(more[4:]), binary.LittleEndian.Uint32(more[12:])
		var err error
		if use, err = in.read(int64(block)*sector+int64(offset), int64(binary.LittleEndian.Uint32(more[20:]))); err != nil {
			return nil, fmt.Errorf("continuation of a record: %w", err)
		}
	}
	return nil, fmt.Errorf("more than %d continuations of a record", maxContinuations)
}

// appendFields adds the fields of one area, and returns its CE, which holds the place of the next area. Bytes
// that are not a field end the area: old writers leave garbage there.
func appendFields(all []field, area []byte) (fields []field, more field) {
	for len(area) >= 4 {
		length := int(area[2])
		if length < 4 || length > len(area) {
			break
		}
		f := field(area[:length:length])
		area = area[length:]
		switch {
		case f.is("ST"):
			return all, more
		case f.is("CE"):
			if length >= 28 {
				more = f
			}
		case f.is("PD"):
		default:
			all = append(all, f)
		}
	}
	return all, more
}

// attributes are the Rock Ridge attributes of an entry.
type attributes struct {
	name      string // empty: the ISO name counts
	link      string
	childLink int64 // block of a folder that was moved up the tree, 0 for none
	elsewhere bool  // a relocated folder in its place of refuge: it is shown at its original path
}

func attributesOf(fields []field) attributes {
	var a attributes
	var name, link strings.Builder
	separate := false
	for _, f := range fields {
		switch {
		case f.is("NM") && len(f) > 5 && f[4]&6 == 0: // 2 and 4 stand for "." and ".."
			name.Write(f[5:])
		case f.is("SL") && len(f) > 5:
			separate = components(&link, f[5:], separate)
		case f.is("CL") && len(f) >= 12:
			a.childLink = int64(binary.LittleEndian.Uint32(f[4:]))
		case f.is("RE"):
			a.elsewhere = true
		}
	}
	a.name, a.link = name.String(), link.String()
	return a
}

// components adds the parts of a symbolic link's path; separate reports that a slash precedes the next.
func components(link *strings.Builder, b []byte, separate bool) bool {
	for len(b) >= 2 {
		flags, end := b[0], 2+int(b[1])
		if end > len(b) {
			break
		}
		if separate {
			link.WriteByte('/')
		}
		switch {
		case flags&2 != 0:
			link.WriteByte('.')
		case flags&4 != 0:
			link.WriteString("..")
		case flags&8 != 0:
			link.WriteByte('/')
		default:
			link.Write(b[2:end])
		}
		separate = flags&(1|8) == 0 // continued, or the root, which has its slash
		b = b[end:]
	}
	return separate
}
