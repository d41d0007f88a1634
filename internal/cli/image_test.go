package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
)

func TestImageIsDownloadedWithProgress(t *testing.T) {
	t.Parallel()
	s, file := newImages(t, 20*mebi), filepath.Join(t.TempDir(), "lab.iso")
	got := downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file, "--type", "full")
	require.NoError(t, got.err)
	require.Equal(t, "full image of lab: "+file+"\n", got.out)
	require.Contains(t, got.notes, "lab.iso: 50 % of 20 MiB\n")
	require.Contains(t, got.notes, "lab.iso: 100 % of 20 MiB\n")
	require.Equal(t, []string{"full.iso"}, s.requests, "one request")
	requireImage(t, s, file)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode(), "there is a pull secret in it")
}

func TestImageOnATerminalHasABar(t *testing.T) {
	t.Parallel()
	s, file := newImages(t, 4*mebi), filepath.Join(t.TempDir(), "lab.iso")
	got := downloadImage(t.Context(), t, s, &cli.Terminal{Interactive: true, Width: 100, Height: 20}, "-f", file)
	require.NoError(t, got.err)
	require.Contains(t, got.out, "lab.iso")
	require.Contains(t, got.out, "4.0 MiB")
	require.Regexp(t, `^hosts that boot this image do not reach the service at http://127\.0\.0\.1:\d+: start it with --listen ADDRESS:PORT or `+
		"--base-url, and download the image again\n$", got.notes)
	requireImage(t, s, file)
}

func TestImageGoesOnAfterABreak(t *testing.T) {
	t.Parallel()
	s, file := newImages(t, 9*mebi), filepath.Join(t.TempDir(), "lab.iso")
	s.broken = []http.HandlerFunc{s.cutAfter(4 * mebi), refuse(502, ""), s.cutAfter(3 * mebi)}
	got := downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file)
	require.NoError(t, got.err)
	require.Contains(t, got.notes, "the connection broke")
	require.Contains(t, got.notes, "resuming at 7 of 9 MiB")
	require.Equal(t, []string{
		"minimal.iso", `minimal.iso bytes=4194304- "one"`, `minimal.iso bytes=4194304- "one"`, `minimal.iso bytes=7340032- "one"`,
	}, s.requests)
	requireImage(t, s, file)
}

func TestImageThatBringsNothingIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s, file := newImages(t, 3*mebi), filepath.Join(t.TempDir(), "lab.iso")
	s.broken = []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", s.etag)
		w.Header().Set("Content-Length", fmt.Sprint(len(s.content)))
		_, _ = w.Write(s.content[:mebi])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}}
	got := downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file, "--stall", "200ms")
	require.NoError(t, got.err)
	require.Contains(t, got.notes, "the connection is silent")
	requireImage(t, s, file)
}

func TestImageGoesOnInTheNextRun(t *testing.T) {
	t.Parallel()
	s, file := newImages(t, 9*mebi), filepath.Join(t.TempDir(), "lab.iso")
	ctx, interrupt := context.WithCancel(t.Context())
	s.broken = []http.HandlerFunc{s.cutAfter(4 * mebi), func(_ http.ResponseWriter, r *http.Request) {
		interrupt()
		<-r.Context().Done() // an answer would be one
	}}
	first := downloadImage(ctx, t, s, &cli.Terminal{}, "-f", file)
	require.ErrorContains(t, first.err, "stopped: context canceled; 4 of 9 MiB are kept in "+file+".part: the same command continues there")
	note, err := os.ReadFile(file + ".part.json")
	require.NoError(t, err)
	require.JSONEq(
		t,
		`{"image":"`+envID.String()+`/4.22/x86_64/minimal.iso","etag":"\"one\"","size":9437184,"synced":4194304}`,
		string(note),
	)
	require.NotContains(t, first.err.Error()+first.notes, "secret", "the token in the address")

	second := downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file)
	require.NoError(t, second.err)
	require.Contains(t, second.notes, "resuming at 4 of 9 MiB")
	require.Equal(t, `minimal.iso bytes=4194304- "one"`, s.requests[len(s.requests)-1])
	requireImage(t, s, file)
}

func TestImageThatWasCompleteButNotRenamedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s, file := newImages(t, mebi), filepath.Join(t.TempDir(), "lab.iso")
	leave(t, s, file, "minimal.iso", s.content)
	require.NoError(t, downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file).err)
	require.Len(t, s.requests, 1)
	requireImage(t, s, file)
}

