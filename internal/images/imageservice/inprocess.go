package imageservice

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
)

// inProcess is an http.RoundTripper into a handler of this process.
type inProcess struct{ handler http.Handler }

// InProcess returns a transport that calls a handler without a connection. It keeps each answer in memory, so it is
// for small ones.
func InProcess(handler http.Handler) http.RoundTripper { return inProcess{handler} }

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	received := r.Clone(r.Context())
	received.RequestURI = r.URL.RequestURI()
	received.RemoteAddr = "127.0.0.1:0"
	if received.Host == "" {
		received.Host = r.URL.Host
	}
	if received.Body == nil {
		received.Body = http.NoBody
	}
	recorded := &recorder{header: http.Header{}}
	t.handler.ServeHTTP(recorded, received)
	recorded.WriteHeader(http.StatusOK) // for a handler that did not call it
	return &http.Response{
		Status: strconv.Itoa(recorded.status) + " " + http.StatusText(recorded.status), StatusCode: recorded.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: recorded.sent,
		Body: io.NopCloser(&recorded.body), ContentLength: int64(recorded.body.Len()), Request: r,
	}, nil
}

// recorder is an http.ResponseWriter that keeps the answer.
type recorder struct {
	header, sent http.Header // as the handler sets them, and as they were when the answer began
	status       int
	body         bytes.Buffer
}

func (a *recorder) Header() http.Header { return a.header }

func (a *recorder) WriteHeader(status int) {
	if a.status == 0 {
		a.status, a.sent = status, a.header.Clone()
	}
}

func (a *recorder) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}
