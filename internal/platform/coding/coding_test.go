package coding_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/coding"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]coding.Coding{
		"":                                    coding.Identity,
		"gzip":                                coding.Gzip,
		"GZIP":                                coding.Gzip,
		"zstd":                                coding.Zstd,
		"gzip, deflate, br":                   coding.Gzip,
		"gzip, deflate, br, zstd":             coding.Zstd, // Chromium
		"gzip;q=1.0, zstd;q=0.5":              coding.Gzip,
		"gzip; q=0.2 , zstd;q=0.9":            coding.Zstd,
		"gzip;q=0":                            coding.Identity,
		"gzip;q=0, *":                         coding.Zstd,
		"*;q=0":                               coding.Identity,
		"*":                                   coding.Zstd,
		"identity":                            coding.Identity,
		"identity;q=1, gzip;q=0.5":            coding.Identity,
		"identity;q=0.5, gzip;q=1":            coding.Gzip,
		"br":                                  coding.Identity,
		"gzip;q=nonsense":                     coding.Identity,
		"gzip;q=7":                            coding.Identity,
		"gzip;q=-1":                           coding.Identity,
		"gzip;level=3":                        coding.Gzip,
		",, ,":                                coding.Identity,
		strings.Repeat("gzip;q=0,", 9) + "br": coding.Identity,
	} {
		r := &http.Request{Header: http.Header{}}
		if accept != "" {
			r.Header.Set("Accept-Encoding", accept)
		}
		require.Equal(t, want, coding.Of(r), "Accept-Encoding: %s", accept)
	}
	two := &http.Request{Header: http.Header{"Accept-Encoding": {"br", "gzip"}}}
	require.Equal(t, coding.Gzip, coding.Of(two))
}

// unpack decompresses, gzip with another library.
func unpack(t *testing.T, c coding.Coding, packed []byte) string {
	t.Helper()
	var from io.Reader
	switch c {
	case coding.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(packed))
		require.NoError(t, err)
		from = r
	case coding.Zstd:
		r, err := zstd.NewReader(bytes.NewReader(packed))
		require.NoError(t, err)
		t.Cleanup(r.Close)
		from = r
	case coding.Identity:
		from = bytes.NewReader(packed)
	}
	text, err := io.ReadAll(from)
	require.NoError(t, err)
	return string(text)
}

func TestWriter(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`{"a host":"of a list"},`, 100)
	for _, c := range []coding.Coding{coding.Identity, coding.Gzip, coding.Zstd} {
		var group sync.WaitGroup
		for range 4 { // writers are used again, and by several at once
			group.Go(func() {
				for range 5 {
					var packed bytes.Buffer
					w := coding.NewWriter(&packed, c)
					for _, part := range []string{long, "[", long, "]"} {
						n, err := io.WriteString(w, part)
						require.NoError(t, err)
						require.Equal(t, len(part), n)
					}
					require.NoError(t, w.Close())
					require.Equal(t, c, w.Coding())
					require.Equal(t, long+"["+long+"]", unpack(t, c, packed.Bytes()))
				}
			})
		}
		group.Wait()

		var plain bytes.Buffer
		w := coding.NewWriter(&plain, c)
		_, err := io.WriteString(w, "[]")
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.Equal(t, coding.Identity, w.Coding(), "a short answer is not compressed")
		require.Equal(t, "[]", plain.String())
	}
}

// The programs of the formats' authors read what is written.
func TestProgramsReadIt(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`{"a host":"of a list"},`, 10_000)
	for _, c := range []coding.Coding{coding.Gzip, coding.Zstd} {
		t.Run(string(c), func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(string(c))
			if err != nil {
				t.Skipf("needs %s (Debian package %[1]s)", c)
			}
			var packed bytes.Buffer
			w := coding.NewWriter(&packed, c)
			_, err = io.WriteString(w, text)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			read := exec.Command(program, "--decompress", "--stdout")
			read.Stdin = &packed
			found, err := read.Output()
			require.NoError(t, err)
			require.Equal(t, text, string(found))
		})
	}
}

// refusing is a full disk.
type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A writer that failed leaves nothing for the next one.
func TestWriterThatFails(t *testing.T) {
	t.Parallel()
	for _, c := range []coding.Coding{coding.Gzip, coding.Zstd} {
		w := coding.NewWriter(refusing{}, c)
		var err error
		for range 1000 {
			if _, err = w.Write(bytes.Repeat([]byte("0123456789abcdef"), 1<<12)); err != nil {
				break
			}
		}
		require.ErrorIs(t, errors.Join(err, w.Close()), io.ErrShortWrite)
		var packed bytes.Buffer
		next := coding.NewWriter(&packed, c)
		text := strings.Repeat("next ", 1000)
		_, err = io.WriteString(next, text)
		require.NoError(t, err)
		require.NoError(t, next.Close())
		require.Equal(t, text, unpack(t, c, packed.Bytes()))
	}
}
