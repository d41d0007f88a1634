package iso9660

import (
	"cmp"
	"fmt"
	"slices"

	"slipway/internal/images/remaster/layout"
)

// blob is the content of a file in the new image, or of several files that share it.
type blob struct {
	extents []Extent // in the old image, each but the last of whole blocks; or
	content []byte   // in memory
	offsets []int64  // of the extents in the content
	length  int64
	was     int64 // where it, or what it replaces, begins in the old image; -1: nowhere
	extra   bool  // belongs to no file
	at      int64 // where it begins in the new image
}

// oldBlob makes a blob of content of the old image. What is in memory instead may be filled later.
func oldBlob(extents ...Extent) *blob {
	b := &blob{extents: extents, was: extents[0].Offset}
	for _, e := range extents {
		b.offsets = append(b.offsets, b.length)
		b.length += e.Length
	}
	return b
}

// newBlob makes a blob of content in memory, in the place of what was at an offset (-1: of nothing).
func newBlob(content []byte, was int64) *blob {
	return &blob{content: content, length: int64(len(content)), was: was}
}

// place returns where an extent is in the new image: extents follow each other.
func (b *blob) place(extent int) Extent {
	if b.content != nil {
		return Extent{Offset: b.at, Length: b.length}
	}
	return Extent{Offset: b.at + b.offsets[extent], Length: b.extents[extent].Length}
}

// pieces returns the content in whole blocks. The rest of the last block is taken from the old
// image where it has one, so that neighbours stay one range.
func (b *blob) pieces(size int64) []layout.Piece {
	rest := roundUp(b.length, sector) - b.length
	if b.content != nil {
		return []layout.Piece{layout.Bytes(b.content), layout.Zeros(rest)}
	}
	var pieces []layout.Piece
	for _, e := range b.extents {
		pieces = append(pieces, layout.Base(e.Offset, e.Length))
	}
	if end := b.extents[len(b.extents)-1].end(); end+rest <= size {
		return append(pieces, layout.Base(end, rest))
	}
	return append(pieces, layout.Zeros(rest))
}

// blobs are all contents of the new image.
type blobs struct {
	list   []*blob
	starts map[int64]*blob // by their place in the old image
}

// collect gathers the contents of a tree; what several files share goes out once. The
// boot catalogue (nil: none) is one of them, even when no file shows it.
func (t *tree) collect(c *catalog) *blobs {
	all := &blobs{starts: map[int64]*blob{}}
	shared := map[string]*blob{}
	var catalogue *blob
	if c != nil {
		catalogue = newBlob(c.content, c.was)
		all.add(catalogue)
		t.each(func(n *node) {
			if n.offset() == c.was {
				n.extents, n.data = nil, catalogue
			}
		})
	}
	t.each(func(n *node) {
		if n.dir || len(n.extents) == 0 {
			return
		}
		key := fmt.Sprint(n.extents)
		if shared[key] == nil {
			shared[key] = oldBlob(n.extents...)
			all.add(shared[key])
		}
		n.data = shared[key]
	})
	// After the kept files: where a replaced file and a kept one were the same, boot
	// tables mean the kept one.
	t.each(func(n *node) {
		if n.data != nil && n.data.content != nil && n.data != catalogue {
			all.add(n.data)
		}
	})
	return all
}

// each visits every entry, in the order of the tree.
func (t *tree) each(visit func(*node)) {
	var below func(n *node)
	below = func(n *node) {
		visit(n)
		for _, child := range n.children {
			below(child)
		}
	}
	below(t.root)
}

func (a *blobs) add(b *blob) {
	a.list = append(a.list, b)
	if _, taken := a.starts[b.was]; !taken && b.was >= 0 {
		a.starts[b.was] = b
	}
}

// extra keeps a range that belongs to no file, such as an appended partition.
func (a *blobs) extra(e Extent) {
	b := oldBlob(e)
	b.extra = true
	a.add(b)
}

// overlap reports whether a range contains data of a file.
func (a *blobs) overlap(e Extent) bool {
	return slices.ContainsFunc(a.list, func(b *blob) bool {
		return slices.ContainsFunc(b.extents, func(o Extent) bool { return o.Offset < e.end() && e.Offset < o.end() })
	})
}

// arrange gives every blob its place from a byte on, and returns where the files end and where everything does.
// Old content keeps its order, so that most of it stays in long ranges; new files follow, and then, from a
// multiple of align on, content that belongs to no file.
func (a *blobs) arrange(at, align int64) (files, end int64, err error) {
	rank := func(b *blob) int {
		switch {
		case b.extra:
			return 2
		case b.was < 0:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(a.list, func(x, y *blob) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.was, y.was))
	})
	files = at
	for _, b := range a.list {
		if b.extra && at == files {
			at = roundUp(at, align)
			files = at
		}
		b.at = at
		at += roundUp(b.length, sector)
		if at > maxImage {
			return 0, 0, fmt.Errorf("the image is longer than %d bytes", int64(maxImage))
		}
		if !b.extra {
			files = at
		}
	}
	return files, at, nil
}

// maxImage is the limit of the 32 bit block numbers of ECMA-119.
const maxImage = (1<<32 - 1) * sector

// newOffset returns where a byte of the old image is in the new one: the beginning of a file, or a byte within
// an unchanged file.
func (a *blobs) newOffset(old int64) (int64, bool) {
	if b, ok := a.starts[old]; ok {
		return b.at, true
	}
	for _, b := range a.list {
		for i, e := range b.extents {
			if e.Offset <= old && old < e.end() {
				return b.at + b.offsets[i] + old - e.Offset, true
			}
		}
	}
	return 0, false
}
