package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMethodsThatAnAddressDoesNotTakeAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, c := range []struct{ method, path, allow string }{
		{http.MethodPatch, "/v2/clusters/import", "POST"},
		{http.MethodDelete, "/v2/clusters/disconnected", "POST"},
		{http.MethodPatch, "/v2/clusters/default-config", "GET, HEAD"},
		{http.MethodGet, "/v2/clusters/import", "POST"},
		{http.MethodPut, "/v2/events", "GET, HEAD, POST"},
	} {
		r := s.send(c.method, c.path, nil)
		r.Reason(http.StatusMethodNotAllowed)
		require.Equal(t, c.allow, r.Header.Get("Allow"), "%s %s", c.method, c.path)
	}
}
