package updateservice_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/images/updateservice"
	"slipway/internal/testing/await"
)

const sources = `[
	{"openshift_version":"4.21","multi_cpu_architectures":["x86_64","aarch64","s390x"],"upgrade_channels":[
		{"cpu_architecture":"x86_64","channels":["stable","candidate"]},{"cpu_architecture":"aarch64","channels":["stable"]},{"cpu_architecture":"multi","channels":["stable"]}]},
	{"openshift_version":"4.22","multi_cpu_architectures":[],"upgrade_channels":[{"cpu_architecture":"x86_64","channels":["candidate"]}]}]`

// updateService answers like the update service and the life cycles do; while it is
// broken with an error.
type updateService struct {
	broken atomic.Bool
	mu     sync.Mutex
	asked  []string
}

func (u *updateService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.broken.Load() {
		http.Error(w, "down", http.StatusBadGateway)
		return
	}
	q := r.URL.Query()
	if r.URL.Path == "/products" {
		u.asked = append(u.asked, q.Get("name"))
		_, _ = w.Write(
			[]byte(`{"data":[{"versions":[{"name":"4.21","type":"Maintenance Support"},{"name":"4.22","type":"Full Support"}]}]}`),
		)
		return
	}
	key := q.Get("channel") + " " + q.Get("arch")
	u.asked = append(u.asked, r.URL.Path+" "+key)
	_, _ = w.Write([]byte(map[string]string{
		"stable-4.21 amd64":    `{"nodes":[{"version":"4.21.3"},{"version":"4.20.9"}]}`,
		"candidate-4.21 amd64": `{"nodes":[{"version":"4.21.3"},{"version":"4.21.4"},{"version":"4.22.0-rc.1"}]}`,
		"stable-4.21 arm64":    `{"nodes":[{"version":"4.21.3"}]}`,
		"stable-4.21 multi":    `{"nodes":[{"version":"4.21.3"}]}`,
		"candidate-4.22 amd64": `{"nodes":[{"version":"4.22.0-rc.1"},{"version":"no version"}]}`,
	}[key]))
}

func newSyncer(t *testing.T, u *updateService) (*updateservice.Syncer, *bytes.Buffer) {
	t.Helper()
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	require.NoError(t, err)
	list, err := openshift.ParseReleaseSources([]byte(sources))
	require.NoError(t, err)
	var log bytes.Buffer
	return &updateservice.Syncer{
		Sources: list, Catalogue: openshift.NewCatalogue(nil), UpdateService: base, LifeCycles: base.JoinPath("/products"),
		Client: server.Client(), Interval: time.Hour, Log: slog.New(slog.NewTextHandler(&log, nil)),
	}, &log
}

func TestSyncOffersWhatTheSourcesHave(t *testing.T) {
	t.Parallel()
	u := &updateService{}
	s, _ := newSyncer(t, u)
	s.Sync(t.Context())
	levels, architectures := map[string]string{}, map[string][]string{}
	for _, r := range s.Catalogue.List() {
		levels[r.Version], architectures[r.Version] = r.SupportLevel, r.CPUArchitectures
	}
	require.Equal(
		t,
		map[string]string{"4.22.0-rc.1": "beta", "4.21.4": "beta", "4.21.3": "maintenance", "4.21.3-multi": "maintenance"},
		levels,
	)
	require.Equal(t, []string{"x86_64", "arm64"}, architectures["4.21.3"])
	require.Equal(t, []string{"x86_64", "arm64", "s390x"}, architectures["4.21.3-multi"])
	r, architecture, err := s.Catalogue.Choose(openshift.Wish{Version: "4.21.3", Architecture: "arm64"})
	require.NoError(t, err)
	require.Equal(t, "arm64", architecture)
	require.Equal(t, "quay.io/openshift-release-dev/ocp-release:4.21.3-aarch64", r.Image)
	require.Contains(t, u.asked, "/api/upgrades_info/v1/graph stable-4.21 arm64")
	require.Contains(t, u.asked, "Openshift Container Platform 4")
}

func TestSyncKeepsWhatItKnowsWhileTheServiceIsBroken(t *testing.T) {
	t.Parallel()
	u := &updateService{}
	s, log := newSyncer(t, u)
	s.Sync(t.Context())
	before := s.Catalogue.List()
	u.broken.Store(true)
	s.Sync(t.Context())
	require.Equal(t, before, s.Catalogue.List())
	require.Contains(t, log.String(), "release sources could not be read")
	require.Contains(t, log.String(), "require status 200, found 502 Bad Gateway; and 2 more; ask for life cycles of OpenShift 4: ")
}

func TestASiteWithoutInternetGetsALinePerAddress(t *testing.T) {
	t.Parallel()
	s, log := newSyncer(t, &updateService{})
	nowhere := &url.URL{Scheme: "https", Host: "api.openshift.invalid"} // RFC 2606: no name server knows it
	s.UpdateService, s.LifeCycles = nowhere, nowhere.JoinPath("/products")
	s.Sync(t.Context())
	require.Equal(t, 1, strings.Count(log.String(), "\n"))
	require.Equal(t, 1, strings.Count(log.String(), "ask for channel"), log.String())
	require.Equal(t, 1, strings.Count(log.String(), "ask for life cycles"), log.String())
	require.Less(t, log.Len(), 700)
}

func TestRunLooksAtOnceAndEnds(t *testing.T) {
	t.Parallel()
	s, _ := newSyncer(t, &updateService{})
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan struct{})
	go func() {
		defer close(cancelled)
		s.Run(ctx)
	}()
	await.True(t, func() bool { return len(s.Catalogue.List()) > 0 })
	cancel()
	<-cancelled
}
