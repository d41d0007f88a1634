package process

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/httpclient"
)

func listenForTest(t *testing.T) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", nil, nil, slog.New(slog.DiscardHandler), func(err error) { t.Error(err) })
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.http.Close() })
	return s
}

// ask sends a request in the background and returns its status code, 0 for a broken connection.
func ask(t *testing.T, url string, header http.Header) <-chan int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	request.Header = header
	code := make(chan int, 1)
	go func() {
		response, err := httpclient.New(t).Do(request)
		if err != nil {
			code <- 0
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		code <- response.StatusCode
	}()
	return code
}

func TestServerIsAliveButNotReadyWhileItStarts(t *testing.T) {
	t.Parallel()
	s := listenForTest(t)
	require.Equal(t, http.StatusOK, <-ask(t, "http://"+s.Address()+"/health", nil))
	require.Equal(t, http.StatusServiceUnavailable, <-ask(t, "http://"+s.Address()+"/ready", nil))
	require.Equal(t, http.StatusServiceUnavailable, <-ask(t, "http://"+s.Address()+"/api/assisted-install/v2/clusters", nil))
}

func TestServerLetsRequestsFinishAndEndsWaits(t *testing.T) {
	t.Parallel()
	s := listenForTest(t)
	entered := make(chan struct{}, 2)
	finish := make(chan struct{})
	s.Use(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		select {
		case <-finish:
		case <-r.Context().Done():
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	waiting := ask(t, "http://"+s.Address(), http.Header{"Prefer": {"wait=30"}})
	working := ask(t, "http://"+s.Address(), nil)
	<-entered
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(context.Background()) }()
	require.Equal(t, http.StatusServiceUnavailable, <-waiting, "at once")
	close(finish)
	require.Equal(t, http.StatusOK, <-working)
	require.NoError(t, <-stopped)
}

func TestServerEndsRequestsThatTakeTooLong(t *testing.T) {
	t.Parallel()
	s := listenForTest(t)
	entered := make(chan struct{})
	s.Use(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	working := ask(t, "http://"+s.Address(), nil)
	<-entered
	begin := time.Now()
	require.NoError(t, s.Stop(context.Background()))
	require.Equal(t, http.StatusServiceUnavailable, <-working)
	require.GreaterOrEqual(t, time.Since(begin), RequestGrace)
}

// Finding A5 of the second security review: headers without a credential held a megabyte a connection.
func TestLongHeadersAreRefused(t *testing.T) {
	t.Parallel()
	s := listenForTest(t)
	s.Use(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	require.Equal(t, http.StatusNoContent, <-ask(t, "http://"+s.Address(), http.Header{"X-Secret-Key": {strings.Repeat("x", 8<<10)}}))
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge,
		<-ask(t, "http://"+s.Address(), http.Header{"X-Secret-Key": {strings.Repeat("x", 32<<10)}}))
}
