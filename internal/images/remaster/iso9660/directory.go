package iso9660

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	maxEntries = 100_000
	maxDepth   = 64
	maxName    = 255
)

// walker reads the tree.
type walker struct {
	in      *image
	susp    bool // fields mean something
	skip    int
	entries int
	nodes   map[string]*node
	seen    map[int64]bool // folders by offset: none is read twice, so none is its own child
}

// walk reads the whole tree from the root on, whose record is in the primary descriptor.
func (w *walker) walk(primary []byte) (*node, error) {
	rec, _, err := parseRecord(primary[156:190])
	if err != nil {
		return nil, fmt.Errorf("root directory: %w", err)
	}
	root := &node{record: rec, dir: true}
	if err := w.directory(root, 0); err != nil {
		return nil, err
	}
	w.nodes[""] = root
	return root, nil
}

// directory reads the records of a folder, and its subfolders.
func (w *walker) directory(n *node, depth int) error {
	records, err := w.records(n)
	if err != nil {
		return fmt.Errorf("folder %q: %w", "/"+n.path, err)
	}
	var open *node // a file whose last extent is still to come
	for _, rec := range records {
		switch {
		case open != nil:
			if err := w.another(open, rec); err != nil {
				return err
			}
		case rec.flags&flagAssociated != 0: // resource forks carry the name of the file they belong to
			continue
		default:
			if open, err = w.entry(n, rec); err != nil {
				return fmt.Errorf("folder %q: %w", "/"+n.path, err)
			}
		}
		if rec.flags&flagMultiExtent == 0 {
			open = nil
		}
	}
	if open != nil {
		return fmt.Errorf("file %q: the last extent is missing", open.path)
	}
	if depth == maxDepth {
		return fmt.Errorf("folder %q: require a depth of at most %d", n.path, maxDepth)
	}
	for _, child := range n.children {
		if child.dir {
			if err := w.directory(child, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// records splits a folder, and keeps its own two records apart.
func (w *walker) records(n *node) ([]record, error) {
	at := n.record.extent()
	if w.seen[at.Offset] {
		return nil, fmt.Errorf("another folder has the same place, byte %d", at.Offset)
	}
	w.seen[at.Offset] = true
	content, err := w.in.read(at.Offset, at.Length)
	if err != nil {
		return nil, err
	}
	var records []record
	for len(content) > 0 {
		block := content[:min(sector, len(content))]
		content = content[len(block):]
		for len(block) > 0 && block[0] != 0 {
			rec, length, err := parseRecord(block)
			if err != nil {
				return nil, err
			}
			block = block[length:]
			if w.entries++; w.entries > maxEntries {
				return nil, fmt.Errorf("more than %d directory records", maxEntries)
			}
			switch {
			case rec.isSelf():
				n.self.record = rec
				err = w.dot(&n.self, n.path == "")
			case rec.isUp():
				n.up.record = rec
				err = w.dot(&n.up, false)
			default:
				records = append(records, rec)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return records, nil
}

// dot reads the fields of "." and ".."; the root's say whether a file has any.
func (w *walker) dot(d *dot, root bool) (err error) {
	use := d.record.use
	if root {
		w.skip, w.susp = sharing(use)
		if i := bytes.Index(use, []byte("SP")); w.susp {
			use = use[i:] // the bytes skipped elsewhere precede it
		}
		if w.susp {
			d.fields, err = w.in.fields(use)
		}
		return err
	}
	d.fields, err = w.fieldsOf(d.record)
	return err
}

func (w *walker) fieldsOf(rec record) ([]field, error) {
	if !w.susp || len(rec.use) < w.skip {
		return nil, nil
	}
	return w.in.fields(rec.use[w.skip:])
}

// entry makes a node of a record and adds it to its folder.
func (w *walker) entry(parent *node, rec record) (*node, error) {
	fields, err := w.fieldsOf(rec)
	if err != nil {
		return nil, fmt.Errorf("record %q: %w", rec.id, err)
	}
	a := attributesOf(fields)
	if a.elsewhere {
		return nil, nil
	}
	if a.name == "" {
		a.name = rec.name()
	}
	if bad := badName(a.name); bad != "" {
		return nil, fmt.Errorf("require a name %s, found %.80q", bad, a.name)
	}
	n := &node{
		path:   strings.TrimPrefix(parent.path+"/"+a.name, "/"),
		record: rec,
		fields: fields,
		link:   a.link,
		dir:    rec.flags&flagDirectory != 0,
	}
	if a.childLink != 0 {
		if err := w.relocated(n, a.childLink); err != nil {
			return nil, fmt.Errorf("folder %q: %w", n.path, err)
		}
	}
	if _, ok := w.nodes[n.path]; ok {
		return nil, fmt.Errorf("two files have the name %q", n.path)
	}
	w.nodes[n.path] = n
	parent.children = append(parent.children, n)
	if err := w.in.spend(int64(len(n.path))); err != nil {
		return nil, err
	}
	switch {
	case !n.dir:
		return n, w.extent(n, rec)
	case rec.flags&flagMultiExtent != 0:
		return nil, fmt.Errorf("folder %q has several extents, which is not supported", n.path)
	}
	return n, nil
}

func badName(name string) string {
	switch {
	case name == "" || name == "." || name == "..":
		return "of its own"
	case len(name) > maxName:
		return fmt.Sprintf("of at most %d bytes", maxName)
	case strings.ContainsAny(name, "/\x00"):
		return "without a slash or a zero byte"
	}
	return ""
}

// relocated follows a folder that was moved because it is too deep for ECMA-119: its record describes an empty
// file. Only the folder itself has its length.
func (w *walker) relocated(n *node, block int64) error {
	b, err := w.in.read(block*sector, sector)
	if err != nil {
		return err
	}
	self, _, err := parseRecord(b)
	if err != nil {
		return err
	}
	n.dir = true
	n.record.flags |= flagDirectory
	n.record.location, n.record.length = block, self.length
	return nil
}

// another adds one more extent to a file of 4 GiB and more.
func (w *walker) another(n *node, rec record) error {
	if !bytes.Equal(rec.id, n.record.id) {
		return fmt.Errorf("file %q: require another extent, found file %q", n.path, rec.id)
	}
	return w.extent(n, rec)
}

func (w *walker) extent(n *node, rec record) error {
	at := rec.extent()
	if at.Length == 0 {
		return nil // writers put any location here
	}
	if err := w.in.within(at); err != nil {
		return fmt.Errorf("file %q: %w", n.path, err)
	}
	if last := len(n.extents) - 1; last >= 0 && n.extents[last].Length%sector != 0 {
		return fmt.Errorf("file %q: require extents of whole blocks before the last, found %d bytes", n.path, n.extents[last].Length)
	}
	n.extents = append(n.extents, at)
	return nil
}
