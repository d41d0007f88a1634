// Package layout describes a file that is never written: ranges of a base file, bytes in memory and zeros, one
// after the other. An image of gigabytes with a few changed bytes consists of a few pieces.
package layout

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
)

// Piece is one part of a file. Exactly one of the three kinds: bytes of the base file
// from Offset on, Data, or zeros.
type Piece struct {
	Offset int64  // in the base file
	Length int64  // in bytes; len(Data) when there are Data
	Data   []byte // nil: of the base file, or zeros
	Zeros  bool
}

// Base makes a piece of the base file.
func Base(offset, length int64) Piece { return Piece{Offset: offset, Length: length} }

// Bytes makes a piece in memory; data must not be changed afterwards.
func Bytes(data []byte) Piece { return Piece{Data: data, Length: int64(len(data))} }

// Zeros makes a piece of nothing but zeros.
func Zeros(length int64) Piece { return Piece{Length: length, Zeros: true} }

// part returns the rest of a piece from one of its bytes on, up to length.
func (p Piece) part(from, length int64) Piece {
	if p.Data != nil {
		return Bytes(p.Data[from : from+length])
	}
	p.Length = length
	if !p.Zeros {
		p.Offset += from
	}
	return p
}

// Layout is a file of pieces. It is immutable, and safe for concurrent use.
type Layout struct {
	pieces []Piece
	starts []int64
	size   int64
}

// Of concatenates pieces. Empty ones are left out, and adjacent ranges of the base become one.
func Of(pieces ...Piece) *Layout {
	l := &Layout{}
	for _, p := range pieces {
		if p.Length <= 0 {
			continue
		}
		if last := len(l.pieces) - 1; last >= 0 && continues(l.pieces[last], p) {
			l.pieces[last].Length += p.Length
		} else {
			l.pieces = append(l.pieces, p)
			l.starts = append(l.starts, l.size)
		}
		l.size += p.Length
	}
	return l
}

func continues(a, b Piece) bool {
	if a.Data != nil || b.Data != nil || a.Zeros != b.Zeros {
		return false
	}
	return a.Zeros || a.Offset+a.Length == b.Offset
}

// Size returns the length of the file in bytes.
func (l *Layout) Size() int64 { return l.size }

// Range returns the pieces of length bytes from offset on, cut at the end of the file.
func (l *Layout) Range(offset, length int64) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		end := min(offset+length, l.size)
		if offset < 0 || offset >= end {
			return
		}
		first := sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > offset }) - 1
		for i := first; i < len(l.pieces) && l.starts[i] < end; i++ {
			from := max(offset-l.starts[i], 0)
			to := min(end-l.starts[i], l.pieces[i].Length)
			if !yield(l.pieces[i].part(from, to-from)) {
				return
			}
		}
	}
}

// Pieces returns all of them.
func (l *Layout) Pieces() []Piece { return slices.Clone(l.pieces) }

// Patch is bytes that lie over a file from Offset on.
type Patch struct {
	Offset int64
	Data   []byte
}

// Over lays patches over a file. They must lie within it and not overlap.
func (l *Layout) Over(patches ...Patch) (*Layout, error) {
	patches = slices.Clone(patches)
	slices.SortFunc(patches, func(a, b Patch) int { return int(min(max(a.Offset-b.Offset, -1), 1)) })
	var pieces []Piece
	at := int64(0)
	for _, p := range patches {
		end := p.Offset + int64(len(p.Data))
		switch {
		case p.Offset < 0 || end > l.size:
			return nil, fmt.Errorf(
				"lay %d bytes over a file: require a place within its %d bytes, found offset %d",
				len(p.Data),
				l.size,
				p.Offset,
			)
		case p.Offset < at:
			return nil, fmt.Errorf(
				"lay %d bytes over a file: another change overlaps it at offset %d",
				len(p.Data),
				p.Offset,
			)
		}
		pieces = slices.AppendSeq(pieces, l.Range(at, p.Offset-at))
		pieces = append(pieces, Bytes(p.Data))
		at = end
	}
	return Of(slices.AppendSeq(pieces, l.Range(at, l.size-at))...), nil
}

// Reader reads the file; base is the file that its ranges refer to.
func (l *Layout) Reader(base io.ReaderAt) *io.SectionReader {
	return io.NewSectionReader(reader{l, base}, 0, l.size)
}

type reader struct {
	layout *Layout
	base   io.ReaderAt
}

// ReadAt implements io.ReaderAt.
func (r reader) ReadAt(to []byte, offset int64) (int, error) {
	read := 0
	for p := range r.layout.Range(offset, int64(len(to))) {
		part := to[read : read+int(p.Length)]
		switch {
		case p.Data != nil:
			copy(part, p.Data)
		case p.Zeros:
			clear(part)
		default:
			if n, err := r.base.ReadAt(part, p.Offset); n < len(part) {
				return read + n, fmt.Errorf("read %d bytes of the base file at %d: %w", len(part), p.Offset, err)
			}
		}
		read += len(part)
	}
	if read < len(to) {
		return read, io.EOF
	}
	return read, nil
}
