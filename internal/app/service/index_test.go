package service

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheFirstPageHasLinksForPeopleAndPrograms(t *testing.T) {
	t.Parallel()
	s := &Service{}
	s.options.BaseURL = "https://slipway.example.com:8090"
	get := func(accept string) (http.Header, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		s.index().ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code)
		body, err := io.ReadAll(w.Body)
		require.NoError(t, err)
		return w.Header(), string(body)
	}
	header, page := get("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8") // of Firefox
	require.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
	for _, part := range []string{
		`<a href="/temporal">`, `<a href="/docs">`, `<a href="/api/slipway/openapi">`, "slipway login https://slipway.example.com:8090",
	} {
		require.Contains(t, page, part)
	}
	header, answer := get("*/*") // of curl
	require.Equal(t, "application/json", header.Get("Content-Type"))
	require.JSONEq(t, `{
		"web_ui": "https://slipway.example.com:8090/temporal", "reference": "https://slipway.example.com:8090/docs",
		"installations": "https://slipway.example.com:8090/installations/",
		"openapi": "https://slipway.example.com:8090/api/assisted-install/v2/openapi",
		"openapi_slipway": "https://slipway.example.com:8090/api/slipway/openapi",
		"ready": "https://slipway.example.com:8090/ready", "metrics": "https://slipway.example.com:8090/metrics"
	}`, answer)
}
