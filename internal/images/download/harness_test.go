package download_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/download"
	"slipway/internal/images/remaster/layout"
	"slipway/internal/testing/httpclient"
)

// service is a server of one file, with what it did.
type service struct {
	t       *testing.T
	url     string
	sender  *download.Sender
	path    string // of the base file
	content download.Content

	mu     sync.Mutex
	opened []*os.File
	errors chan error // what Serve returned, one a request
}

// serve offers a layout over a base file of some bytes.
func serve(t *testing.T, l *layout.Layout, base []byte, options download.Options) *service {
	t.Helper()
	s := &service{t: t, path: filepath.Join(t.TempDir(), "base"), errors: make(chan error, 1000)}
	require.NoError(t, os.WriteFile(s.path, base, 0o600))
	if options.Now == nil {
		options.Now = time.Now
	}
	s.sender = download.New(options)
	s.content = download.Content{Layout: l, Open: s.open, ETag: "v1", Modified: changed, Disposition: `attachment; filename="full.iso"`}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := s.sender.Serve(w, r, s.content)
		s.errors <- err
		if err == nil {
			return
		}
		var ranges *download.RangeError
		switch {
		case errors.Is(err, download.ErrBroken):
			panic(http.ErrAbortHandler)
		case errors.Is(err, download.ErrBusy):
			w.WriteHeader(http.StatusServiceUnavailable)
		case errors.Is(err, download.ErrCondition):
			w.WriteHeader(http.StatusPreconditionFailed)
		case errors.As(err, &ranges):
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// changed is when the files of these tests were, with a part of a second that dates lack.
var changed = time.Date(2025, 3, 4, 5, 6, 7, 800, time.UTC)

func (s *service) open() (*os.File, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, file)
	return file, nil
}

// allClosed reports how many files were opened, and requires that none is open any more.
func (s *service) allClosed() int {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, file := range s.opened {
		_, err := file.Stat()
		require.ErrorIs(s.t, err, os.ErrClosed)
	}
	return len(s.opened)
}

// start sends a request and leaves the body to the caller.
func (s *service) start(method string, headers ...string) *http.Response {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url, http.NoBody)
	require.NoError(s.t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := httpclient.New(s.t).Do(request)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { response.Body.Close() })
	return response
}

// ask reads the answer to its end, and waits until the handler is through.
func (s *service) ask(method string, headers ...string) (*http.Response, []byte, error) {
	s.t.Helper()
	response := s.start(method, headers...)
	body, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response, body, <-s.errors
}

func noise(size int) []byte {
	random := rand.NewChaCha8([32]byte{1})
	out := make([]byte, size)
	_, _ = random.Read(out)
	return out
}

// mixed makes a layout with pieces of every kind, and the bytes it describes.
func mixed(base []byte) (*layout.Layout, []byte) {
	n := int64(len(base))
	l := layout.Of(
		layout.Bytes([]byte("head")),
		layout.Base(100, n/2),
		layout.Zeros(200_000),
		layout.Bytes(noise(70_000)),
		layout.Base(n/3, n/2),
		layout.Bytes([]byte("tail")),
	)
	content, err := io.ReadAll(l.Reader(bytes.NewReader(base)))
	if err != nil {
		panic(err) // ranges of the table above
	}
	return l, content
}
