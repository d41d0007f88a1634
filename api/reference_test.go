package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/httpclient"
)

func TestReferencePageIsWholeWithoutAnotherNetwork(t *testing.T) {
	t.Parallel()
	s := newService(t)
	fetch := func(path string) reply {
		response, err := httpclient.New(t).Get(s.url + path)
		require.NoError(t, err)
		return httpclient.Read(t, response)
	}
	for _, path := range []string{"/docs", "/docs/"} {
		page := fetch(path)
		require.Equal(t, http.StatusOK, page.Status)
		require.Contains(t, string(page.Body), base+"/v2/openapi")
		require.Contains(t, string(page.Body), "/api/slipway/openapi")
		require.NotContains(t, string(page.Body), "//cdn")
	}
	for _, asset := range []string{"/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"} {
		got := fetch(asset)
		require.Equal(t, http.StatusOK, got.Status, asset)
		require.Greater(t, len(got.Body), 10_000, asset)
	}
	for _, document := range []string{base + "/v2/openapi", "/api/slipway/openapi"} {
		require.Equal(t, http.StatusOK, fetch(document).Status)
	}
}
