package rootfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/erofs/go-erofs"
)

// ErrNoFile: the root file system has none of the requested files.
var ErrNoFile = errors.New("no such file")

// ErrCompressed: the root file system is an EROFS image with compression, as newer
// releases of CoreOS have it.
var ErrCompressed = errors.New("require squashfs or EROFS without compression, found compressed EROFS, which cannot be read yet")

// Numbers at the beginning of file systems, and where they are.
const (
	squashfsMagic    = "hsqs"
	erofsMagic       = 0xe0f5e1e2
	erofsMagicOffset = 1024
)

// Request names a file by patterns (path.Match), of which the first match counts, and its maximum size in
// bytes.
type Request struct {
	Patterns []string
	Limit    int64
}

// File reads a file from an archive of size bytes.
func File(r io.ReaderAt, size int64, q Request) (content []byte, err error) {
	// The libraries index into what they read: an image that was damaged in transit must not crash the service.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read the root file system: the image is damaged: %v", p)
		}
	}()
	m, err := find(r, size)
	if err != nil {
		return nil, fmt.Errorf("read the root file system: %w", err)
	}
	files, err := open(io.NewSectionReader(r, m.offset, m.size))
	if err != nil {
		return nil, fmt.Errorf("read %s of the root file system: %w", m.name, err)
	}
	for _, pattern := range q.Patterns {
		found, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, fmt.Errorf("find %s in the root file system: %w", pattern, err)
		}
		if len(found) > 0 {
			return read(files, found[0], q.Limit)
		}
	}
	return nil, fmt.Errorf("read the root file system: require %v: %w", q.Patterns, ErrNoFile)
}

// open distinguishes the file systems by their content.
func open(r *io.SectionReader) (fs.FS, error) {
	start := make([]byte, erofsMagicOffset+4)
	if _, err := r.ReadAt(start, 0); err != nil {
		return nil, fmt.Errorf("require a squashfs or EROFS image, found %d bytes: %w", r.Size(), err)
	}
	switch {
	case string(start[:4]) == squashfsMagic:
		return openSquashfs(r)
	case binary.LittleEndian.Uint32(start[erofsMagicOffset:]) == erofsMagic:
		return openEROFS(r)
	}
	return nil, fmt.Errorf("require a squashfs or EROFS image, found one that begins with %q", start[:4])
}

// openEROFS opens an image without compression: the library reads no other (go-erofs 0.3.1).
func openEROFS(r *io.SectionReader) (fs.FS, error) {
	files, err := erofs.Open(r)
	if errors.Is(err, erofs.ErrNotImplemented) {
		return nil, fmt.Errorf("%w: %w", ErrCompressed, err)
	}
	return files, err
}

func read(files fs.FS, name string, limit int64) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("read %s: require a file of at most %d bytes, found %d (%v)", name, limit, info.Size(), info.Mode())
	}
	out := make([]byte, info.Size())
	if _, err := io.ReadFull(f, out); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return out, nil
}
