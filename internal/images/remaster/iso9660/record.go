package iso9660

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// Flags of a directory record (ECMA-119, 9.1.6).
const (
	flagDirectory   = 0x02
	flagAssociated  = 0x04
	flagMultiExtent = 0x80
)

const (
	recordHeader = 33 // bytes in front of the identifier
	maxRecord    = 254
)

// record is a directory record (ECMA-119, 9.1), the two byte orders read as one.
type record struct {
	location int64 // first block of the data, behind an extended attribute record
	length   int64
	date     [7]byte
	flags    byte
	sequence uint16
	id       []byte
	use      []byte // system use: where Rock Ridge is
}

// parseRecord reads the record at the beginning of b, what is left of a block: records
// do not cross blocks.
func parseRecord(b []byte) (record, int, error) {
	length := int(b[0])
	if length <= recordHeader || length > len(b) {
		return record{}, 0, fmt.Errorf("require a directory record of %d to %d bytes, found %d", recordHeader+1, len(b), length)
	}
	b = b[:length]
	end := recordHeader + int(b[32])
	if b[32] == 0 || end > length {
		return record{}, 0, fmt.Errorf("require an identifier within a directory record of %d bytes, found %d bytes of it", length, b[32])
	}
	if b[26] != 0 || b[27] != 0 {
		return record{}, 0, fmt.Errorf("file %q is interleaved, which is not supported", b[recordHeader:end])
	}
	rec := record{
		location: int64(binary.LittleEndian.Uint32(b[2:])) + int64(b[1]),
		length:   int64(binary.LittleEndian.Uint32(b[10:])),
		date:     [7]byte(b[18:25]),
		flags:    b[25],
		sequence: binary.LittleEndian.Uint16(b[28:]),
		id:       b[recordHeader:end],
	}
	rec.use = b[min(end+padding(len(rec.id)), length):]
	return rec, length, nil
}

// padding makes an identifier of even length end on an even byte.
func padding(id int) int { return 1 - id%2 }

// extent returns where the data lie. A location is multiplied as 64 bit: files lie beyond 4 GiB in
// disconnected images.
func (r record) extent() Extent { return Extent{Offset: r.location * sector, Length: r.length} }

func (r record) isSelf() bool { return bytes.Equal(r.id, []byte{0}) }
func (r record) isUp() bool   { return bytes.Equal(r.id, []byte{1}) }

// name returns the identifier as people know it: "ROOTFS.IMG;1" is "rootfs.img".
func (r record) name() string {
	name, _, _ := strings.Cut(strings.ToLower(string(r.id)), ";")
	return strings.TrimSuffix(name, ".")
}

// append writes a record of what lies at a place, with a system use area.
func (r record) append(b []byte, at Extent, use []byte) []byte {
	head := make([]byte, recordHeader)
	head[0] = byte(recordLength(len(r.id), len(use)))
	both32(head[2:], at.Offset/sector)
	both32(head[10:], at.Length)
	copy(head[18:], r.date[:])
	head[25] = r.flags
	binary.LittleEndian.PutUint16(head[28:], r.sequence)
	binary.BigEndian.PutUint16(head[30:], r.sequence)
	head[32] = byte(len(r.id))
	b = append(append(b, head...), r.id...)
	b = append(b, make([]byte, padding(len(r.id)))...)
	b = append(b, use...)
	return append(b, make([]byte, len(use)%2)...)
}

func recordLength(id, use int) int { return recordHeader + id + padding(id) + use + use%2 }

// both32 writes a number in both byte orders (ECMA-119, 7.3.3).
func both32(b []byte, n int64) {
	binary.LittleEndian.PutUint32(b, uint32(n))
	binary.BigEndian.PutUint32(b[4:], uint32(n))
}
