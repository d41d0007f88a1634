package api_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// answersByTag holds what each tag of a test named: whatever happens, the same tag is the same content.
type answersByTag struct {
	mu     sync.Mutex
	bodies map[string]string
}

// leftOpen matches what a weak tag leaves open: when hosts were heard last, and until when the address of an image is good, which is
// in its credential too.
var leftOpen = regexp.MustCompile(`"(checked_in_at|timestamp|expires_at)":("[^"]*"|[0-9]+),?|/(byapikey|bytoken)/[^/"]+`)

// compare compares an answer with an earlier one of its tag.
func (a *answersByTag) compare(t testing.TB, path string, headers []string, r reply) {
	t.Helper()
	tag := r.Header.Get("Etag")
	if r.Status != http.StatusOK || !strings.HasPrefix(tag, `W/"`) {
		return
	}
	body := leftOpen.ReplaceAllString(string(r.Body), "")
	request := strings.Join(append([]string{tag, path}, headers...), "\n")
	a.mu.Lock()
	defer a.mu.Unlock()
	if before, found := a.bodies[request]; found {
		require.Equal(t, before, body, "GET %s: two answers have the tag %s", path, tag)
	}
	a.bodies[request] = body
}

// conditional reads a path with the tag of what the client has, and returns whether it has changed.
func (s *service) conditional(path string, from reply) bool {
	s.t.Helper()
	r := s.send(http.MethodGet, path, nil, "If-None-Match", from.Header.Get("Etag"))
	require.Contains(s.t, []int{http.StatusOK, http.StatusNotModified}, r.Status, "GET %s: %s", path, r.Body)
	if r.Status == http.StatusNotModified {
		require.Empty(s.t, r.Body)
		require.Equal(s.t, from.Header.Get("Etag"), r.Header.Get("Etag"))
	}
	return r.Status == http.StatusOK
}

// A client that has an answer gets it again when something in it is not as it was, and only then.
func TestAnswersAreSentAgainWhenTheyChanged(t *testing.T) {
	t.Parallel()
	clock := &virtual{}
	clock.nanoseconds.Store(time.Now().UnixNano())
	s := newService(t, func(o *api.Options) { o.Now = clock.now })
	c, other := s.cluster(nil), s.cluster(map[string]any{"name": "other"})
	env, otherEnv, loose := s.infraEnv(c.ID), s.infraEnv(other.ID), s.infraEnv(uuid.Nil)
	h, second, alien, joins := s.host(env.ID), s.host(env.ID), s.host(otherEnv.ID), s.host(loose.ID)
	paths := []string{
		"/v2/clusters", "/v2/clusters?with_hosts=true", clusterPath(c.ID), clusterPath(c.ID) + "?exclude-hosts=true",
		clusterPath(c.ID) + "/hosts", envPath(env.ID) + "/hosts", hostPath(env.ID, h.ID),
		"/api/slipway/v1/clusters", "/api/slipway/v1/hosts", "/api/slipway/v1/hosts?cluster_id=" + c.ID.String(),
		"/api/slipway/v1/hosts?infra_env_id=" + env.ID.String(),
	}
	lists := []string{paths[0], paths[1], paths[7], paths[8]}
	envLists, theEnv := []string{"/v2/infra-envs", "/v2/infra-envs?cluster_id=" + c.ID.String()}, envPath(env.ID)
	envs := append(slices.Clone(envLists), theEnv)
	all := slices.Concat(envs, paths)
	but := func(parts ...string) []string {
		return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
			return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(path, part) })
		})
	}
	theHost := hostPath(env.ID, h.ID)
	for _, change := range []struct {
		name   string
		change func()
		want   []string // changed
		may    []string // have changed, because validations compare hosts
	}{
		{"nothing", func() {}, nil, nil},
		{"a host answers", func() { s.changeHost(env.ID, h.ID, func(h *model.Host) { h.Inventory.Hostname = "other" }) }, paths, nil},
		{"another host of the cluster", func() {
			s.changeHost(env.ID, second.ID, func(h *model.Host) { h.StatusInfo = "other" })
		}, but(theHost), paths},
		{"a host of another cluster", func() {
			s.changeHost(otherEnv.ID, alien.ID, func(h *model.Host) { h.StatusInfo = "other" })
		}, lists, nil},
		{"the cluster's name", func() {
			s.want(http.StatusCreated, http.MethodPatch, clusterPath(other.ID), map[string]any{"name": "renamed"})
		}, lists, nil},
		{"an operator", func() {
			o := model.MonitoredOperator{ClusterID: c.ID, Name: "console", Status: "progressing"}
			require.NoError(t, s.store.ReportOperator(t.Context(), o, func(*store.Tx) {}))
		}, but("/infra-envs/", "infra_env_id"), paths},
		{"a host may join", func() {
			s.changeHost(loose.ID, joins.ID, func(h *model.Host) { h.Status = model.HostKnownUnbound })
		}, lists, nil},
		{"a host joins the cluster", func() {
			s.want(http.StatusOK, http.MethodPost, hostPath(loose.ID, joins.ID)+"/actions/bind", map[string]any{"cluster_id": c.ID})
		}, but("/infra-envs/", "infra_env_id"), paths},
		{"it leaves the cluster", func() {
			s.want(http.StatusOK, http.MethodPost, hostPath(loose.ID, joins.ID)+"/actions/unbind", nil)
		}, but("/infra-envs/", "infra_env_id"), paths},
		{"a host is removed", func() {
			s.want(http.StatusNoContent, http.MethodDelete, hostPath(otherEnv.ID, alien.ID), nil)
		}, lists, nil},
		{"an InfraEnv", func() {
			s.want(http.StatusCreated, http.MethodPatch, theEnv, map[string]any{"additional_ntp_sources": "192.0.2.9"})
		}, envs, paths},
		{"an InfraEnv without a cluster", func() {
			s.want(http.StatusCreated, http.MethodPatch, envPath(loose.ID), map[string]any{"additional_ntp_sources": "192.0.2.9"})
		}, envLists, lists},
		{"an InfraEnv is removed", func() {
			s.want(http.StatusNoContent, http.MethodDelete, envPath(otherEnv.ID), nil)
		}, envLists, lists},
		{"time", func() { clock.advance(time.Minute) }, all, nil},
	} {
		t.Run(change.name, func(t *testing.T) {
			before := map[string]reply{}
			for _, path := range all {
				before[path] = s.want(http.StatusOK, http.MethodGet, path, nil)
				require.False(t, s.conditional(path, before[path]), "GET %s: nothing happened since", path)
			}
			change.change()
			changed := []string{}
			for _, path := range all {
				if s.conditional(path, before[path]) {
					changed = append(changed, path)
				}
			}
			require.Subset(t, changed, change.want)
			require.Subset(t, slices.Concat(change.want, change.may), changed)
		})
	}
	gone := s.want(http.StatusNotFound, http.MethodGet, clusterPath(uuid.New()), nil, "If-None-Match", "*")
	require.Empty(t, gone.Header.Get("Etag"))
}

