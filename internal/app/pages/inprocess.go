package pages

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"
)

// inProcess sends requests to a handler of this process, from the address that the request for a page is from.
type inProcess struct {
	handler http.Handler
	page    *http.Request
}

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(request *http.Request) (*http.Response, error) {
	// The route of the page is not the route of this request.
	r := request.Clone(context.WithValue(request.Context(), chi.RouteCtxKey, (*chi.Context)(nil)))
	r.RequestURI, r.RemoteAddr, r.Host, r.TLS = r.URL.RequestURI(), t.page.RemoteAddr, t.page.Host, t.page.TLS
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(w, r)
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.header,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: request,
	}, nil
}

// recorder keeps an answer. The operations that pages call answer in pages.
type recorder struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if !w.wrote {
		w.status, w.wrote = status, true
	}
}

func (w *recorder) Write(p []byte) (int, error) {
	w.wrote = true
	return w.body.Write(p)
}
