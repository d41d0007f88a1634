package oci

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layer compresses the tree once, into a file that the layer is read from.
func (t tree) layer(file string, at time.Time) (v1.Layer, error) {
	out, err := os.Create(file)
	if err != nil {
		return nil, fmt.Errorf("write layer: %w", err)
	}
	compressed := gzip.NewWriter(out) // whose header has no time and no name
	if err := errors.Join(t.write(compressed, at), compressed.Close(), out.Close()); err != nil {
		return nil, fmt.Errorf("write layer: %w", err)
	}
	return tarball.LayerFromFile(file, tarball.WithMediaType(types.OCILayer))
}

// Archive writes the folder of an image layout as a tar file, in the order of paths and with one time, for programs that load archives.
func Archive(folder, file string, at time.Time) error {
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	files := tree{}
	walked := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		files[name] = entry{
			kind: tar.TypeReg, mode: 0o644, size: info.Size(), open: func() (content, error) { return os.Open(path) },
		}
		return err
	})
	return errors.Join(walked, files.write(out, at), out.Close())
}
