package guard_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/guard"
	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
)

// A client that takes nothing of a large answer is closed when its time is over; the clock is the test's.
func TestClientsThatStopReadingAreClosed(t *testing.T) {
	t.Parallel()
	var late atomic.Int64
	ended := make(chan error, 1)
	file := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(file, bytes.Repeat([]byte("x"), 32<<20), 0o600))
	handler := guard.SteadyAnswers(
		// Deadlines of connections follow the real clock: this one begins so early that the patience is over at once.
		func() time.Time { return time.Now().Add(-time.Duration(late.Load())) },
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f, err := os.Open(file)
			if err != nil {
				ended <- err
				return
			}
			defer f.Close()
			_, err = io.CopyN(w, f, 32<<20)
			ended <- err
		}))
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)

	answer, err := httpclient.New(t).Get(server.URL)
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	require.Equal(t, int64(32<<20), n, "who reads gets all of it")
	require.NoError(t, <-ended)
	require.NoError(t, answer.Body.Close())

	late.Store(int64(time.Hour))
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	require.ErrorIs(t, await.Receive(t, ended), os.ErrDeadlineExceeded)
}

// deadlines records the deadlines of a connection.
type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// FlushError serves http.ResponseController.
func (*deadlines) FlushError() error { return nil }

// steadyReader takes so many bytes a second, on a clock of its own.
type steadyReader struct {
	deadlines
	clock time.Time
	rate  int
}

func (s *steadyReader) Write(p []byte) (int, error) {
	s.clock = s.clock.Add(time.Duration(len(p)) * time.Second / time.Duration(s.rate))
	if s.clock.After(s.set[len(s.set)-1]) {
		return 0, os.ErrDeadlineExceeded
	}
	return len(p), nil
}

func TestReadersMayBeSlowAndNotSlower(t *testing.T) {
	t.Parallel()
	for rate, want := range map[int]error{17 << 10: nil, 8 << 10: os.ErrDeadlineExceeded} {
		out := &steadyReader{clock: time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC), rate: rate}
		out.ResponseWriter = httptest.NewRecorder()
		guard.SteadyAnswers(func() time.Time { return out.clock }, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, err := w.Write(make([]byte, 16<<20))
			require.ErrorIs(t, err, want, "%d bytes a second", rate)
		})).ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/", nil))
	}
}

// A handler that has nothing to send for a minute has a client that takes nothing for a minute, and is not slow.
func TestHandlersMayPause(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	clock := now
	out := &deadlines{ResponseWriter: httptest.NewRecorder()}
	guard.SteadyAnswers(func() time.Time { return clock }, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, second := range []int{0, 1, 4, 64, 65} {
			clock = at(second)
			_, _ = io.WriteString(w, "a")
		}
	})).ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, []time.Time{at(30), at(30), at(30), at(30), at(94), at(94), at(95)}, out.set, "the last one is of what is buffered")
}

// A stream whose first event comes late is flushed with a time of its own.
func TestEachFlushHasADeadline(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	out := &deadlines{ResponseWriter: httptest.NewRecorder()}
	begun := clock
	guard.SteadyAnswers(func() time.Time { return clock }, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		clock = clock.Add(time.Hour)
		require.NoError(t, http.NewResponseController(w).Flush())
		clock = clock.Add(time.Hour)
		w.(http.Flusher).Flush() //nolint:forcetypeassert // libraries look for it
	})).ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/", nil))
	const patience = 30 * time.Second
	require.Equal(t, []time.Time{
		begun.Add(patience), begun.Add(time.Hour + patience), begun.Add(2*time.Hour + patience), begun.Add(2*time.Hour + patience),
	}, out.set)
}

func TestHandlersWithDeadlinesOfTheirOwnGetTheWriterOfTheServer(t *testing.T) {
	t.Parallel()
	out := &deadlines{ResponseWriter: httptest.NewRecorder()}
	guard.SteadyAnswers(time.Now, guard.Direct(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		require.Same(t, out, w)
	}))).ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Len(t, out.set, 2, "before and after")
}
