package frontend_test

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/platform/frontend"
)

func uiServer(t *testing.T, o frontend.UIOptions) *httptest.Server {
	t.Helper()
	o.InsecureCookies = true
	handler, err := frontend.UI(o)
	require.NoError(t, err)
	router := chi.NewRouter()
	router.Mount(frontend.UIPath, handler)
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	return server
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(body)
}

func TestUIServesPagesBelowItsPath(t *testing.T) {
	t.Parallel()
	server := uiServer(t, frontend.UIOptions{Frontend: frontend.Bundled("127.0.0.1:1"), CodecEndpoint: "https://codec.example/v1"})
	for _, path := range []string{"/temporal", "/temporal/", "/temporal/namespaces/slipway/workflows"} {
		response, page := get(t, server.URL+path)
		require.Equal(t, http.StatusOK, response.StatusCode, path)
		require.Contains(t, page, `base: "/temporal"`, path)

		policy := response.Header.Values("Content-Security-Policy")
		require.Len(t, policy, 1, path)
		require.Contains(t, policy[0], "default-src 'self'")
		require.Contains(t, policy[0], "frame-ancestors 'self'")
		require.Contains(t, policy[0], "connect-src 'self' https://codec.example;")
		require.NotContains(t, strings.SplitN(policy[0], "style-src", 2)[0], "unsafe", "scripts need a hash")
		for _, script := range regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page, -1) {
			sum := sha256.Sum256([]byte(script[1]))
			require.Contains(t, policy[0], "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
	}
	_, page := get(t, server.URL+"/temporal/")
	asset := regexp.MustCompile(`/temporal/_app/immutable/entry/start\.[^"]+\.js`).FindString(page)
	response, _ := get(t, server.URL+asset)
	require.Equal(t, http.StatusOK, response.StatusCode, asset)
	require.Contains(t, response.Header.Get("Content-Type"), "javascript")
}

func TestUISettings(t *testing.T) {
	t.Parallel()
	server := uiServer(t, frontend.UIOptions{Frontend: frontend.Bundled("127.0.0.1:1"), ReadOnly: true})
	response, body := get(t, server.URL+"/temporal/api/v1/settings")
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Contains(t, body, `"DefaultNamespace":"slipway"`)
	require.Contains(t, body, `"DisableWriteActions":true`)
}
