package iso9660

import (
	"fmt"
	"io"

	"slipway/internal/images/remaster/layout"
)

// Remastered is a new image over the old one: ranges of it, and what changed in memory.
type Remastered struct {
	Layout *layout.Layout
	nodes  map[string]*node
	empty  int64
}

// File returns where a file is in the new image.
func (m *Remastered) File(path string) (Extent, bool) {
	n, ok := m.nodes[clean(path)]
	switch {
	case !ok || n.dir || n.link != "":
		return Extent{}, false
	case n.data == nil:
		return Extent{Offset: m.empty}, true
	}
	return Extent{Offset: n.data.at, Length: n.data.length}, true
}

// Remaster makes a new image: other directories and boot tables, and the same files but
// for the changes. Of the old image r only those, and boot loaders of some KiB, are
// read; files are ranges of it. The same image and changes make the same bytes.
//
// The new image has a directory with Rock Ridge where the old one has it. Joliet is
// dropped: only readers without Rock Ridge use it, and none of them boots these images.
// So are UDF and HFS+, and checksums of the whole image, which do not hold any more.
func (v *Volume) Remaster(r io.ReaderAt, changes ...Change) (*Remastered, error) {
	t := v.tree()
	for _, c := range changes {
		if err := t.apply(c); err != nil {
			return nil, fmt.Errorf("remaster ISO image: file %q: %w", c.Path, err)
		}
	}
	p, err := v.plan(&image{r: r, size: v.Size, left: maxMetadata}, t)
	if err == nil {
		err = p.arrange()
	}
	if err != nil {
		return nil, fmt.Errorf("remaster ISO image: %w", err)
	}
	return &Remastered{Layout: p.layout(), nodes: t.nodes, empty: p.empty}, nil
}

// plan is everything that the new image consists of.
type plan struct {
	descriptors
	system  *system
	views   []view
	catalog *catalog // nil: no El Torito
	loaders []loader
	folders []*folder
	to      arranged
	table   int64 // block where the path tables begin
	// empty is the place of files without data, a block of its own before all others: tools that compare places
	// would mistake them for another file.
	empty int64
}

// plan collects what the new image is made of.
func (v *Volume) plan(in *image, t *tree) (*plan, error) {
	p := &plan{}
	var err error
	if p.descriptors, err = readDescriptors(in); err != nil {
		return nil, err
	}
	if p.system, err = readSystem(in); err != nil {
		return nil, err
	}
	p.views = []view{{primary: p.primary}}
	if second, ok, err := secondView(in, p.system); err != nil {
		return nil, err
	} else if ok {
		p.views = append(p.views, second)
	}
	if err := p.gather(in, t); err != nil {
		return nil, err
	}
	p.folders, err = t.folders()
	return p, err
}

// gather collects all content, and what boots.
func (p *plan) gather(in *image, t *tree) (err error) {
	if p.boot != nil {
		if p.catalog, err = readCatalog(in, p.boot, t); err != nil {
			return err
		}
	}
	p.to.blobs = t.collect(p.catalog)
	p.system.adopt(p.to.blobs, t.removed)
	if p.catalog == nil {
		return nil
	}
	if err := p.catalog.adopt(in, p.to.blobs, t.removed); err != nil {
		return err
	}
	p.loaders, err = p.catalog.loaders(in, p.to.blobs)
	return err
}

// arrange gives everything its place: descriptors, path tables, folders, files.
func (p *plan) arrange() error {
	p.table = systemArea/sector + 3 // the primary descriptor, El Torito's, the end
	if p.boot == nil {
		p.table--
	}
	if len(p.views) > 1 {
		p.table = secondVolume + systemArea/sector + 2
	}
	block := p.table + 2*p.tableBlocks()
	for _, f := range p.folders {
		f.block = block
		block += f.blocks()
	}
	for i := range p.views {
		p.views[i].behind = int64(i) * (block - p.table)
	}
	p.empty = (p.table + int64(len(p.views))*(block-p.table)) * sector
	files, end, err := p.to.arrange(p.empty+sector, p.system.alignment(p.system.extra))
	if err != nil {
		return err
	}
	p.to.files, p.to.size = files, p.system.end(end)
	return nil
}

// layout writes everything, now that all places are known.
func (p *plan) layout() *layout.Layout {
	for _, l := range p.loaders {
		l.write()
	}
	if p.catalog != nil {
		p.catalog.write(p.to.blobs)
	}
	backup := p.system.write(p.catalog, p.to)
	metadata := append(p.system.area, p.writeDescriptors()...)
	for _, v := range p.views {
		metadata = append(metadata, p.writeTree(v)...)
	}
	pieces, end := []layout.Piece{layout.Bytes(metadata), layout.Zeros(sector)}, p.empty+sector
	for _, b := range p.to.list {
		pieces = append(append(pieces, layout.Zeros(b.at-end)), b.pieces(p.system.size)...)
		end = b.at + roundUp(b.length, sector)
	}
	return layout.Of(append(pieces, layout.Zeros(p.to.size-end-int64(len(backup))), layout.Bytes(backup))...)
}
