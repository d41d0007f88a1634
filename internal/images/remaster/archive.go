package remaster

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cavaliergopher/cpio"
)

// alignment is the alignment the kernel requires of the archives of an initramfs, in bytes
// (Documentation/driver-api/early-userspace/buffer-format.rst).
const alignment = 4

// padding returns the number of bytes missing to the next multiple of the alignment.
func padding(size int64) int64 { return -size & (alignment - 1) }

// packedFile is a file of an archive.
type packedFile struct {
	path    string // without a slash in front
	mode    cpio.FileMode
	content []byte
}

// pack makes a gzip'ed cpio archive (newc), folders before their content. The same file gives the same bytes:
// neither format gets a time.
func pack(f packedFile) ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := cpio.NewWriter(packed)
	for _, folder := range foldersOf(f.path) {
		if err := archive.WriteHeader(&cpio.Header{Name: folder, Mode: cpio.TypeDir | 0o755, Links: 2}); err != nil {
			return nil, fmt.Errorf("pack %s: %w", folder, err)
		}
	}
	if err := archive.WriteHeader(
		&cpio.Header{Name: f.path, Mode: cpio.TypeReg | f.mode, Links: 1, Size: int64(len(f.content))},
	); err != nil {
		return nil, fmt.Errorf("pack %s: %w", f.path, err)
	}
	if _, err := archive.Write(f.content); err != nil {
		return nil, fmt.Errorf("pack %s: %w", f.path, err)
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("pack %s: %w", f.path, err)
	}
	if err := packed.Close(); err != nil {
		return nil, fmt.Errorf("pack %s: %w", f.path, err)
	}
	return append(out.Bytes(), make([]byte, padding(int64(out.Len())))...), nil
}

// foldersOf returns the parent folders of a file, the outermost first.
func foldersOf(file string) []string {
	var out []string
	for at := path.Dir(file); at != "."; at = path.Dir(at) {
		out = append(out, strings.TrimPrefix(at, "/"))
	}
	slices.Reverse(out)
	return out
}

// IgnitionRoom is the room for a config in an image, packed, in bytes, unless the image
// says otherwise (docs/reference/images.md, "Ignition area").
const IgnitionRoom = 256 << 10

// IgnitionArchive returns a config as an image holds it, where the initramfs of CoreOS finds it: config.ign in
// a gzip'ed cpio archive.
func IgnitionArchive(config []byte) ([]byte, error) {
	return pack(packedFile{"config.ign", 0o644, config})
}
