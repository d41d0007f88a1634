package imageservice_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cavaliergopher/cpio"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/download"
	"slipway/internal/images/imageservice"
	"slipway/internal/images/liveisos"
	"slipway/internal/images/remaster/iso9660"
	"slipway/internal/testing/httpclient"
	"slipway/internal/testing/isotest"
)

// imageService is an image service on real TCP, beside an API.
type imageService struct {
	*service
	api   *countingTransport
	meter *imageMeter
}

const imageURL = "http://images.example:8092"

// newImageService starts one beside an API; path is the live ISO of the versions.
func newImageService(t *testing.T, s *service, path string, change func(*imageservice.Options)) *imageService {
	t.Helper()
	var list openshift.OSImages
	for _, version := range []string{"4.22", "4.16"} {
		for _, arch := range []string{"x86_64", "arm64", "s390x"} {
			list = append(
				list,
				openshift.OSImage{OpenShiftVersion: version, CPUArchitecture: arch, Version: "9.6", Path: path, URL: "file://" + path},
			)
		}
	}
	list = append(
		list,
		openshift.OSImage{
			OpenShiftVersion: "4.22",
			CPUArchitecture:  "x86_64",
			Version:          "9.6",
			Path:             path,
			URL:              "file://" + path,
			Type:             openshift.TypeDisconnectedISO,
		},
	)
	// One that is available for download, and never downloaded.
	list = append(
		list,
		openshift.OSImage{OpenShiftVersion: "4.22.9", CPUArchitecture: "ppc64le", Version: "9.6", URL: "http://mirror.invalid/a.iso"},
	)
	store, err := liveisos.Open(liveisos.Options{Folder: t.TempDir(), Images: list, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	require.NoError(t, err)
	i := &imageService{api: &countingTransport{next: httpclient.New(t).Transport}, meter: &imageMeter{ended: make(chan struct{}, 1000)}}
	options := imageservice.Options{
		Images: store, API: i.api, APIURL: s.url, BaseURL: imageURL, Log: slog.New(slog.NewJSONHandler(s.logged, nil)), Now: time.Now,
		Meter: i.meter,
	}
	if change != nil {
		change(&options)
	}
	server := httptest.NewUnstartedServer(imageservice.New(options))
	server.Config.ConnContext = download.ConnContext
	server.Start()
	t.Cleanup(server.Close)
	i.service = &service{t: t, url: server.URL}
	return i
}

// get asks for an address of the image service.
func (i *imageService) get(path string, headers ...string) reply {
	i.t.Helper()
	return i.ask(http.MethodGet, path, headers...)
}

func (i *imageService) ask(method, path string, headers ...string) reply {
	i.t.Helper()
	return httpclient.Send(i.t, method, i.url+path, nil, headers...)
}

// countingTransport counts what the API is asked, by the end of the path and the status.
type countingTransport struct {
	next http.RoundTripper

	mu      sync.Mutex
	counted map[string]int
	ids     []string
}

func (c *countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(r)
	if err == nil {
		what := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if len(what) == 36 {
			what = "infra-env"
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.counted == nil {
			c.counted = map[string]int{}
		}
		c.counted[what+" "+http.StatusText(response.StatusCode)]++
		c.ids = append(c.ids, r.Header.Get("X-Request-Id"))
	}
	return response, err
}

// asked counts the requests to the API since the last call.
func (c *countingTransport) asked() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.counted
	c.counted, c.ids = nil, nil
	return out
}

// imageMeter remembers what is counted.
type imageMeter struct {
	mu            sync.Mutex
	answers       map[string]int
	bytes         int64
	begun, bodies int
	ended         chan struct{} // one for each answer
}

func (m *imageMeter) ImageAnswered(artifact, code string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers == nil {
		m.answers = map[string]int{}
	}
	m.answers[artifact+" "+code]++
	m.ended <- struct{}{}
}

func (m *imageMeter) ImageSent(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes += n
}

func (m *imageMeter) ImageBegun(time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun++
	m.bodies++
}

func (m *imageMeter) ImageEnded() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bodies--
}

func (m *imageMeter) counted() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.answers)
}

// liveISO makes a small one; the tests of package remaster look into what is made of it.
func liveISO(t *testing.T, o isotest.Options) (path string, content []byte) {
	t.Helper()
	path = isotest.Build(t, o)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return path, content
}

// fileOf reads a file out of an ISO.
func fileOf(t *testing.T, iso []byte, path string) []byte {
	t.Helper()
	volume, err := iso9660.Read(bytes.NewReader(iso), int64(len(iso)))
	require.NoError(t, err)
	file, found := volume.File(path)
	require.True(t, found, path)
	var out []byte
	for _, e := range file.Extents {
		out = append(out, iso[e.Offset:e.Offset+e.Length]...)
	}
	return out
}

// configOf returns the Ignition config in an area, or behind an initramfs.
func configOf(t *testing.T, area []byte) string {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(area))
	require.NoError(t, err)
	unpacked.Multistream(false)
	archive := cpio.NewReader(unpacked)
	header, err := archive.Next()
	require.NoError(t, err)
	require.Equal(t, "config.ign", header.Name)
	config, err := io.ReadAll(archive)
	require.NoError(t, err)
	return string(config)
}
