package images_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cavaliergopher/cpio"
	"github.com/stretchr/testify/require"

	"slipway/internal/images/remaster/iso9660"
	"slipway/internal/testing/isotest"
)

// liveISO makes a live ISO of the least size that is one: a root file system of 100 MiB
// and a kernel of 5 MiB.
func liveISO(t *testing.T, label string) string {
	t.Helper()
	dir := t.TempDir()
	rootfs, kernel := filepath.Join(dir, "rootfs.img"), filepath.Join(dir, "vmlinuz")
	noise(t, rootfs, 100<<20)
	noise(t, kernel, 5<<20)
	small := isotest.Build(t, isotest.Options{Label: label, RootfsFile: rootfs})
	path := filepath.Join(dir, label+".iso")
	out, err := exec.Command("xorriso", "-indev", small, "-outdev", path, "-boot_image", "any", "replay",
		"-update", kernel, "/images/pxeboot/vmlinuz").CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.Remove(small))
	return path
}

func noise(t *testing.T, path string, size int) {
	t.Helper()
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(len(path))}).Read(content)
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

// iso is an image with its directory.
type iso struct {
	*iso9660.Volume
	content []byte
}

func readISO(t *testing.T, path string) *iso {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	volume, err := iso9660.Read(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	return &iso{volume, content}
}

// file reads a file of the image.
func (i *iso) file(t *testing.T, path string) []byte {
	t.Helper()
	f, found := i.File(path)
	require.True(t, found, "the image has no %s", path)
	var content []byte
	for _, e := range f.Extents {
		content = append(content, i.content[e.Offset:e.Offset+e.Length]...)
	}
	return content
}

// ignition reads the config that is embedded in the image.
func (i *iso) ignition(t *testing.T) []byte {
	t.Helper()
	return configOf(t, i.file(t, "images/ignition.img"))
}

// configOf reads config.ign of a packed archive with zeros behind it.
func configOf(t *testing.T, packed []byte) []byte {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	unpacked.Multistream(false)
	archive := cpio.NewReader(unpacked)
	for {
		header, err := archive.Next()
		require.NoError(t, err, "there is no config.ign")
		if header.Name == "config.ign" {
			content, err := io.ReadAll(archive)
			require.NoError(t, err)
			return content
		}
	}
}

// areas lists the ranges of a live ISO that an image may change: the Ignition config, and kernel arguments.
func (i *iso) areas(t *testing.T) []iso9660.Extent {
	t.Helper()
	var kargs struct {
		Size  int64
		Files []struct {
			Path   string
			Offset int64
		}
	}
	require.NoError(t, json.Unmarshal(i.file(t, "coreos/kargs.json"), &kargs))
	ignition, _ := i.File("images/ignition.img")
	areas := ignition.Extents
	for _, f := range kargs.Files {
		file, found := i.File(f.Path)
		require.True(t, found)
		areas = append(areas, iso9660.Extent{Offset: file.Extents[0].Offset + f.Offset, Length: kargs.Size})
	}
	return areas
}

// without returns the content with zeros in some ranges.
func without(content []byte, areas []iso9660.Extent) []byte {
	content = bytes.Clone(content)
	for _, a := range areas {
		clear(content[a.Offset : a.Offset+a.Length])
	}
	return content
}
