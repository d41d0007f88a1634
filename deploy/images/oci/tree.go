package oci

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"time"
)

// tree holds the files of a layer by their paths, which are clean and relative: "usr/bin/slipway".
type tree map[string]entry

// entry is a file, a folder or a symbolic link.
type entry struct {
	kind     byte // of archive/tar
	mode     int64
	uid, gid int
	target   string // of a link
	size     int64
	open     func() (content, error) // of a file
}

// content is the content of a file, in memory or on a disk.
type content interface {
	io.ReaderAt
	io.ReadCloser
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// noSetID removes the bits that give a program another user or group.
const noSetID = 0o1777

func (t tree) folder(name string, mode int64, owner int) {
	t[name] = entry{kind: tar.TypeDir, mode: mode & noSetID, uid: owner, gid: owner}
}

func (t tree) link(name, target string) {
	t[name] = entry{kind: tar.TypeSymlink, mode: 0o777, target: target}
}

func (t tree) file(name string, mode int64, data []byte) {
	t[name] = entry{
		kind: tar.TypeReg, mode: mode & noSetID, size: int64(len(data)),
		open: func() (content, error) { return inMemory{bytes.NewReader(data)}, nil },
	}
}

// program adds a file of this machine.
func (t tree) program(name, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("read program: %w", err)
	}
	t[name] = entry{
		kind: tar.TypeReg, mode: 0o755, size: info.Size(),
		open: func() (content, error) { return os.Open(from) },
	}
	return nil
}

// write writes the tree as a tar file in the order of paths, with the folders that files lie in. Everything has one time.
func (t tree) write(w io.Writer, at time.Time) error {
	all := maps.Clone(t)
	for name := range t {
		for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
			if _, found := all[parent]; !found {
				all.folder(parent, 0o755, 0)
			}
		}
	}
	out := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := all[name].write(out, name, at); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return out.Close()
}

func (e entry) write(out *tar.Writer, name string, at time.Time) error {
	header := &tar.Header{
		Typeflag: e.kind, Name: name, Linkname: e.target, Mode: e.mode, Uid: e.uid, Gid: e.gid, Size: e.size, ModTime: at.Truncate(time.Second),
	}
	if e.kind == tar.TypeDir {
		header.Name += "/"
	}
	if err := out.WriteHeader(header); err != nil || e.open == nil {
		return err
	}
	from, err := e.open()
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(out, from)
	return err
}
