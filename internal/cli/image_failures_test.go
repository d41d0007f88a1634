package cli_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
)

func TestImageDownloadFailsClearly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := filepath.Join(dir, "there.iso")
	require.NoError(t, os.WriteFile(there, []byte("mine"), 0o600))
	file := filepath.Join(dir, "lab.iso")
	for _, c := range []struct {
		name, want string
		code       int
		args       []string
		broken     http.HandlerFunc
	}{
		{name: "a file that exists", want: "there.iso exists already: --overwrite replaces it", code: 2, args: []string{"-f", there}},
		{
			name: "a format", want: "-o is an output format, and an image has none: name its file with -f, found -o lab.iso", code: 2,
			args: []string{"-o", "lab.iso"},
		},
		{name: "a folder", want: "require the name of a regular file, found a folder", code: 2, args: []string{"-f", dir, "--overwrite"}},
		{name: "a device", want: "found a device", code: 2, args: []string{"-f", "/dev/null", "--overwrite"}},
		{
			name: "a folder that does not exist", want: "no such file or directory", code: 1,
			args: []string{"-f", filepath.Join(dir, "x", "lab.iso")},
		},
		{
			name: "a version that is not offered", want: "no image of that version", code: 3, args: []string{"-f", file},
			broken: refuse(404, `{"reason":"no image of that version"}`),
		},
		{name: "no right to it", want: "no token", code: 1, args: []string{"-f", file}, broken: refuse(401, `{"message":"no token"}`)},
		{
			name: "an image that is too big for the disk", want: "of free disk space in " + dir + ", found", code: 1,
			args:   []string{"-f", file},
			broken: refuse(200, "", "Content-Length", "4611686018427387904"),
		},
		{
			name: "a service that breaks before it began", want: "it broke", code: 5, args: []string{"-f", file},
			broken: refuse(500, `{"reason":"it broke"}`),
		},
		{
			name: "an image of unknown length", want: "the answer has no length", code: 1, args: []string{"-f", file},
			broken: func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newImages(t, mebi)
			if c.broken != nil {
				s.broken = []http.HandlerFunc{c.broken}
			}
			got := downloadImage(t.Context(), t, s, &cli.Terminal{}, c.args...)
			require.ErrorContains(t, got.err, c.want)
			require.Equal(t, c.code, cli.ExitCode(got.err), got.err)
			require.NotContains(t, got.err.Error(), "secret-", "the token in the address")
		})
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing is left behind")
}

func TestImageReplacesAFileOnRequest(t *testing.T) {
	t.Parallel()
	s, file := newImages(t, mebi), filepath.Join(t.TempDir(), "lab.iso")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	require.NoError(t, downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file, "--overwrite").err)
	requireImage(t, s, file)
}

func TestImageGoesToStandardOutput(t *testing.T) {
	t.Parallel()
	s := newImages(t, 2*mebi)
	got := downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", "-")
	require.NoError(t, got.err)
	require.True(t, got.out == string(s.content))

	s.broken = []http.HandlerFunc{s.cutAfter(mebi)}
	got = downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", "-")
	require.ErrorContains(t, got.err, "unexpected EOF", "written bytes cannot be undone")

	got = downloadImage(t.Context(), t, s, &cli.Terminal{Interactive: true}, "-f", "-")
	require.ErrorContains(t, got.err, "standard output is a terminal")
}

// slowWriter is a pipe or a disk that takes its time once, more than a silent connection has.
type slowWriter struct {
	bytes.Buffer
	pause time.Duration
}

func (w *slowWriter) Write(p []byte) (int, error) {
	if len(p) > 0 {
		time.Sleep(w.pause)
		w.pause = 0
	}
	return w.Buffer.Write(p)
}

func TestImageWaitsForASlowReader(t *testing.T) {
	t.Parallel()
	s := newImages(t, 8*mebi)                   // more than the sockets between take
	slow := &slowWriter{pause: 6 * time.Second} // the service itself may be slow on a busy machine
	got := downloadImage(t.Context(), t, s, &cli.Terminal{Out: slow}, "-f", "-", "--stall", "5s")
	require.NoError(t, got.err)
	require.True(t, bytes.Equal(s.content, slow.Bytes()))
}

func TestImageIsWrittenByOneDownloadAtATime(t *testing.T) {
	t.Parallel()
	s, file := newImages(t, 2*mebi), filepath.Join(t.TempDir(), "lab.iso")
	var second typed
	s.broken = []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		second = downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.content))
	}}
	require.NoError(t, downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file).err)
	require.ErrorContains(t, second.err, "another download writes "+file+".part")
	requireImage(t, s, file)
}
