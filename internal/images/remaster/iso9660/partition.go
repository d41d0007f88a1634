package iso9660

import (
	"bytes"
	"encoding/binary"
)

const diskSector = 512 // what partition tables count in

// span is a partition in sectors of 512 bytes.
type span struct{ start, count int64 }

func (s span) end() int64     { return s.start + s.count }
func (s span) extent() Extent { return Extent{s.start * diskSector, s.count * diskSector} }

// whole reports whether a partition begins at or before the volume, and so is the volume, not a part of it.
func (s span) whole() bool { return s.start*diskSector <= systemArea }

// system is the system area: boot code and partition tables of images that also start from a disk. An Apple
// partition map is dropped: it is for Macs older than those that boot by EFI from a GPT, and its HFS+ volume
// would have to be rebuilt as well.
type system struct {
	area  []byte
	size  int64 // of the old image
	mbr   mbr
	gpt   *gpt
	extra int64 // sector where ranges that belong to no file begin in the old image
}

func readSystem(in *image) (*system, error) {
	area, err := in.read(0, systemArea)
	if err != nil {
		return nil, err
	}
	s := &system{area: area, size: in.size, extra: in.size / diskSector}
	s.dropAppleMap()
	s.mbr = readMBR(area)
	s.gpt, err = readGPT(area)
	return s, err
}

// alignment returns the unit that a place in the new image is a multiple of, by the disk sector of
// the old one: BIOSes that count in cylinders want whole ones.
func (s *system) alignment(was int64) int64 {
	if cylinder := s.mbr.cylinder(); cylinder > 0 && cylinder%sector == 0 && was*diskSector%cylinder == 0 {
		return cylinder
	}
	return sector
}

func (s *system) dropAppleMap() {
	for at := diskSector; at < systemArea; at += diskSector {
		block := s.area[at : at+diskSector]
		blocks := binary.BigEndian.Uint32(block[4:])
		if bytes.HasPrefix(block, []byte("PM\x00\x00")) && blocks > 0 && blocks < 64 {
			clear(block)
		}
	}
}

// spans lists all partitions of both tables.
func (s *system) spans() []span {
	all := s.mbr.spans()
	if s.gpt != nil {
		all = append(all, s.gpt.spans()...)
	}
	return all
}

// adopt keeps the partitions that are not files, such as an appended EFI partition.
func (s *system) adopt(all *blobs, removed map[int64]string) {
	for _, p := range s.spans() {
		at := p.extent()
		_, gone := removed[at.Offset]
		if p.count == 0 || p.whole() || gone || at.Offset%sector != 0 || at.end() > s.size || all.overlap(at) {
			continue
		}
		all.extra(at)
		s.extra = min(s.extra, p.start)
	}
}

// arranged holds the sizes and places that are known once everything has its place.
type arranged struct {
	*blobs
	files int64 // bytes up to the end of the files
	size  int64 // bytes of the new image
}

// move gives a partition its place in the new image. One that is neither the volume nor
// a file nor was adopted is dropped, such as HFS+ over the same files.
func (s *system) move(p span, to arranged) (span, bool) {
	if p.count == 0 {
		return p, false
	}
	if p.whole() {
		end := to.files / diskSector
		if p.end() > s.extra || s.extra == s.size/diskSector {
			end = to.size/diskSector - s.size/diskSector + p.end()
		}
		if end <= p.start {
			end = to.size / diskSector
		}
		return span{p.start, end - p.start}, true
	}
	b, ok := to.starts[p.start*diskSector]
	if !ok {
		return p, false
	}
	moved := span{b.at / diskSector, p.count}
	if b.content != nil {
		moved.count = roundUp(b.length, diskSector) / diskSector
	}
	return moved, true
}

// end returns the size of the new image when its data end at a byte: the rest holds the backup of the GPT.
func (s *system) end(data int64) int64 {
	if s.gpt != nil {
		data += s.gpt.backup()
	}
	return roundUp(data, s.alignment(s.size/diskSector))
}

// write puts the new places into the tables, and returns the backup of the GPT, which ends the image.
func (s *system) write(c *catalog, to arranged) []byte {
	s.mbr.writeLoader(c, to)
	for i, p := range s.mbr.spans() {
		moved, ok := s.move(p, to)
		s.mbr.put(i, moved, ok)
	}
	if s.gpt == nil {
		return nil
	}
	for i, p := range s.gpt.spans() {
		moved, ok := s.move(p, to)
		// Old images of another size than their table says must not cover the backup.
		moved.count = min(moved.count, (to.size-s.gpt.backup())/diskSector-moved.start)
		s.gpt.put(i, moved, ok && moved.count > 0)
	}
	return s.gpt.write(to.size / diskSector)
}