func TestImageGoesOnWithWhatWasSafelyOnTheDisk(t *testing.T) {
	t.Parallel()
	s, file := newImages(t, 9*mebi), filepath.Join(t.TempDir(), "lab.iso")
	leave(t, s, file, "minimal.iso", s.content[:3*mebi])
	lost := append(append([]byte{}, s.content[:3*mebi]...), make([]byte, mebi)...) // the power went
	require.NoError(t, os.WriteFile(file+".part", lost, 0o600))
	require.NoError(t, downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file).err)
	require.Equal(t, []string{`minimal.iso bytes=3145728- "one"`}, s.requests)
	requireImage(t, s, file)
}

func TestImageThatChangedStartsAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		left int
	}{
		{"a part of the old one is there", 3 * mebi},
		{"more than the new one has is there", 30 * mebi},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, file := newImages(t, 9*mebi), filepath.Join(t.TempDir(), "lab.iso")
			leave(t, s, file, "minimal.iso", make([]byte, c.left))
			s.etag = `"two"`
			got := downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file)
			require.NoError(t, got.err)
			require.Contains(t, got.notes, "lab.iso: the image has changed since the download began: starting again\n")
			requireImage(t, s, file)
		})
	}
}

func TestImageDoesNotGoOnWithWhatIsOfAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		leave      func(t *testing.T, s *images, file string)
	}{
		{"the part of another type", "belongs to another image: starting again", func(t *testing.T, s *images, file string) {
			leave(t, s, file, "full.iso", make([]byte, 3*mebi))
		}},
		{"a part without a note", "", func(t *testing.T, s *images, file string) {
			require.NoError(t, os.WriteFile(file+".part", make([]byte, 20*mebi), 0o600))
		}},
		{"a note that cannot be read", "", func(t *testing.T, s *images, file string) {
			leave(t, s, file, "minimal.iso", make([]byte, 3*mebi))
			require.NoError(t, os.WriteFile(file+".part.json", []byte(`{"image":`), 0o600))
		}},
		{"a server that answers a range with another one", "require an answer with Content-Range", func(t *testing.T, s *images, file string) {
			leave(t, s, file, "minimal.iso", s.content[:mebi])
			s.broken = []http.HandlerFunc{refuse(206, "x", "ETag", s.etag, "Content-Range", "bytes 7-9437183/9437184")}
		}},
		{"a server that answers a range of another image", "starting again", func(t *testing.T, s *images, file string) {
			leave(t, s, file, "minimal.iso", make([]byte, mebi))
			s.broken = []http.HandlerFunc{refuse(206, "x", "ETag", `"two"`, "Content-Range", "bytes 1048576-9437183/9437184")}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, file := newImages(t, 9*mebi), filepath.Join(t.TempDir(), "lab.iso")
			c.leave(t, s, file)
			got := downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file)
			if got.err != nil {
				require.ErrorContains(t, got.err, c.want)
				require.NoFileExists(t, file)
				return
			}
			require.Contains(t, got.notes, c.want)
			requireImage(t, s, file)
		})
	}
}

func TestImageWaitsForAServiceThatIsNotReady(t *testing.T) {
	t.Parallel()
	busy := refuse(503, `{"reason":"the operating system image is being downloaded: 312 of 1187 MiB"}`, "Retry-After", "1")
	s, file := newImages(t, mebi), filepath.Join(t.TempDir(), "lab.iso")
	s.broken = []http.HandlerFunc{busy, refuse(502, ""), busy}
	got := downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file)
	require.NoError(t, got.err)
	require.Equal(
		t,
		1,
		strings.Count(got.notes, "lab.iso: the operating system image is being downloaded: 312 of 1187 MiB\n"),
		"said once: %s",
		got.notes,
	)
	require.Contains(t, got.notes, "502 Bad Gateway; trying again", "a restart in the meantime")
	requireImage(t, s, file)

	s.broken = []http.HandlerFunc{busy, busy, busy}
	got = downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file+"2", "--timeout", "1s")
	require.ErrorContains(t, got.err, "312 of 1187 MiB (waited 1s)")
	require.Equal(t, 6, cli.ExitCode(got.err))
	require.NoFileExists(t, file+"2.part")
}

func TestImageAddressThatEndedIsMadeAnew(t *testing.T) {
	t.Parallel()
	s, file := newImages(t, 3*mebi), filepath.Join(t.TempDir(), "lab.iso")
	cut := s.cutAfter(mebi)
	s.broken = []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.token++ // the key was rotated
		s.mu.Unlock()
		cut(w, r)
	}}
	require.NoError(t, downloadImage(t.Context(), t, s, &cli.Terminal{}, "-f", file).err)
	requireImage(t, s, file)
}
