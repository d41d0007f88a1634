package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/client"
)

func TestImage(t *testing.T) {
	t.Parallel()
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for n := 0; n+1 < len(pairs); n += 2 {
			h.Set(pairs[n], pairs[n+1])
		}
		return h
	}
	for _, c := range []struct {
		name   string
		from   int64
		status int
		header http.Header
		body   string
		want   client.Image
		err    string
	}{
		{name: "comes whole", status: 200, header: header("ETag", `"a"`), body: "0123456789", want: client.Image{ETag: `"a"`, Size: 10}},
		{
			name: "comes from a byte on", from: 4, status: 206, header: header("ETag", `"a"`, "Content-Range", "bytes 4-9/10"),
			body: "456789",
			want: client.Image{ETag: `"a"`, From: 4, Size: 10},
		},
		{
			name: "comes whole when it has changed", from: 4, status: 200, header: header("ETag", `"b"`), body: "01234",
			want: client.Image{ETag: `"b"`, Size: 5},
		},
		{
			name: "has nothing left", from: 10, status: 416, header: header("Content-Range", "bytes */10"),
			want: client.Image{ETag: `"a"`, From: 10, Size: 10},
		},
		{name: "cannot resume with a weak ETag", status: 200, header: header("ETag", `W/"a"`), body: "0", want: client.Image{Size: 1}},
		{
			name: "fails when nothing comes", from: 4, status: 200, header: header("ETag", `"b"`),
			err: "the answer is empty, without an image",
		},
		{
			name: "fails when the range ends early", from: 4, status: 206, header: header("Content-Range", "bytes 4-8/10"),
			err: `found "bytes 4-8/10"`,
		},
		{
			name: "fails when the size is unknown", from: 4, status: 206, header: header("Content-Range", "bytes 4-9/*"),
			err: `found "bytes 4-9/*"`,
		},
		{name: "fails when there is no range", from: 4, status: 206, err: `found ""`},
		{name: "fails when nothing says how much is there", from: 4, status: 416, err: "require Content-Range: bytes */SIZE"},
		{name: "fails when a whole image has no range", status: 416, err: "GET full.iso: 416"},
		{
			name: "says what the service says", status: 404, body: `{"reason":"there is no such version"}`,
			err: "GET full.iso: 404: there is no such version",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got http.Header
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header
				for name, values := range c.header {
					w.Header()[name] = values
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			t.Cleanup(service.Close)
			speaker := client.New(client.Options{BaseURL: "http://127.0.0.1:1", UserToken: "user-secret", Token: "agent-secret"})
			image, err := speaker.Image(
				t.Context(),
				client.ImageRange{Address: service.URL + "/bytoken/TOKEN/4.22/x86_64/full.iso", From: c.from, ETag: `"a"`},
			)
			require.NotContains(t, got, "Authorization", "the address proves itself")
			require.NotContains(t, got, "X-Secret-Key")
			require.Equal(t, "identity", got.Get("Accept-Encoding"))
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				require.NotContains(t, err.Error(), "TOKEN")
				return
			}
			require.NoError(t, err)
			defer image.Body.Close()
			if c.from > 0 {
				require.Equal(t, "bytes=", got.Get("Range")[:6])
				require.Equal(t, `"a"`, got.Get("If-Range"))
			}
			body, err := io.ReadAll(image.Body)
			require.NoError(t, err)
			require.Equal(t, c.body, string(body))
			image.Body = nil
			require.Equal(t, c.want, *image)
		})
	}
	_, err := client.New(client.Options{}).
		Image(t.Context(), client.ImageRange{Address: "http://127.0.0.1:1/bytoken/TOKEN/4.22/x86_64/full.iso"})
	require.ErrorContains(t, err, "connection refused")
	require.NotContains(t, err.Error(), "TOKEN")
}
