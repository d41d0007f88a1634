package process

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
)

func listenForTest(t *testing.T) *Server { return listenAt(t, time.Now) }

func listenAt(t *testing.T, now func() time.Time) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", nil, nil, now, slog.New(slog.DiscardHandler), func(err error) { t.Error(err) })
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

// stalled connects a client that makes a request a number of times and reads no answer. It returns how that ended.
func stalled(t *testing.T, s *Server, times int) <-chan error {
	t.Helper()
	conn, err := net.Dial("tcp", s.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(conn, strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", times))
		sent <- err
	}()
	return sent
}

// Deadlines of connections follow the real clock. One of an hour ago is over as soon as the client has to be waited for.
func anHourAgo() time.Time { return time.Now().Add(-time.Hour) }

func TestClientsThatReadNothingAreClosed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		times  int
		answer func(http.ResponseWriter) error
	}{
		"of a large answer": {1, func(w http.ResponseWriter) error {
			_, err := w.Write(make([]byte, 64<<20))
			return err
		}},
		"of a stream": {1, func(w http.ResponseWriter) error {
			for {
				if _, err := io.WriteString(w, ": nothing\n\n"); err != nil {
					return err
				}
				if err := http.NewResponseController(w).Flush(); err != nil {
					return err
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := listenAt(t, anHourAgo)
			ended := make(chan error, c.times)
			s.Use(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { ended <- c.answer(w) }))
			stalled(t, s, c.times)
			require.ErrorIs(t, await.Receive(t, ended), os.ErrDeadlineExceeded)
		})
	}
}

// An answer that fits into the buffer of the server is sent when its handler has returned.
func TestClientsThatReadNoSmallAnswersAreClosed(t *testing.T) {
	t.Parallel()
	s := listenAt(t, anHourAgo)
	s.Use(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<10)) }))
	require.Error(t, await.Receive(t, stalled(t, s, 1_000_000)), "the connection is closed before all are sent")
}

func TestClientsThatReadSlowlyGetTheWholeAnswer(t *testing.T) {
	t.Parallel()
	s := listenForTest(t)
	const size = 8 << 20
	s.Use(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, size)) }))
	response, err := httpclient.New(t).Get("http://" + s.Address())
	require.NoError(t, err)
	defer response.Body.Close()
	read := 0
	for part := make([]byte, 1000); ; {
		n, err := response.Body.Read(part)
		if read += n; err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
	}
	require.Equal(t, size, read)
}

// A client that reads nothing of a large answer costs the kernel little memory.
func TestServerKeepsLittleForClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	s := listenForTest(t)
	var taken atomic.Int64
	ended := make(chan struct{})
	s.Use(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		for {
			n, err := w.Write(make([]byte, 64<<10))
			if taken.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	conn, err := net.Dial("tcp", s.Address())
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(16<<10))
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	require.NoError(t, err)
	same, before := 0, int64(0)
	await.True(t, func() bool {
		now := taken.Load()
		if same++; now == 0 || now != before {
			same, before = 0, now
		}
		return same > 20
	}, "an answer of which the client reads nothing")
	require.NoError(t, conn.Close())
	<-ended
	require.Less(t, taken.Load(), int64(2<<20), "bytes that the kernel takes for a client")
}
