// Package httpclient makes requests of tests, with connections of their own. Closing an httptest.Server closes idle
// connections of http.DefaultTransport, and with them requests that another test has just begun.
package httpclient

import (
	"net/http"
	"sync"
	"testing"
)

var transports sync.Map // of tests

// New returns a client. Clients of one test share connections, which are closed when the test ends.
func New(t testing.TB) *http.Client {
	t.Helper()
	transport, exists := transports.LoadOrStore(t, Transport())
	if !exists {
		t.Cleanup(func() {
			transports.Delete(t)
			transport.(*http.Transport).CloseIdleConnections() //nolint:forcetypeassert // stored above
		})
	}
	return &http.Client{Transport: transport.(http.RoundTripper)} //nolint:forcetypeassert // stored above
}

// Transport returns a copy of http.DefaultTransport, with connections of its own.
func Transport() *http.Transport {
	return http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // as documented by net/http
}
