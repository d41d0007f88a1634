package release_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/require"

	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
)

// entry is one of a layer: a file with text, or a link.
type entry struct {
	header tar.Header
	text   string
}

func regular(path, text string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o755, Size: int64(len(text))}, text}
}

func link(kind byte, path, target string) entry {
	return entry{tar.Header{Typeflag: kind, Name: path, Linkname: target}, ""}
}

// push stores an image of layers and returns it by digest.
func push(t *testing.T, p *payload.Payload, repository string, layers ...[]entry) string {
	t.Helper()
	image := empty.Image
	for _, entries := range layers {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, e := range entries {
			require.NoError(t, w.WriteHeader(&e.header))
			_, err := io.WriteString(w, e.text)
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
		require.NoError(t, err)
		image, err = mutate.AppendLayers(image, layer)
		require.NoError(t, err)
	}
	digest, err := image.Digest()
	require.NoError(t, err)
	ref := fmt.Sprintf("%s/%s@%s", p.Address(), repository, digest)
	parsed, err := name.ParseReference(ref, name.Insecure)
	require.NoError(t, err)
	require.NoError(t, remote.Write(parsed, image, remote.WithContext(t.Context())))
	return ref
}

// references makes a release image whose installer is the given image.
func references(t *testing.T, p *payload.Payload, repository, installer string) string {
	t.Helper()
	stream := fmt.Sprintf(
		`{"kind":"ImageStream","metadata":{"name":"4.20.33"},"spec":{"tags":[{"name":"installer","from":{"name":%q}}]}}`,
		installer,
	)
	return push(t, p, repository, []entry{regular("release-manifests/image-references", stream)})
}

const program = "#!/bin/sh\necho program\n"

func TestInstallersAreFoundInLayers(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	const path = "usr/bin/openshift-install"
	for n, c := range []struct {
		name   string
		layers [][]entry
		want   string // of the error; empty: found
	}{
		{"in the last layer that has it", [][]entry{{regular(path, "old")}, {regular("./"+path, program)}, {regular("etc/x", "y")}}, ""},
		{"behind a hard link", [][]entry{{regular("usr/lib/install", program)}, {link(tar.TypeLink, path, "usr/lib/install")}}, ""},
		{"behind a relative link", [][]entry{{regular("usr/lib/install", program), link(tar.TypeSymlink, path, "../lib/install")}}, ""},
		{"behind an absolute link", [][]entry{{regular("opt/install", program), link(tar.TypeSymlink, path, "/opt/install")}}, ""},
		{"nowhere", [][]entry{{regular("etc/x", "y")}}, "does not contain usr/bin/openshift-install"},
		{
			"removed by a later layer",
			[][]entry{{regular(path, program)}, {regular("usr/bin/.wh.openshift-install", "")}},
			"does not contain usr/bin/openshift-install",
		},
		{"behind links in a circle", [][]entry{{link(tar.TypeSymlink, path, "openshift-install")}}, "too many links"},
		{"as a folder", [][]entry{{link(tar.TypeDir, path, "")}}, "require a file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, dir := open(t, p, nil)
			image := references(t, p, fmt.Sprintf("release-%d", n), push(t, p, fmt.Sprintf("installer-%d", n), c.layers...))
			i, err := r.Installer(t.Context(), release.Need{Image: image, Platform: "none", PullSecret: pullSecret})
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				require.Empty(t, programs(t, dir))
				return
			}
			require.NoError(t, err)
			i.Close()
			require.Len(t, programs(t, dir), 1)
		})
	}
}

func TestReleasesMustNameTheirInstallerByDigest(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	r, _ := open(t, p, nil)
	_, err := r.Installer(t.Context(),
		release.Need{Image: references(t, p, "r", p.Address()+"/installer:latest"), Platform: "none", PullSecret: pullSecret})
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, "require images by digest")
}
