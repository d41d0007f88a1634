package iso9660

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Change is one difference between an image and the new one made of it.
type Change struct {
	Path    string // as in File; the folder exists
	Remove  bool
	Content []byte // of a file that is replaced or added; not changed afterwards
}

// tree is a copy of a volume's directory that can be changed.
type tree struct {
	root      *node
	nodes     map[string]*node
	rockRidge bool
	removed   map[int64]string // removed files, by offset in the old image
}

func (v *Volume) tree() *tree {
	t := &tree{nodes: make(map[string]*node, len(v.nodes)), rockRidge: v.rockRidge, removed: map[int64]string{}}
	t.root = t.copy(v.root)
	return t
}

func (t *tree) copy(n *node) *node {
	c := *n
	c.children = make([]*node, len(n.children))
	for i, child := range n.children {
		c.children[i] = t.copy(child)
	}
	t.nodes[c.path] = &c
	return &c
}

func (t *tree) apply(c Change) error {
	name := clean(c.Path)
	n, found := t.nodes[name]
	switch {
	case found && (n.dir || n.link != ""):
		return fmt.Errorf("is a folder or a symbolic link, not a file")
	case c.Remove && !found:
		return fmt.Errorf("does not exist and cannot be removed")
	case int64(len(c.Content)) > maxContent:
		return fmt.Errorf("require at most %d bytes of new content, found %d", int64(maxContent), len(c.Content))
	case c.Remove:
		t.remove(n)
		return nil
	case !found:
		var err error
		if n, err = t.add(name); err != nil {
			return err
		}
	}
	t.fill(n, c.Content)
	return nil
}

// fill replaces the content of a file.
func (t *tree) fill(n *node, content []byte) {
	was := n.offset()
	n.extents, n.data = nil, nil
	if len(content) > 0 {
		n.data = newBlob(content, was)
	} else if was >= 0 {
		t.removed[was] = n.path
	}
	// The length in this field counts compressed content, which it no longer is.
	n.fields = slices.DeleteFunc(slices.Clone(n.fields), func(f field) bool { return f.is("ZF") })
}

// maxContent is the most one extent holds.
const maxContent = 1<<32 - sector

// offset returns where a file begins in the old image, -1 for a new or empty one.
func (n *node) offset() int64 {
	switch {
	case n.data != nil:
		return n.data.was
	case len(n.extents) == 0:
		return -1
	}
	return n.extents[0].Offset
}

func (t *tree) remove(n *node) {
	if at := n.offset(); at >= 0 {
		t.removed[at] = n.path
	}
	parent := t.parent(n.path)
	parent.children = slices.DeleteFunc(parent.children, func(c *node) bool { return c == n })
	delete(t.nodes, n.path)
}

// parent returns the folder of a path, nil when it does not exist.
func (t *tree) parent(name string) *node {
	dir := path.Dir(name)
	if dir == "." {
		dir = ""
	}
	return t.nodes[dir]
}

// clean makes a path one as in File.
func clean(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// add makes a new file. Attributes it does not have, such as an owner and times, come from its folder, so
// that the same changes make the same image.
func (t *tree) add(name string) (*node, error) {
	parent := t.parent(name)
	if parent == nil || !parent.dir {
		return nil, fmt.Errorf("its folder does not exist")
	}
	base := path.Base(name)
	if bad := badName(base); bad != "" {
		return nil, fmt.Errorf("require a name %s, found %.80q", bad, base)
	}
	rec := record{id: newID(parent, base), date: parent.self.record.date, sequence: max(1, parent.self.record.sequence)}
	n := &node{path: name, record: rec}
	if t.rockRidge {
		n.fields = newFields(base, parent.self.fields)
	} else if n.record.name() != base {
		return nil, fmt.Errorf("require a name of ISO characters in an image without Rock Ridge, found %.80q", base)
	}
	at, _ := slices.BinarySearchFunc(parent.children, n, func(a, b *node) int { return compareIDs(a.record.id, b.record.id) })
	parent.children = slices.Insert(parent.children, at, n)
	t.nodes[name] = n
	return n, nil
}

// compareIDs orders as ECMA-119, 9.3: by name, then by extension.
func compareIDs(a, b []byte) int {
	nameA, extensionA := splitID(a)
	nameB, extensionB := splitID(b)
	if c := strings.Compare(nameA, nameB); c != 0 {
		return c
	}
	return strings.Compare(extensionA, extensionB)
}

func splitID(id []byte) (name, extension string) {
	all, _, _ := strings.Cut(string(id), ";")
	name, extension, _ = strings.Cut(all, ".")
	return name, extension
}

// newID makes the ISO name of a new file: up to 31 characters of A to Z, 0 to 9 and _,
// one of its kind in the folder.
func newID(parent *node, name string) []byte {
	extension := path.Ext(name)
	name = d(strings.TrimSuffix(name, extension), 26)
	extension = d(strings.TrimPrefix(extension, "."), 30-len(name))
	for i := 0; ; i++ {
		id := name + "." + extension + ";1"
		if i > 0 {
			id = fmt.Sprintf("%s%d.%s;1", name[:min(len(name), 30-len(extension)-6)], i, extension)
		}
		taken := func(c *node) bool { return compareIDs(c.record.id, []byte(id)) == 0 }
		if !slices.ContainsFunc(parent.children, taken) {
			return []byte(id)
		}
	}
}

// d turns a name into d-characters (ECMA-119, 7.4.1).
func d(name string, length int) string {
	legal := func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}
	name = strings.Map(legal, strings.ToUpper(name))
	return name[:min(len(name), length)]
}
