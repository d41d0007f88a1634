package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
	"slipway/internal/wire"
)

// images is a service with the image of one InfraEnv.
type images struct {
	mu       sync.Mutex
	content  []byte
	etag     string
	token    int                // the token that opens the image now
	requests []string           // of images: path, range and condition
	broken   []http.HandlerFunc // each answers one request of the image instead
	url      string
}

func newImages(t *testing.T, size int) *images {
	t.Helper()
	s := &images{content: randomBytes(size), etag: `"one"`}
	routes := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }
	routes.HandleFunc("GET /api/assisted-install/v2/infra-envs", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, []wire.InfraEnv{{ID: envID, Name: "lab"}})
	})
	routes.HandleFunc("GET /api/assisted-install/v2/infra-envs/{id}/downloads/image-url", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, wire.PresignedURL{URL: fmt.Sprintf("%s/bytoken/secret-%d/4.22/x86_64/minimal.iso", s.url, s.lockedToken())})
	})
	routes.HandleFunc("GET /bytoken/{token}/4.22/x86_64/{file}", s.serve)
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func randomBytes(size int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
	return content
}

func (s *images) lockedToken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

func (s *images) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, strings.TrimSpace(r.PathValue("file")+" "+r.Header.Get("Range")+" "+r.Header.Get("If-Range")))
	var instead http.HandlerFunc
	if len(s.broken) > 0 {
		instead, s.broken = s.broken[0], s.broken[1:]
	}
	content, etag, right := s.content, s.etag, r.PathValue("token") == fmt.Sprintf("secret-%d", s.token)
	s.mu.Unlock()
	switch {
	case instead != nil:
		instead(w, r)
	case !right:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"code":401,"message":"the token has expired"}`))
	default:
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// cutAfter sends so many bytes of the image and closes the connection.
func (s *images) cutAfter(bytes int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		first := 0
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first)
		w.Header().Set("ETag", s.etag)
		w.Header().Set("Content-Length", fmt.Sprint(len(s.content)-first))
		if first > 0 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, len(s.content)-1, len(s.content)))
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(s.content[first:min(len(s.content), first+bytes)])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func refuse(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for n := 0; n+1 < len(header); n += 2 {
			w.Header().Set(header[n], header[n+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// typed is the result of a command line.
type typed struct {
	out, notes string
	err        error
}

func downloadImage(ctx context.Context, t *testing.T, s *images, terminal *cli.Terminal, args ...string) typed {
	t.Helper()
	var out, notes bytes.Buffer
	if terminal.Out == nil {
		terminal.Out = &out
	}
	terminal.Err, terminal.Now = &notes, func() time.Time { return now }
	var commands struct {
		Image cli.ImageCommands `cmd:""`
	}
	parser, err := kong.New(&commands, kong.Bind(terminal), kong.BindTo(ctx, (*context.Context)(nil)))
	require.NoError(t, err)
	selected, err := parser.Parse(append([]string{"image", "download", "lab", "--url", s.url}, args...))
	require.NoError(t, err)
	err = selected.Run()
	return typed{out.String(), notes.String(), err}
}

func requireImage(t *testing.T, s *images, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, bytes.Equal(s.content, content), "the file is not the image: %d and %d bytes", len(s.content), len(content))
	for _, left := range []string{".part", ".part.json"} {
		require.NoFileExists(t, file+left)
	}
}

const mebi = 1 << 20

// leave writes what a download that was ended left behind.
func leave(t *testing.T, s *images, file, image string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(file+".part", content, 0o600))
	note, err := json.Marshal(
		map[string]any{"image": envID.String() + "/4.22/x86_64/" + image, "etag": s.etag, "size": len(s.content), "synced": len(content)},
	)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file+".part.json", note, 0o600))
}
