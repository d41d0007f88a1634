package engine_test

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

	"slipway/internal/platform/engine"
	"slipway/internal/testing/await"
)

func uiServer(t *testing.T, o engine.UIOptions) *httptest.Server {
	t.Helper()
	o.InsecureCookies = true
	handler, err := engine.UI(o)
	require.NoError(t, err)
	router := chi.NewRouter()
	router.Mount(engine.UIPath, handler)
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
	server := uiServer(t, engine.UIOptions{Frontend: engine.Bundled("127.0.0.1:1"), CodecEndpoint: "https://codec.example/v1"})
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
	server := uiServer(t, engine.UIOptions{Frontend: engine.Bundled("127.0.0.1:1"), ReadOnly: true})
	response, body := get(t, server.URL+"/temporal/api/v1/settings")
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Contains(t, body, `"DefaultNamespace":"slipway"`)
	require.Contains(t, body, `"DisableWriteActions":true`)
}

func TestUIShowsWorkflows(t *testing.T) {
	t.Parallel()
	postgres := startPostgres(t, dataFolder(t))
	temporal := startTemporal(t, postgres.URL())
	defer stopTemporal(t, temporal)
	c, w := startWorker(t, temporal)
	defer func() { w.Stop(); c.Close() }()
	run := startWorkflow(t, c, "shown")
	server := uiServer(t, engine.UIOptions{Frontend: engine.Bundled(temporal.Address())})
	eventually(t, func() bool {
		_, body := get(t, server.URL+"/temporal/api/v1/namespaces/slipway/workflows")
		return strings.Contains(body, run.GetRunID())
	}, "the workflow in the list")

	signal := server.URL + "/temporal/api/v1/namespaces/slipway/workflows/shown/signal/go"
	payload := `{"input":{"payloads":[{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"Im9uIg=="}]}}`
	require.Equal(t, http.StatusForbidden, post(t, signal, payload, ""), "a page elsewhere may not signal")
	require.Equal(t, http.StatusOK, post(t, signal, payload, "token"))
	var got string
	require.NoError(t, run.Get(await.Context(t), &got))
	require.Equal(t, "on", got)
}

// post sends a request as a browser does, with the CSRF token of the UI's own pages if there is one.
func post(t *testing.T, url, body, token string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(await.Context(t), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	if token != "" {
		request.Header.Set("Sec-Fetch-Site", "same-origin")
		request.Header.Set("X-CSRF-Token", token)
		request.AddCookie(&http.Cookie{Name: "_csrf", Value: token})
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	return response.StatusCode
}
