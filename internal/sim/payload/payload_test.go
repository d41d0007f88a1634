package payload_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload"
)

func TestServeListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:5000", "localhost", ":5000"} {
		_, err := payload.Serve(t.Context(), payload.Options{Address: address, InstallerCommand: []string{"/bin/true"}})
		require.ErrorContains(t, err, "require a loopback address and port", address)
	}
	_, err := payload.Serve(t.Context(), payload.Options{})
	require.ErrorContains(t, err, "an installer command is required")
}

func TestReleasesAreTheSameInEveryRun(t *testing.T) {
	t.Parallel()
	opts := payload.Options{
		Versions:         []string{"4.20.33", "4.19.42"},
		Architecture:     "amd64",
		InstallerCommand: []string{"/opt/it's here", "sim-installer"},
	}
	var digests []string
	for range 2 {
		p, err := payload.Serve(t.Context(), opts)
		require.NoError(t, err)
		opts.Address = p.Address() // the second one takes the place of the first
		require.Equal(t, p.Address()+"/openshift-release-dev/ocp-release:4.20.33-x86_64", p.ReleaseImage("4.20.33"))
		require.Empty(t, p.ReleaseImage("4.1.0"))
		answer, err := http.Head("http://" + p.Address() + "/v2/openshift-release-dev/ocp-release/manifests/4.20.33-x86_64")
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode)
		digests = append(digests, answer.Header.Get("Docker-Content-Digest"))
		require.NoError(t, p.Close())
		require.NoError(t, p.Close(), "closing again does nothing")
	}
	require.NotEmpty(t, digests[0])
	require.Equal(t, digests[0], digests[1])
}

func TestReleasesOfOKDHaveTheirOwnNamesAndSystem(t *testing.T) {
	t.Parallel()
	p, err := payload.Serve(t.Context(), payload.Options{
		Versions: []string{"4.20.0-okd-scos.13"}, Architecture: "amd64", InstallerCommand: []string{"/bin/true"},
	})
	require.NoError(t, err)
	defer p.Close()
	image := p.Address() + "/okd/scos-release:4.20.0-okd-scos.13"
	require.Equal(t, image, p.ReleaseImage("4.20.0-okd-scos.13"))
	ref, err := name.ParseReference(image, name.Insecure)
	require.NoError(t, err)
	release, err := remote.Image(ref)
	require.NoError(t, err)
	files, err := io.ReadAll(mutate.Extract(release))
	require.NoError(t, err)
	require.Contains(t, string(files), `"name": "stream-coreos"`)
	require.Contains(t, string(files), "/okd/scos-content@sha256:")
	require.NotContains(t, string(files), "rhel-coreos")
}
