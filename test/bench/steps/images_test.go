package steps_test

import (
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

const (
	imageRegistry = gateway + ":5000"
	silentServer  = gateway + ":5001"
	imageSize     = 4 << 20
)

// serveImages starts a registry with one image, and a server that never answers.
func (h *host) serveImages(t *testing.T) (image string) {
	t.Helper()
	h.lan.serve(t, imageRegistry, registry.New(registry.Logger(log.New(io.Discard, "", 0)))).Start()
	over := make(chan struct{})
	silent := h.lan.serve(t, silentServer, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	silent.Start()
	t.Cleanup(func() { close(over) })
	reference, err := name.ParseReference(imageRegistry+"/bench/tools:1", name.Insecure)
	require.NoError(t, err)
	content, err := random.Image(imageSize/2, 2)
	require.NoError(t, err)
	require.NoError(
		t,
		remote.Write(reference, content, remote.WithTransport(&http.Transport{DialContext: h.lan.Dial, DisableKeepAlives: true})),
	)

	// What the discovery image and the machine would have in /etc.
	for file, text := range map[string]string{
		"storage.conf": "[storage]\ndriver = \"vfs\"\nrunroot = \"/run/containers\"\ngraphroot = \"" + h.dir + "/containers\"\n",
		"registries.conf.d/50-bench.conf": "[[registry]]\nlocation = \"" + imageRegistry + "\"\ninsecure = true\n[[registry]]\nlocation " +
			"= \"" + silentServer + "\"\ninsecure = true\n",
	} {
		path := filepath.Join(h.dir, "etc/containers", file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return reference.Name()
}

func TestImagesArePulledAndMeasured(t *testing.T) {
	t.Parallel()
	h := newHost(t, "images", "podman")
	image := h.serveImages(t)
	h.start(t)
	request := func(timeout int, images ...string) string {
		return argument(t, wire.ContainerImageAvailabilityRequest{Images: images, Timeout: timeout})
	}
	pulled := answer[wire.ContainerImageAvailabilityResponse](t, h, wire.StepTypeContainerImageAvailability, request(100, image))
	require.Len(t, pulled.Images, 1)
	found := pulled.Images[0]
	require.Equal(t, image, found.Name)
	require.Equal(t, wire.ContainerImageAvailabilityResultSuccess, found.Result)
	require.InDelta(t, imageSize, found.SizeBytes, imageSize/10)
	require.Positive(t, found.Time)
	require.InEpsilon(t, found.SizeBytes/found.Time, found.DownloadRate, 0.01)

	again := answer[wire.ContainerImageAvailabilityResponse](t, h, wire.StepTypeContainerImageAvailability, request(100, image))
	require.Equal(
		t,
		[]wire.ContainerImageAvailability{{Name: image, Result: wire.ContainerImageAvailabilityResultSuccess}},
		again.Images,
		"it is there",
	)

	for other, c := range map[string]struct {
		timeout int
		says    string
	}{
		imageRegistry + "/bench/other:1": {100, "unknown"},
		silentServer + "/bench/tools:1":  {2, "timed out after 2s"},
	} {
		reply := h.ask(t, wire.StepTypeContainerImageAvailability, request(c.timeout, other, image))
		require.Equal(t, 2, reply.ExitCode, other)
		require.JSONEq(t, `{"images":[{"name":"`+other+`","result":"failure"},{"name":"`+image+`","result":"success"}]}`, reply.Output)
		require.Contains(t, reply.Error, c.says)
	}
}
