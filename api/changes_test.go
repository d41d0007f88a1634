package api_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/platform/store"
	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
	"slipway/internal/wire"
)

// newFeed starts the API with a feed that runs.
func newFeed(t *testing.T) *service {
	t.Helper()
	return newService(t, func(o *api.Options) {
		feed := store.NewFeed(o.Store, o.Log)
		o.Feed = feed
		go feed.Run(t.Context())
	})
}

const ownChanges = api.OwnPath + "/v1/changes"

func (s *service) changes(after string, headers ...string) (found wire.Changes) {
	s.t.Helper()
	path := ownChanges
	if after != "" {
		path += "?after=" + after
	}
	s.want(http.StatusOK, http.MethodGet, path, nil, headers...).JSON(&found)
	require.NotNil(s.t, found.Changes)
	return found
}

func TestChangesAreListedAfterACursor(t *testing.T) {
	t.Parallel()
	s := newFeed(t)
	begin := s.changes("")
	require.Empty(t, begin.Changes)
	require.Equal(t, begin, s.changes(begin.Cursor))

	c := s.cluster(nil)
	env := s.infraEnv(c.ID)
	host := s.host(env.ID)
	found := s.changes(begin.Cursor)
	require.Equal(t, []wire.Change{
		{Kind: "cluster", ID: c.ID},
		{Kind: "infra-env", ID: env.ID, ClusterID: &c.ID},
		{Kind: "host", ID: host.ID, InfraEnvID: &env.ID, ClusterID: &c.ID},
	}, slices.SortedFunc(slices.Values(found.Changes), func(a, b wire.Change) int { return strings.Compare(kindOrder(a), kindOrder(b)) }))
	require.Empty(t, s.changes(found.Cursor).Changes)

	// A request that prefers to wait is answered with the change that comes.
	waited := make(chan wire.Changes, 1)
	go func() { waited <- s.changes(found.Cursor, "Prefer", "wait=60") }()
	s.want(http.StatusCreated, http.MethodPatch, clusterPath(c.ID), map[string]any{"name": "other"})
	next := await.Receive(t, waited)
	require.NotEmpty(t, next.Changes)
	for _, change := range next.Changes { // its host is evaluated again
		require.Contains(t, []uuid.UUID{c.ID, host.ID}, change.ID)
	}
	none := s.want(http.StatusOK, http.MethodGet, ownChanges+"?after="+next.Cursor, nil, "Prefer", "wait=1")
	require.Equal(t, "wait=1", none.Header.Get("Preference-Applied"))

	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
	for _, change := range s.changes(next.Cursor).Changes {
		require.Equal(t, change.Kind != "infra-env", change.Deleted, change)
	}
}

func kindOrder(c wire.Change) string {
	return map[string]string{"cluster": "a", "infra-env": "b", "host": "c"}[c.Kind]
}

func TestCursorsThatCannotContinueAreRefused(t *testing.T) {
	t.Parallel()
	s := newFeed(t)
	begin := s.changes("")
	for _, bad := range []string{"1", "x", begin.Cursor + "x"} {
		refused := s.want(http.StatusBadRequest, http.MethodGet, ownChanges+"?after="+bad, nil)
		require.Contains(t, string(refused.Body), "after: require a cursor of an earlier answer, found")
	}
	epoch, _, _ := strings.Cut(begin.Cursor, ".")
	for _, old := range []string{uuid.NewString() + ".0", epoch + ".999999"} {
		refused := s.want(http.StatusGone, http.MethodGet, ownChanges+"?after="+old, nil, "Prefer", "wait=60")
		require.Contains(t, string(refused.Body), "list the objects, and continue from a new one")
	}
	require.NoError(t, store.RenewFeed(t.Context(), s.database))
	s.want(http.StatusGone, http.MethodGet, ownChanges+"?after="+begin.Cursor, nil)
	s.want(http.StatusGone, http.MethodGet, ownChanges+"?after="+begin.Cursor, nil, "Accept", "text/event-stream")
}

func TestChangesOfAStream(t *testing.T) {
	t.Parallel()
	s := newFeed(t)
	begin := s.changes("")
	first := s.cluster(nil)
	open := func(headers ...string) (*bufio.Reader, io.Closer) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+ownChanges+"?after="+begin.Cursor, nil)
		require.NoError(t, err)
		request.Header.Set("Accept", "text/event-stream")
		for n := 0; n < len(headers); n += 2 {
			request.Header.Set(headers[n], headers[n+1])
		}
		answer, err := httpclient.New(t).Do(request)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
		return bufio.NewReader(answer.Body), answer.Body
	}
	in, body := open()
	id, changes := event(t, in)
	require.Equal(t, []wire.Change{{Kind: "cluster", ID: first.ID}}, changes)
	second := s.cluster(nil)
	_, changes = event(t, in)
	require.Equal(t, []wire.Change{{Kind: "cluster", ID: second.ID}}, changes)
	require.NoError(t, body.Close())
	end := s.changes("").Cursor // of the evaluation too, which may come after the event

	// A browser connects again with the same address and the id that it saw last.
	in, body = open("Last-Event-ID", id)
	again, changes := event(t, in)
	require.Equal(t, []wire.Change{{Kind: "cluster", ID: second.ID}}, changes)
	require.Equal(t, end, again)
	require.NoError(t, body.Close())
}

// event reads the next event with changes of a stream (HTML, section 9.2.6).
func event(t *testing.T, in *bufio.Reader) (id string, changes []wire.Change) {
	t.Helper()
	for changes == nil {
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			var found wire.Changes
			require.NoError(t, json.Unmarshal([]byte(value), &found))
			require.Equal(t, id, found.Cursor)
			changes = found.Changes
		}
	}
	return id, changes
}

// Fifty requests of a credential wait at once, and no more.
func TestRequestsThatWaitForChangesAreBounded(t *testing.T) {
	t.Parallel()
	s := newFeed(t)
	begin := s.changes("")
	answered := make(chan wire.Changes, 50)
	for range 50 {
		go func() {
			var found wire.Changes
			r := reply{Status: http.StatusTooManyRequests}
			for r.Status == http.StatusTooManyRequests { // the probe below has a place for a moment
				r = s.send(http.MethodGet, ownChanges+"?after="+begin.Cursor, nil, "Prefer", "wait=60")
			}
			r.JSON(&found)
			answered <- found
		}()
	}
	await.True(t, func() bool {
		return s.send(http.MethodGet, ownChanges+"?after="+begin.Cursor, nil, "Prefer", "wait=1").Status == http.StatusTooManyRequests
	}, "fifty wait")
	require.Empty(t, s.changes(begin.Cursor).Changes, "who does not wait is answered")
	s.cluster(nil)
	for range 50 {
		require.Len(t, await.Receive(t, answered).Changes, 1)
	}
	require.Len(t, s.changes(begin.Cursor, "Prefer", "wait=60").Changes, 1)
}
