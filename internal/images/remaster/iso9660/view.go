package iso9660

import (
	"encoding/binary"
	"strings"
)

// secondVolume is where xorriso lets the first partition begin in images that can be
// mounted by it (-partition_offset 16), in blocks.
const secondVolume = 16

// view is a directory of the image. There is a second one when the image can be mounted
// by its first partition: of the same files, counted from where the partition begins.
type view struct {
	primary []byte
	shift   int64 // blocks in front of the partition
	behind  int64 // blocks its tables and folders lie behind the first view's
}

func (v view) block(block int64) int64 { return block + v.behind - v.shift }

// secondView finds the other primary descriptor in the old image; it returns false when there is none.
func secondView(in *image, s *system) (view, bool, error) {
	at := Extent{(secondVolume + systemArea/sector) * sector, sector}
	for _, p := range s.spans() {
		if p.count == 0 || p.start != secondVolume*sector/diskSector || !in.has(at) {
			continue
		}
		b, err := in.read(at.Offset, at.Length)
		return view{primary: b, shift: secondVolume}, err == nil && string(b[:6]) == "\x01CD001", err
	}
	return view{}, false, nil
}

// writePrimary writes the primary descriptor of a view. Fields it does not change stay: the label, times, and
// the publisher.
func (p *plan) writePrimary(v view, size int64) []byte {
	b := v.primary
	table, root := v.block(p.table), p.folders[0]
	both32(b[80:], size/sector-v.shift)
	both32(b[132:], int64(len(p.pathTable(v, binary.LittleEndian))))
	binary.LittleEndian.PutUint32(b[140:], uint32(table))
	binary.LittleEndian.PutUint32(b[144:], 0) // no second one
	binary.BigEndian.PutUint32(b[148:], uint32(table+p.tableBlocks()))
	binary.BigEndian.PutUint32(b[152:], 0)
	b[157] = 0 // no extended attribute record
	both32(b[158:], v.block(root.block))
	both32(b[166:], root.records)
	// checkisomd5 would compare a sum of the old image.
	if application := b[883:1395]; strings.Contains(string(application), "ISO MD5SUM") {
		copy(application, strings.Repeat(" ", len(application)))
	}
	return b
}

// endDescriptor ends a list of volume descriptors.
func endDescriptor() []byte {
	b := make([]byte, sector)
	copy(b, "\xffCD001\x01")
	return b
}

// writeDescriptors writes all volume descriptors, from sector 16 on.
func (p *plan) writeDescriptors() []byte {
	size := p.to.size
	// Where the volume ended before the image it does so now: with the files.
	if was := int64(binary.LittleEndian.Uint32(p.primary[80:])) * sector; was < p.system.size {
		size = p.to.files
	}
	out := append([]byte(nil), p.writePrimary(p.views[0], size)...)
	if p.boot != nil {
		binary.LittleEndian.PutUint32(p.boot[71:], uint32(p.to.starts[p.catalog.was].at/sector))
		out = append(out, p.boot...)
	}
	out = append(out, endDescriptor()...)
	for _, v := range p.views[1:] {
		out = append(out, make([]byte, v.shift*sector-int64(len(out)))...)
		out = append(append(out, p.writePrimary(v, p.to.files)...), endDescriptor()...)
	}
	return out
}

// writeTree writes the path tables, one in each byte order, and the folders of a view.
func (p *plan) writeTree(v view) []byte {
	var out []byte
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		table := p.pathTable(v, order)
		out = append(out, table...)
		out = append(out, make([]byte, p.tableBlocks()*sector-int64(len(table)))...)
	}
	for _, f := range p.folders {
		out = append(out, f.bytes(v, p.empty)...)
	}
	return out
}

// pathTable lists all folders (ECMA-119, 9.4).
func (p *plan) pathTable(v view, order binary.ByteOrder) []byte {
	var table []byte
	for _, f := range p.folders {
		id := f.id()
		head := make([]byte, 8)
		head[0] = byte(len(id))
		order.PutUint32(head[2:], uint32(v.block(f.block)))
		order.PutUint16(head[6:], uint16(f.up.number))
		table = append(append(table, head...), id...)
		table = append(table, make([]byte, len(id)%2)...)
	}
	return table
}

// tableBlocks returns the size of a path table in blocks.
func (p *plan) tableBlocks() int64 {
	length := int64(0)
	for _, f := range p.folders {
		length += int64(8 + len(f.id()) + len(f.id())%2)
	}
	return roundUp(length, sector) / sector
}
