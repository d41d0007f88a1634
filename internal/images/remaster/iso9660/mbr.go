package iso9660

import "encoding/binary"

const (
	mbrTable   = 446
	mbrEntries = 4
	// mbrLoader is where the boot code of isohybrid and of GRUB has the place of the
	// loader, in sectors of 512 bytes; GRUB's begins a block later.
	mbrLoader   = 432
	grubMBRSkip = 4
	maxMBR      = 1<<32 - 1
	// chsLimit stands for a place beyond the range of cylinders.
	chsLimit = "\xfe\xff\xff"
)

// mbr is the first sector of an image: empty, or with boot code and partitions.
type mbr struct {
	block        []byte
	heads, track int64 // the geometry its entries are written in; 0: none
}

func readMBR(area []byte) mbr {
	m := mbr{block: area[:diskSector]}
	for i, p := range m.spans() {
		// An entry for the whole image ends with the last head and sector of a cylinder.
		if e := m.entry(i); p.start == 0 && p.count > 0 {
			m.heads, m.track = int64(e[5])+1, int64(e[6]&63)
		}
	}
	return m
}

// cylinder returns the size of a cylinder in bytes, 0 when there is no geometry.
func (m mbr) cylinder() int64 { return m.heads * m.track * diskSector }

func (m mbr) entry(i int) []byte { return m.block[mbrTable+16*i : mbrTable+16*i+16] }

func (m mbr) spans() []span {
	if m.block[510] != 0x55 || m.block[511] != 0xaa {
		return nil
	}
	all := make([]span, mbrEntries)
	for i := range all {
		e := m.entry(i)
		all[i] = span{int64(binary.LittleEndian.Uint32(e[8:])), int64(binary.LittleEndian.Uint32(e[12:]))}
	}
	return all
}

// put writes a partition, or clears it.
func (m mbr) put(i int, p span, ok bool) {
	e := m.entry(i)
	if !ok || p.start > maxMBR {
		clear(e)
		return
	}
	// Entries without cylinders, and entries that are still right, are left unchanged.
	was := m.spans()[i]
	if p.start != was.start && string(e[1:4]) != chsLimit {
		copy(e[1:4], m.chs(p.start))
	}
	if p.end() != was.end() && string(e[5:8]) != chsLimit {
		copy(e[5:8], m.chs(p.end()-1))
	}
	binary.LittleEndian.PutUint32(e[8:], uint32(p.start))
	binary.LittleEndian.PutUint32(e[12:], uint32(min(p.count, maxMBR)))
}

// chs returns the cylinder, head and sector of a place, as far as they go.
func (m mbr) chs(at int64) []byte {
	if m.cylinder() == 0 {
		return []byte(chsLimit)
	}
	cylinder, head, sec := at/(m.heads*m.track), at/m.track%m.heads, at%m.track+1
	if cylinder > 1023 {
		cylinder, head, sec = 1023, m.heads-1, m.track
	}
	return []byte{byte(head), byte(sec) | byte(cylinder>>8<<6), byte(cylinder)}
}

// writeLoader writes the new place of the loader into the boot code, if the boot code had its place.
func (m mbr) writeLoader(c *catalog, to arranged) {
	if c == nil {
		return
	}
	place := m.block[mbrLoader:]
	was := int64(binary.LittleEndian.Uint64(place))
	for _, e := range c.entries {
		for _, skip := range []int64{0, grubMBRSkip} {
			if was == e.offset/diskSector+skip {
				at, _ := to.newOffset(e.offset)
				binary.LittleEndian.PutUint64(place, uint64(at/diskSector+skip))
				return
			}
		}
	}
}
