package iso9660

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

const (
	gptHeader   = diskSector // offset of the header: sector 1
	gptMinEntry = 128
)

// gpt is a GUID partition table (UEFI specification, 5.3) within the system area.
type gpt struct {
	header  []byte // of its length, at most a sector
	entries []byte
	size    int // of an entry
}

// readGPT reads the table in an area; nil when there is none.
func readGPT(area []byte) (*gpt, error) {
	b := area[gptHeader : gptHeader+diskSector]
	if string(b[:8]) != "EFI PART" {
		return nil, nil
	}
	length := int64(binary.LittleEndian.Uint32(b[12:]))
	at := int64(min(binary.LittleEndian.Uint64(b[72:]), systemArea)) * diskSector
	count, size := int64(binary.LittleEndian.Uint32(b[80:])), int64(binary.LittleEndian.Uint32(b[84:]))
	switch {
	case length < 92 || length > diskSector:
		return nil, fmt.Errorf("GPT: require a header of 92 to 512 bytes, found %d", length)
	case size < gptMinEntry || size > diskSector || at < gptHeader+diskSector || at+count*size > int64(len(area)):
		return nil, fmt.Errorf("GPT: require entries within the first %d bytes, found %d of %d bytes at %d", len(area), count, size, at)
	}
	return &gpt{header: b[:length], entries: area[at : at+count*size], size: int(size)}, nil
}

func (g *gpt) entry(i int) []byte { return g.entries[i*g.size:] }

func (g *gpt) spans() []span {
	all := make([]span, len(g.entries)/g.size)
	for i := range all {
		e := g.entry(i)
		first, last := binary.LittleEndian.Uint64(e[32:]), binary.LittleEndian.Uint64(e[40:])
		if used := slices.ContainsFunc(e[:16], func(b byte) bool { return b != 0 }); used && first <= last && last <= maxImage/diskSector {
			all[i] = span{int64(first), int64(last-first) + 1}
		}
	}
	return all
}

// put writes a partition, or clears it.
func (g *gpt) put(i int, p span, ok bool) {
	e := g.entry(i)
	if !ok {
		clear(e[:g.size])
		return
	}
	binary.LittleEndian.PutUint64(e[32:], uint64(p.start))
	binary.LittleEndian.PutUint64(e[40:], uint64(p.end()-1))
}

// backup returns the size of the second table in bytes: entries, then the header.
func (g *gpt) backup() int64 { return roundUp(int64(len(g.entries)), diskSector) + diskSector }

// write finishes the table for a disk of so many sectors, and returns its backup.
func (g *gpt) write(sectors int64) []byte {
	last := sectors - 1
	entries := sectors - g.backup()/diskSector
	binary.LittleEndian.PutUint64(g.header[32:], uint64(last))
	binary.LittleEndian.PutUint64(g.header[48:], uint64(entries-1))
	binary.LittleEndian.PutUint32(g.header[88:], crc32.ChecksumIEEE(g.entries))
	seal(g.header)

	out := make([]byte, g.backup())
	copy(out, g.entries)
	header := out[len(out)-diskSector:][:len(g.header)]
	copy(header, g.header)
	binary.LittleEndian.PutUint64(header[24:], uint64(last))
	binary.LittleEndian.PutUint64(header[32:], 1)
	binary.LittleEndian.PutUint64(header[72:], uint64(entries))
	seal(header)
	return out
}

// seal writes the checksum of a header, taken with zeros in its place.
func seal(header []byte) {
	clear(header[16:20])
	binary.LittleEndian.PutUint32(header[16:], crc32.ChecksumIEEE(header))
}
