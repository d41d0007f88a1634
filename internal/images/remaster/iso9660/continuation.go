package iso9660

import (
	"fmt"
	"slices"
)

const ceLength = 28

// pack splits the fields of a record into fields within it, up to a number of bytes, and fields of
// each continuation. Every part but the last leaves room for the field with the place of the next
// one. A continuation stays within a block: the Linux kernel accepts no other.
func pack(fields []field, room int) ([][]field, error) {
	var parts [][]field
	for lengthOf(fields) > room {
		if room < ceLength {
			return nil, fmt.Errorf("require room for a continuation in a directory record, found %d bytes", room)
		}
		taken, used := 0, ceLength
		for used+len(fields[taken]) <= room {
			used += len(fields[taken])
			taken++
		}
		parts = append(parts, fields[:taken])
		fields, room = fields[taken:], sector
	}
	return append(parts, fields), nil
}

func lengthOf(fields []field) int {
	sum := 0
	for _, f := range fields {
		sum += len(f)
	}
	return sum
}

// partLength returns how many bytes a part takes, with the field that leads to the next.
func partLength(parts [][]field, i int) int {
	length := lengthOf(parts[i])
	if i < len(parts)-1 {
		length += ceLength
	}
	return length
}

// continuations lays the parts of records behind the records of a folder.
type continuations struct {
	used int64 // bytes, from the beginning of a block on
	out  []byte
}

// place gives the next part its bytes.
func (c *continuations) place(length int) int64 {
	if c.used%sector+int64(length) > sector {
		c.used += sector - c.used%sector
	}
	at := c.used
	c.used += int64(length)
	return at
}

func (c *continuations) blocks() int64 { return (c.used + sector - 1) / sector }

// write returns the fields within the record, and writes the other parts; block is where the continuations of
// the folder begin.
func (c *continuations) write(parts [][]field, block int64) []byte {
	use := slices.Concat(parts[0]...)
	var rest []byte
	for i := range parts[1:] {
		at := c.place(partLength(parts, i+1))
		ce := newCE(block+at/sector, at%sector, int64(partLength(parts, i+1)))
		if i == 0 {
			use = append(use, ce...)
		} else {
			rest = append(rest, ce...)
		}
		c.out = append(c.out, rest...)
		c.out = append(c.out, make([]byte, at-int64(len(c.out)))...)
		rest = slices.Concat(parts[i+1]...)
	}
	c.out = append(c.out, rest...)
	return slices.Concat(use)
}

func newCE(block, offset, length int64) field {
	f := newField("CE", make([]byte, ceLength-4))
	both32(f[4:], block)
	both32(f[12:], offset)
	both32(f[20:], length)
	return f
}

func newField(signature string, data []byte) field {
	return append(field{signature[0], signature[1], byte(4 + len(data)), 1}, data...)
}

// kept returns the fields of an old record that are valid in a new one.
func kept(fields []field) []field {
	return slices.DeleteFunc(slices.Clone(fields), func(f field) bool {
		// CL, PL and RE: folders are not moved up the tree any more. Their depth breaks a
		// rule of ECMA-119 that Linux, GRUB and isolinux do not know.
		// AA and AL: xorriso's attributes, at the root the place of checksums that are gone.
		return slices.Contains([]string{"CL", "PL", "RE", "AA", "AL", "SP"}, string(f[:2]))
	})
}

// sp begins the root's own record when there are any fields; nothing is skipped.
func sp() field { return newField("SP", []byte{0xbe, 0xef, 0}) }

// newFields makes the fields of a new file from its folder's: the length of PX differs between the
// versions of Rock Ridge, RR was left out of the later ones, and times are optional.
func newFields(name string, folder []field) []field {
	var fields []field
	for _, f := range folder {
		switch {
		case f.is("RR") && len(f) >= 5:
			fields = append(fields, newField("RR", []byte{f[4] | 0x08})) // a name, too
		case f.is("PX") && len(f) >= 36:
			px := slices.Clone(f)
			both32(px[4:], 0o100444)
			both32(px[12:], 1)
			fields = append(fields, px)
		case f.is("TF"):
			fields = append(fields, f)
		}
	}
	// One field has room for 250 bytes, and a name up to 255.
	for ; len(name) > 250; name = name[250:] {
		fields = append(fields, newField("NM", append([]byte{1}, name[:250]...)))
	}
	return append(fields, newField("NM", append([]byte{0}, name...)))
}
