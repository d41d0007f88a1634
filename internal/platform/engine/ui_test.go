package engine_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"slipway/internal/testing/postgrestest"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/frontend"
	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
)

func TestUIShowsWorkflows(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	temporal := startTemporal(t, postgres.URL())
	defer stopTemporal(t, temporal)
	c, w := startWorker(t, temporal)
	defer func() { w.Stop(); c.Close() }()
	run := startWorkflow(t, c, "shown")
	handler, err := frontend.UI(frontend.UIOptions{Frontend: bundled(t, temporal), InsecureCookies: true})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	await.True(t, func() bool {
		body := get(t, server.URL+"/temporal/api/v1/namespaces/slipway/workflows")
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

func get(t *testing.T, url string) string {
	t.Helper()
	response, err := httpclient.New(t).Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
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
	response, err := httpclient.New(t).Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	return response.StatusCode
}