// A client that asks for it gets a list compressed; what it reads then is the same.
func TestListsAreCompressedForClientsThatAsk(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	env := s.infraEnv(c.ID)
	s.host(env.ID)
	s.host(env.ID)
	const short = "/v2/infra-envs/00000000-0000-0000-0000-000000000000/hosts"
	for _, path := range []string{
		"/v2/clusters", clusterPath(c.ID), envPath(env.ID) + "/hosts", "/v2/events?cluster_id=" + c.ID.String(), "/api/slipway/v1/hosts",
	} {
		plain := s.want(http.StatusOK, http.MethodGet, path, nil, "Accept-Encoding", "identity")
		require.Empty(t, plain.Header.Get("Content-Encoding"))
		require.Equal(t, "Accept-Encoding", plain.Header.Get("Vary"))
		for accept, want := range map[string]string{"gzip": "gzip", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd"} {
			packed := s.want(http.StatusOK, http.MethodGet, path, nil, "Accept-Encoding", accept)
			require.Equal(t, want, packed.Header.Get("Content-Encoding"))
			require.Equal(t, strconv.Itoa(len(packed.Body)), packed.Header.Get("Content-Length"))
			require.Less(t, len(packed.Body), len(plain.Body))
			require.Equal(t, string(plain.Body), decompressed(t, want, packed.Body))
			require.Equal(t, plain.Header.Get("Etag"), packed.Header.Get("Etag"), "a weak tag names the content, however it is coded")
		}
	}
	refused := s.want(http.StatusNotFound, http.MethodGet, short, nil, "Accept-Encoding", "gzip")
	require.Empty(t, refused.Header.Get("Content-Encoding"))
	none := s.want(http.StatusOK, http.MethodGet, "/v2/clusters?owner=other", nil, "Accept-Encoding", "gzip")
	require.Empty(t, none.Header.Get("Content-Encoding"), "it fits into one packet")
	require.Equal(t, "[]\n", string(none.Body))
}

// decompressed reads what has a content coding, gzip with another library than the service.
func decompressed(t *testing.T, coding string, packed []byte) string {
	t.Helper()
	var from io.Reader
	var err error
	if coding == "gzip" {
		from, err = gzip.NewReader(bytes.NewReader(packed))
	} else {
		from, err = zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1))
	}
	require.NoError(t, err)
	text, err := io.ReadAll(from)
	require.NoError(t, err)
	return string(text)
}
