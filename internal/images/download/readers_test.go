package download_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/download"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/testing/await"
)

// large is more than the sockets of both sides hold.
const large = 64 << 20

// reader asks for the file and takes only the beginning of the answer.
func (s *service) reader() net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(s.t, conn.(*net.TCPConn).SetReadBuffer(64<<10))
	_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
	require.NoError(s.t, err)
	line, err := bufio.NewReaderSize(conn, 16).ReadString('\n')
	require.NoError(s.t, err)
	require.Equal(s.t, "HTTP/1.1 200 OK\r\n", line)
	return conn
}

// sparse makes the base file as long as a large layout, without using the disk.
func (s *service) sparse() *service {
	s.t.Helper()
	require.NoError(s.t, os.Truncate(s.path, large))
	return s
}

func TestAReaderThatStallsLosesItsConnection(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		layout *layout.Layout
		end    error // what the reader sees: the server itself closes after a failed write
	}{
		"in a range of the base": {layout.Of(layout.Base(0, large)), syscall.ECONNRESET},
		"in zeros":               {layout.Of(layout.Zeros(large)), nil},
		"in memory":              {layout.Of(layout.Bytes(make([]byte, large))), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, row.layout, nil, download.Options{Patience: 50 * time.Millisecond}).sparse()
			conn := s.reader()
			err := <-s.errors
			require.ErrorIs(t, err, download.ErrBroken)
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			read, err := io.Copy(io.Discard, conn)
			require.ErrorIs(t, err, row.end)
			require.Less(t, read, int64(large))
			s.allClosed()
			require.Zero(t, s.sender.InFlight())
		})
	}
}

func TestTheEndOfTheServiceWaitsForNoReader(t *testing.T) {
	t.Parallel()
	s := serve(t, layout.Of(layout.Base(0, 64<<20)), make([]byte, 64<<20), download.Options{})
	ctx, end := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}), make(chan error, 1)
	s.content.Begin = func(int) { close(begun) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ended <- s.sender.Serve(w, r.WithContext(ctx), s.content)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	s.start(http.MethodGet) // and no one reads
	<-begun
	end()
	require.ErrorIs(t, await.Receive(t, ended, "still waits for the reader"), download.ErrBroken)
	require.Equal(t, 1, s.allClosed())
}

func TestAReaderHasItsPatienceForEachPart(t *testing.T) {
	t.Parallel()
	// The deadline is for each part, so a steady reader may take many times as long for the whole.
	var deadlines atomic.Int64
	now := func() time.Time {
		deadlines.Add(1)
		return time.Now()
	}
	s := serve(t, layout.Of(layout.Base(0, large)), nil, download.Options{Patience: time.Hour, Now: now}).sparse()
	conn := s.reader()
	_, err := io.CopyN(io.Discard, conn, large)
	require.NoError(t, err)
	require.NoError(t, <-s.errors)
	require.EqualValues(t, large/download.PartSize, deadlines.Load())
}

func TestBodiesAboveTheLimitAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, layout.Of(layout.Base(0, large)), nil, download.Options{Bodies: 2}).sparse()
	first, second := s.reader(), s.reader()
	require.ErrorIs(t, s.sender.Busy("another"), download.ErrBusy)
	response, _, err := s.ask(http.MethodGet)
	require.ErrorIs(t, err, download.ErrBusy)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Empty(t, response.Header.Get("ETag"), "it is not the file")
	for status, headers := range map[int][]string{
		200: {http.MethodHead}, 304: {http.MethodGet, "If-None-Match", `"v1"`}, 416: {http.MethodGet, "Range", "bytes=999999999-"},
	} {
		response, _, _ := s.ask(headers[0], headers[1:]...)
		require.Equal(t, status, response.StatusCode)
	}
	require.EqualValues(t, 2, s.sender.InFlight())
	require.NoError(t, first.Close())
	require.ErrorIs(t, <-s.errors, download.ErrBroken)
	response, _, err = s.ask(http.MethodGet)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, second.Close())
	require.ErrorIs(t, <-s.errors, download.ErrBroken)
	require.Equal(t, 3, s.allClosed())
	require.Zero(t, s.sender.InFlight())
}

func TestABaseThatIsTooShortIsNeverAShortAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, layout.Of(layout.Bytes([]byte("head")), layout.Base(0, 11)), []byte("0123456789"), download.Options{})
	response, _, err := s.ask(http.MethodGet)
	require.ErrorIs(t, err, download.ErrShort)
	require.ErrorContains(t, err, "require 11 bytes, found 10")
	require.Equal(t, http.StatusInternalServerError, response.StatusCode, "seen before anything was answered")
	require.Equal(t, 1, s.allClosed())
	response, body, err := s.ask(http.MethodGet, "Range", "bytes=0-3")
	require.NoError(t, err)
	require.Equal(t, http.StatusPartialContent, response.StatusCode)
	require.Equal(t, "head", string(body))
	require.Equal(t, 1, s.allClosed(), "bytes in memory need no file")

	require.NoError(t, os.Remove(s.path))
	_, _, err = s.ask(http.MethodGet)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestABaseThatShrinksBreaksTheConnectionOff(t *testing.T) {
	t.Parallel()
	s := serve(t, layout.Of(layout.Base(0, large)), nil, download.Options{}).sparse()
	s.content.Begin = func(int) { require.NoError(t, os.Truncate(s.path, large/2)) }
	response := s.start(http.MethodGet)
	_, err := io.Copy(io.Discard, response.Body)
	require.Error(t, err)
	err = <-s.errors
	require.ErrorIs(t, err, download.ErrBroken)
	require.ErrorIs(t, err, download.ErrShort)
	s.allClosed()
}

func TestSentBytesAreReportedAndTheConnectionStaysOpen(t *testing.T) {
	t.Parallel()
	base := noise(3 << 20)
	l, content := mixed(base)
	var sent atomic.Int64
	s := serve(t, l, base, download.Options{Sent: func(n int64) { sent.Add(n) }, Patience: 300 * time.Millisecond})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	in := bufio.NewReader(conn)
	for range 2 {
		_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
		require.NoError(t, err)
		response, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Len(t, body, len(content))
		require.NoError(t, <-s.errors)
		time.AfterFunc(400*time.Millisecond, func() { s.errors <- nil })
		<-s.errors // longer than a deadline that was left in place
	}
	require.EqualValues(t, 2*len(content), sent.Load())
}

// An owner has three bodies for each place that is free, so that another owner finds one.
func TestOneOwnerDoesNotTakeAllPlaces(t *testing.T) {
	t.Parallel()
	s := serve(t, layout.Of(layout.Base(0, large)), nil, download.Options{Bodies: 8}).sparse()
	s.content.Owner = "first"
	var readers []net.Conn
	for range 6 {
		readers = append(readers, s.reader())
	}
	response, _, err := s.ask(http.MethodGet)
	require.ErrorIs(t, err, download.ErrShare)
	require.ErrorIs(t, err, download.ErrBusy)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.ErrorIs(t, s.sender.Busy("first"), download.ErrShare)

	require.NoError(t, s.sender.Busy("second"))
	s.content.Owner = "second"
	last := s.reader()
	require.NoError(t, s.sender.Busy("third"))
	require.NoError(t, readers[0].Close())
	require.ErrorIs(t, <-s.errors, download.ErrBroken)
	require.NoError(t, s.sender.Busy("second"))
	for _, conn := range append(readers[1:], last) {
		require.NoError(t, conn.Close())
		require.ErrorIs(t, <-s.errors, download.ErrBroken)
	}
	require.Zero(t, s.sender.InFlight())
}
