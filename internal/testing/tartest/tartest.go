// Package tartest reads archives for tests.
package tartest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files returns the entries of a tar archive by their names.
func Files(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	return entries(t, bytes.NewReader(archive))
}

// FilesGzip returns the entries of a tar archive packed by gzip.
func FilesGzip(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	return entries(t, unpacked)
}

func entries(t *testing.T, archive io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		files[header.Name] = string(content)
	}
}
