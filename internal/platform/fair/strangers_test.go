package fair

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
)

// strangersServer serves with TLS and turns for one stranger. /admitted is admitted, /refused is not, and /held waits with its turn.
type strangersServer struct {
	certified     *httptest.Server // has a certificate, and holds a lock while it calls ConnState
	address       string
	running, most atomic.Int32
	held          chan struct{}
	turns, large  *Turns
}

func newStrangersServer(t *testing.T, patience time.Duration) *strangersServer {
	t.Helper()
	s := &strangersServer{
		held: make(chan struct{}), turns: &Turns{make(chan struct{}, 1)}, large: &Turns{make(chan struct{}, 1)},
		certified: httptest.NewTLSServer(http.NotFoundHandler()),
	}
	t.Cleanup(s.certified.Close)
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.address = inner.Addr().String()
	security := s.certified.TLS.Clone()
	security.NextProtos = nil
	server := &http.Server{
		Handler: http.HandlerFunc(s.serve), ConnContext: ConnContext, ConnState: ConnState, ReadHeaderTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = server.Serve(tls.NewListener(&listener{inner, s.turns, s.large, patience}, security)) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

func (s *strangersServer) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/large" {
		end := Large(r.Context())
		defer end()
		for range 64 {
			if _, err := w.Write(make([]byte, 256<<10)); err != nil {
				return
			}
		}
		return
	}
	end := Begin(r.Context())
	n := s.running.Add(1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	switch r.URL.Path {
	case "/held":
		<-s.held
	case "/refused":
		time.Sleep(time.Millisecond)
	}
	s.running.Add(-1)
	_, _ = io.WriteString(w, r.URL.Path)
	end(r.URL.Path == "/admitted")
}

// client has one connection.
type client struct {
	*http.Client
	at string
}

func (s *strangersServer) connect(t *testing.T) client {
	t.Helper()
	transport := s.certified.Client().Transport.(*http.Transport).Clone()
	transport.MaxConnsPerHost = 1
	transport.DialContext = nil // to what the address says
	t.Cleanup(transport.CloseIdleConnections)
	return client{&http.Client{Transport: transport}, "https://" + s.address}
}

func (c client) get(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.at+path, nil)
	if err != nil {
		return err
	}
	answer, err := c.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err == nil && string(text) != path {
		err = fmt.Errorf("found %q", text)
	}
	return err
}

func TestStrangersTakeTurns(t *testing.T) {
	t.Parallel()
	s := newStrangersServer(t, time.Minute)
	failed := make(chan error, 30)
	for range 30 {
		c := s.connect(t)
		go func() {
			var err error
			for range 5 {
				if err == nil {
					err = c.get(t.Context(), "/refused")
				}
			}
			failed <- err
		}()
	}
	for range 30 {
		require.NoError(t, <-failed)
	}
	require.EqualValues(t, 1, s.most.Load(), "at once")
}

func TestWhoWasAdmittedWaitsForNoStranger(t *testing.T) {
	t.Parallel()
	s := newStrangersServer(t, time.Minute)
	known, other := s.connect(t), s.connect(t)
	require.NoError(t, known.get(t.Context(), "/admitted"))
	require.NoError(t, other.get(t.Context(), "/refused"))
	stranger := make(chan error, 1)
	go func() { stranger <- s.connect(t).get(t.Context(), "/held") }()
	await.True(t, func() bool { return s.running.Load() > 0 })
	for range 10 {
		require.NoError(t, known.get(t.Context(), "/admitted"))
	}
	refused := make(chan error, 1)
	go func() { refused <- other.get(t.Context(), "/refused") }()
	select {
	case <-refused:
		require.Fail(t, "two strangers had a turn")
	case <-time.After(50 * time.Millisecond):
	}
	close(s.held)
	require.NoError(t, <-stranger)
	require.NoError(t, <-refused)
	require.NoError(t, known.get(t.Context(), "/refused"))
	require.EqualValues(t, 2, s.most.Load(), "a known connection and a stranger")
}

func TestAStrangerWhoseTurnDoesNotComeRunsWithoutOne(t *testing.T) {
	t.Parallel()
	s := newStrangersServer(t, time.Millisecond)
	defer close(s.held)
	go func() { _ = s.connect(t).get(t.Context(), "/held") }()
	await.True(t, func() bool { return s.running.Load() > 0 })
	for range 3 {
		require.NoError(t, s.connect(t).get(t.Context(), "/refused"))
	}
}

// TestTurnsComeBack ends connections at every moment that a turn is taken.
func TestTurnsComeBack(t *testing.T) {
	t.Parallel()
	s := newStrangersServer(t, time.Minute)
	dialer := tls.Dialer{Config: s.certified.Client().Transport.(*http.Transport).TLSClientConfig}
	text := "GET /refused HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, sent := range []string{
		"", "GET /ref", text, text + text, text + "GET", text + text + text + "GET / HTTP/9\r\n\r\n", "\x00\x00\r\n",
	} {
		conn, err := dialer.DialContext(t.Context(), "tcp", s.address)
		require.NoError(t, err)
		_, err = io.WriteString(conn, sent)
		require.NoError(t, err)
		if sent == text {
			_, err = conn.Read(make([]byte, 1))
			require.NoError(t, err)
		}
		require.NoError(t, conn.Close())
	}
	raw, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.address)
	require.NoError(t, err)
	_, err = raw.Write([]byte("no TLS"))
	require.NoError(t, err)
	require.NoError(t, raw.Close())
	require.NoError(t, s.connect(t).get(t.Context(), "/refused"))
	await.True(t, func() bool { return len(s.turns.places) == 0 })
}

func TestTurnsEndWithTheRequest(t *testing.T) {
	t.Parallel()
	turns := &Turns{make(chan struct{}, 1)}
	leave, err := turns.Take(t.Context())
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = turns.Take(gone)
	require.ErrorIs(t, err, context.Canceled)
	leave()
	leave, err = turns.Take(t.Context())
	require.NoError(t, err)
	leave()
	leave, err = (*Turns)(nil).Take(gone)
	require.NoError(t, err)
	leave()
	require.Positive(t, cap(NewTurns().places))
}

// TestWhoDoesNotReadKeepsNoTurnOfLargeAnswers has readers that stop at the beginning, beside others that read all.
func TestWhoDoesNotReadKeepsNoTurnOfLargeAnswers(t *testing.T) {
	t.Parallel()
	s := newStrangersServer(t, time.Minute)
	read := func() (io.ReadCloser, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.address+"/large", nil)
		if err != nil {
			return nil, err
		}
		answer, err := s.connect(t).Do(request)
		if err != nil {
			return nil, err
		}
		return answer.Body, nil
	}
	var stopped []io.Closer
	for range 5 {
		body, err := read()
		require.NoError(t, err)
		stopped = append(stopped, body)
	}
	done := make(chan error, 5)
	for range cap(done) {
		go func() {
			body, err := read()
			if err == nil {
				var n int64
				n, err = io.Copy(io.Discard, body)
				if err == nil && n != 16<<20 {
					err = fmt.Errorf("found %d bytes", n)
				}
			}
			done <- err
		}()
	}
	for range cap(done) {
		require.NoError(t, <-done)
	}
	for _, body := range stopped {
		require.NoError(t, body.Close())
	}
	await.True(t, func() bool { return len(s.large.places) == 0 })
}
