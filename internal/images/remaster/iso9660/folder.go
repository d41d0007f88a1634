package iso9660

import (
	"fmt"
	"slices"
)

// folder is a directory of the new image.
type folder struct {
	node    *node
	up      *folder // the root's is itself
	number  int     // in the path tables, from 1
	entries []entry
	records int64 // bytes of the records, in whole blocks
	more    int64 // blocks of continuations behind them
	block   int64 // where the records begin
}

// entry is one record to be written.
type entry struct {
	record record
	target *node
	extent int // of the target's data
	parts  [][]field
}

func (e entry) length() int { return recordLength(len(e.record.id), partLength(e.parts, 0)) }

// folders lists the directories as path tables have them (ECMA-119, 6.9.1): by depth,
// then by their parents, then by name.
func (t *tree) folders() ([]*folder, error) {
	root := &folder{node: t.root}
	root.up = root
	all := []*folder{root}
	for i := 0; i < len(all); i++ {
		f := all[i]
		f.number, f.node.folder = i+1, f
		if err := f.list(t.rockRidge); err != nil {
			return nil, fmt.Errorf("folder %q: %w", "/"+f.node.path, err)
		}
		for _, child := range f.node.children {
			if child.dir {
				all = append(all, &folder{node: child, up: f})
			}
		}
	}
	if len(all) > 0xffff {
		return nil, fmt.Errorf("require at most %d folders, found %d", 0xffff, len(all))
	}
	return all, nil
}

// list makes the records of a folder, and counts what they take.
func (f *folder) list(rockRidge bool) error {
	self := kept(f.node.self.fields)
	if rockRidge && f.up == f {
		self = slices.Insert(self, 0, sp())
	}
	if err := f.add(f.node.self.record, 0, f.node, self); err != nil {
		return err
	}
	if err := f.add(f.node.up.record, 1, f.up.node, kept(f.node.up.fields)); err != nil {
		return err
	}
	for _, n := range f.node.children {
		fields := kept(n.fields)
		for i := range max(1, n.pieces()) {
			if err := f.addEntry(entry{record: n.record, target: n, extent: i}, fields); err != nil {
				return fmt.Errorf("%q: %w", n.path, err)
			}
		}
	}
	f.measure()
	return nil
}

// pieces counts the extents of a file's data.
func (n *node) pieces() int {
	if n.data == nil || n.data.content != nil {
		return 1
	}
	return len(n.data.extents)
}

// add adds one of the records a folder has for itself and for the one above.
func (f *folder) add(rec record, id byte, target *node, fields []field) error {
	rec.id, rec.flags, rec.sequence = []byte{id}, rec.flags|flagDirectory, max(1, rec.sequence)
	return f.addEntry(entry{record: rec, target: target}, fields)
}

func (f *folder) addEntry(e entry, fields []field) (err error) {
	e.record.flags &^= flagMultiExtent
	if e.extent < e.target.pieces()-1 {
		e.record.flags |= flagMultiExtent
	}
	e.parts, err = pack(fields, maxRecord-recordLength(len(e.record.id), 0))
	f.entries = append(f.entries, e)
	return err
}

func (f *folder) measure() {
	var more continuations
	used := int64(0)
	for _, e := range f.entries {
		used = inBlock(used, e.length()) + int64(e.length())
		for i := range e.parts[1:] {
			more.place(partLength(e.parts, i+1))
		}
	}
	f.records, f.more = roundUp(used, sector), more.blocks()
}

// inBlock returns where a record may begin that must not cross a block.
func inBlock(at int64, length int) int64 {
	if at%sector+int64(length) > sector {
		return roundUp(at, sector)
	}
	return at
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

func (f *folder) blocks() int64 { return f.records/sector + f.more }

// id returns the folder's ISO name; the root has none.
func (f *folder) id() []byte {
	if f.up == f {
		return []byte{0}
	}
	return f.node.record.id
}

// bytes writes the folder for a view. All places are known by now; empty is the place of files
// without data.
func (f *folder) bytes(v view, empty int64) []byte {
	var more continuations
	out := make([]byte, 0, f.blocks()*sector)
	for _, e := range f.entries {
		out = append(out, make([]byte, inBlock(int64(len(out)), e.length())-int64(len(out)))...)
		use := more.write(e.parts, v.block(f.block)+f.records/sector)
		out = e.record.append(out, e.place(v, empty), use)
	}
	out = append(out, make([]byte, f.records-int64(len(out)))...)
	out = append(out, more.out...)
	return append(out, make([]byte, f.blocks()*sector-int64(len(out)))...)
}

// place finds the target of a record in a view.
func (e entry) place(v view, empty int64) Extent {
	at := Extent{Offset: empty}
	switch f := e.target.folder; {
	case f != nil:
		return Extent{Offset: v.block(f.block) * sector, Length: f.records}
	case e.target.data != nil:
		at = e.target.data.place(e.extent)
	}
	at.Offset -= v.shift * sector
	return at
}
