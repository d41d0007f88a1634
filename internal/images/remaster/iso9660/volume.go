// Package iso9660 reads the directory of an ISO 9660 image (ECMA-119 with the Rock Ridge
// names of IEEE P1282), and makes a new image of its files without copying them: fresh
// directories and boot tables in memory, and the files as ranges of the old image.
//
// An image comes from a download, so nothing in it is believed: every number is checked
// against the size of the image, and all that is read and kept has a limit.
package iso9660

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	sector     = 2048        // bytes of a logical block, the only size in use
	systemArea = 16 * sector // bytes in front of the volume descriptors, free for boot code
)

// Extent is a range of bytes in the image.
type Extent struct{ Offset, Length int64 }

func (e Extent) end() int64 { return e.Offset + e.Length }

// File is a file, folder or symbolic link of an image.
type File struct {
	Path    string   // without a slash in front: "images/pxeboot/rootfs.img"
	Dir     bool     // a folder; it has no extents
	Link    string   // what a symbolic link points to
	Extents []Extent // where the data lie, in order; several for 4 GiB and more
}

// Size returns the length of the file in bytes.
func (f File) Size() int64 {
	size := int64(0)
	for _, e := range f.Extents {
		size += e.Length
	}
	return size
}

// Volume is the directory of an image. It is immutable, and safe for concurrent use.
type Volume struct {
	Label string // volume identifier: "rhcos-418.94.202501221327-0"
	Size  int64  // bytes of the image, with what follows the volume

	rockRidge bool
	root      *node
	nodes     map[string]*node
}

// Read reads the directory of an image of size bytes: Rock Ridge names if the image has them, else the ISO
// names in lower case and without a version. Joliet names are ignored.
func Read(r io.ReaderAt, size int64) (*Volume, error) {
	in := &image{r: r, size: size, left: maxMetadata}
	set, err := readDescriptors(in)
	if err != nil {
		return nil, fmt.Errorf("read ISO image: %w", err)
	}
	w := &walker{in: in, nodes: map[string]*node{}, seen: map[int64]bool{}}
	root, err := w.walk(set.primary)
	if err != nil {
		return nil, fmt.Errorf("read ISO image: %w", err)
	}
	return &Volume{Label: label(set.primary), Size: size, rockRidge: w.susp, root: root, nodes: w.nodes}, nil
}

// File finds a file by its path.
func (v *Volume) File(path string) (File, bool) {
	n, ok := v.nodes[clean(path)]
	if !ok {
		return File{}, false
	}
	return n.file(), true
}

// Files lists all files, folders and symbolic links but the root, sorted by path.
func (v *Volume) Files() []File {
	files := make([]File, 0, len(v.nodes))
	for path, n := range v.nodes {
		if path != "" {
			files = append(files, n.file())
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// node is one entry of the tree, with everything that a new image needs of it.
type node struct {
	path     string
	record   record  // its (first) record in the folder above
	fields   []field // the system use fields of that record, continuations included
	dir      bool
	link     string
	extents  []Extent
	children []*node // in the order of the image, by ISO names

	self, up dot // a folder's own records "." and ".."

	data   *blob   // filled by Remaster in its copy of the tree, nil for an empty file
	folder *folder // filled by Remaster
}

// dot is a record of a folder for itself or for the one above.
type dot struct {
	record record
	fields []field
}

func (n *node) file() File {
	return File{Path: n.path, Dir: n.dir, Link: n.link, Extents: slices.Clone(n.extents)}
}
