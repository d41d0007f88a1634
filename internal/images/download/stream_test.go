package download_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/download"
	"slipway/internal/images/remaster/layout"
)

const (
	date    = "Tue, 04 Mar 2025 05:06:07 GMT"
	earlier = "Tue, 04 Mar 2025 05:06:06 GMT"
	later   = "Tue, 04 Mar 2025 05:06:08 GMT"
)

func TestConditionsDecideWhatIsAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, layout.Of(layout.Base(0, 10)), []byte("0123456789"), download.Options{})
	const r = "bytes=2-4"
	for name, row := range map[string]struct {
		headers []string
		status  int
	}{
		"nothing is asked":                        {nil, 200},
		"a part":                                  {[]string{"Range", r}, 206},
		"the tag is known":                        {[]string{"If-None-Match", `"v1"`}, 304},
		"the tag is known weakly":                 {[]string{"If-None-Match", `W/"v1"`}, 304},
		"one of many tags is known":               {[]string{"If-None-Match", `"a,b", W/"c" , "v1"`}, 304},
		"a tag of a second header is known":       {[]string{"If-None-Match", `"a"`, "If-None-Match", `"v1"`}, 304},
		"any tag is known":                        {[]string{"If-None-Match", "*"}, 304},
		"another tag is known":                    {[]string{"If-None-Match", `"v2"`}, 200},
		"a tag within another is not it":          {[]string{"If-None-Match", `"xv1"`}, 200},
		"the date is known":                       {[]string{"If-Modified-Since", date}, 304},
		"a later date is known":                   {[]string{"If-Modified-Since", later}, 304},
		"an earlier date is known":                {[]string{"If-Modified-Since", earlier}, 200},
		"no date is no condition":                 {[]string{"If-Modified-Since", "yesterday"}, 200},
		"the tag decides over the date":           {[]string{"If-None-Match", `"v2"`, "If-Modified-Since", later}, 200},
		"known beats a part":                      {[]string{"If-None-Match", `"v1"`, "Range", r}, 304},
		"the tag is required":                     {[]string{"If-Match", `"v1"`}, 200},
		"any tag is required":                     {[]string{"If-Match", "*"}, 200},
		"another tag is required":                 {[]string{"If-Match", `"v2"`}, 412},
		"a weak tag proves nothing":               {[]string{"If-Match", `W/"v1"`}, 412},
		"required and known":                      {[]string{"If-Match", `"v1"`, "If-None-Match", `"v1"`}, 304},
		"unchanged since the date":                {[]string{"If-Unmodified-Since", date}, 200},
		"changed since the date":                  {[]string{"If-Unmodified-Since", earlier}, 412},
		"a required tag decides over the date":    {[]string{"If-Match", `"v1"`, "If-Unmodified-Since", earlier}, 200},
		"a part if the tag is the same":           {[]string{"Range", r, "If-Range", `"v1"`}, 206},
		"a part if another tag is the same":       {[]string{"Range", r, "If-Range", `"v2"`}, 200},
		"a part if a weak tag is the same":        {[]string{"Range", r, "If-Range", `W/"v1"`}, 200},
		"a part if the date is the same":          {[]string{"Range", r, "If-Range", date}, 206},
		"a part if an earlier date is the same":   {[]string{"Range", r, "If-Range", earlier}, 200},
		"a part if a later date is the same":      {[]string{"Range", r, "If-Range", later}, 200},
		"beyond the end, but the file is another": {[]string{"Range", "bytes=10-", "If-Range", `"v2"`}, 200},
	} {
		response, body, _ := s.ask(http.MethodGet, row.headers...)
		require.Equal(t, row.status, response.StatusCode, name)
		want := map[int]string{200: "0123456789", 206: "234"}[row.status]
		require.Equal(t, want, string(body), name)
		if row.status < http.StatusBadRequest {
			require.Equal(
				t,
				[]string{`"v1"`, date, "no-store"},
				[]string{response.Header.Get("ETag"), response.Header.Get("Last-Modified"), response.Header.Get("Cache-Control")},
				name,
			)
		}
		if row.status == http.StatusPartialContent {
			require.Equal(t, "bytes 2-4/10", response.Header.Get("Content-Range"), name)
		}
	}
	s.allClosed()
}

func TestHeadTellsWhatGetWouldAndOpensNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, layout.Of(layout.Base(0, 10)), []byte("0123456789"), download.Options{})
	for _, headers := range [][]string{nil, {"Range", "bytes=2-4"}, {"Range", "bytes=99-"}} {
		response, _, err := s.ask(http.MethodHead, headers...)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode, "ranges are for GET: RFC 9110, 14.2")
		require.Equal(
			t,
			"10 bytes application/octet-stream attachment; filename=\"full.iso\"",
			fmt.Sprint(response.ContentLength, " ", response.Header.Get("Accept-Ranges"), " ",
				response.Header.Get("Content-Type"), " ", response.Header.Get("Content-Disposition")),
		)
	}
	response, _, _ := s.ask(http.MethodHead, "If-None-Match", `"v1"`)
	require.Equal(t, http.StatusNotModified, response.StatusCode)
	require.Zero(t, s.allClosed())
}

func TestRangesAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	s := serve(t, layout.Of(layout.Base(0, 10)), []byte("0123456789"), download.Options{})
	for asked, want := range map[string]string{
		"bytes=0-0": "0", "bytes=9-9": "9", "bytes=3-": "3456789", "bytes=-3": "789", "bytes=-99": "0123456789", "bytes=5-99": "56789",
		"bytes=0-99999999999999999999999": "0123456789", "bytes= 1-2 ": "12", "bytes=1-2,": "12", "bytes=1-2,50-60": "12",
		"bytes=10-": "416", "bytes=10-20": "416", "bytes=-0": "416", "bytes=99999999999999999999999-": "416", "bytes=20-30,40-": "416",
		// An invalid range, or ranges longer than the file together, are answered with the whole file.
		"bytes=0-8,2-9": "all", "bytes=0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0,0-0": "all",
		"bytes=4-1": "all", "bytes=": "all", "bytes=-": "all", "bytes=a-b": "all", "bytes=1": "all",
		"bytes=--1": "all", "bytes=+1-2": "all",
		"lines=1-2": "all", "bytes": "all", "bytes=1-2,x": "all", "bytes=1-2-3": "all",
	} {
		response, body, err := s.ask(http.MethodGet, "Range", asked)
		switch want {
		case "416":
			require.Equal(t, http.StatusRequestedRangeNotSatisfiable, response.StatusCode, asked)
			require.Equal(t, "bytes */10", response.Header.Get("Content-Range"), asked)
			require.ErrorContains(t, err, "require a range that begins within the 10 bytes of the file", asked)
			require.Empty(t, response.Header.Get("ETag"), asked)
		case "all":
			require.Equal(t, http.StatusOK, response.StatusCode, asked)
			require.Equal(t, "0123456789", string(body), asked)
			require.Empty(t, response.Header.Get("Content-Range"), asked)
		default:
			require.Equal(t, http.StatusPartialContent, response.StatusCode, asked)
			require.Equal(t, want, string(body), asked)
			require.EqualValues(t, len(want), response.ContentLength, asked)
		}
	}
}

func TestSeveralRangesAreOneBodyWithSeveralParts(t *testing.T) {
	t.Parallel()
	base := noise(1 << 20)
	l, content := mixed(base)
	s := serve(t, l, base, download.Options{})
	response, body, err := s.ask(http.MethodGet, "Range", "bytes=0-99,500000-500999,-7")
	require.NoError(t, err)
	require.Equal(t, http.StatusPartialContent, response.StatusCode)
	require.EqualValues(t, len(body), response.ContentLength)
	require.Empty(t, response.Header.Get("Content-Range"), "each part has its own")
	kind, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/byteranges", kind)
	parts := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
	size := len(content)
	for _, want := range [][2]int{{0, 100}, {500000, 501000}, {size - 7, size}} {
		part, err := parts.NextPart()
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("bytes %d-%d/%d", want[0], want[1]-1, size), part.Header.Get("Content-Range"))
		require.Equal(t, "application/octet-stream", part.Header.Get("Content-Type"))
		got, err := io.ReadAll(part)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content[want[0]:want[1]], got))
	}
	_, err = parts.NextPart()
	require.ErrorIs(t, err, io.EOF)
	s.allClosed()
}

func TestAnyRangeIsThatOfTheWhole(t *testing.T) {
	t.Parallel()
	base := noise(3 << 20)
	l, content := mixed(base)
	s := serve(t, l, base, download.Options{})
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		from := random.Int64N(l.Size())
		to := min(from+random.Int64N([]int64{10, 5000, l.Size()}[random.IntN(3)]), l.Size()-1)
		response, body, err := s.ask(http.MethodGet, "Range", fmt.Sprintf("bytes=%d-%d", from, to))
		require.NoError(t, err)
		require.Equal(t, http.StatusPartialContent, response.StatusCode)
		require.True(t, bytes.Equal(content[from:to+1], body), "%d-%d", from, to)
	}
	_, body, err := s.ask(http.MethodGet)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, body))
	s.allClosed()
}

func TestRangesBeyondFourGiB(t *testing.T) {
	t.Parallel()
	const far = 5<<30 + 123
	s := serve(t, layout.Of(layout.Base(0, far), layout.Bytes([]byte("patched")), layout.Base(far+7, 1<<20)), nil, download.Options{})
	file, err := os.OpenFile(s.path, os.O_WRONLY, 0)
	require.NoError(t, err)
	end := noise(1 << 20)
	_, err = file.WriteAt(end, far+7)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	_, body, err := s.ask(http.MethodGet, "Range", "bytes="+strconv.Itoa(far-3)+"-"+strconv.Itoa(far+7+99))
	require.NoError(t, err)
	require.Equal(t, "\x00\x00\x00patched"+string(end[:100]), string(body))
	response, _, err := s.ask(http.MethodHead)
	require.NoError(t, err)
	require.EqualValues(t, far+7+1<<20, response.ContentLength)
}
