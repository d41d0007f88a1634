package guard_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/guard"
	"slipway/internal/testing/httpclient"
)

// guarded starts a server that counts what reaches its handler; clock is the guard's.
func guarded(t *testing.T, clock func() time.Time) (*httptest.Server, chan string) {
	t.Helper()
	reached := make(chan string, 100)
	server := httptest.NewServer(guard.Guard(guard.Options{
		Names: []string{"slipway.example.com"}, Origins: []string{"https://console.example.com"}, Log: slog.New(slog.DiscardHandler), Now: clock,
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		reached <- r.Method
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestTimeout)
			return
		}
		fmt.Fprintf(w, "%d", len(content))
	})))
	t.Cleanup(server.Close)
	return server, reached
}

// Attacks: pages of other sites send forms, and reach the service by a name that leads to it.
func TestPagesOfOtherSitesReachNothing(t *testing.T) {
	t.Parallel()
	server, reached := guarded(t, time.Now)
	for name, c := range map[string]struct {
		method, host string
		headers      []string
		status       int
	}{
		"a rebound name":                {"GET", "attacker.example:8090", nil, 421},
		"a rebound name, with its page": {"POST", "attacker.example", []string{"Origin", "http://attacker.example"}, 421},
		"a form of another site":        {"POST", "", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a site beside it":              {"DELETE", "", []string{"Sec-Fetch-Site", "same-site"}, 403},
		"an old browser":                {"PUT", "", []string{"Origin", "https://attacker.example"}, 403},
		"a page without an origin":      {"PATCH", "", []string{"Origin", "null"}, 403},
		"a page of its own":             {"POST", "", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		"an address that is typed":      {"GET", "", []string{"Sec-Fetch-Site", "none"}, 200},
		"a link of another site":        {"GET", "", []string{"Sec-Fetch-Site", "cross-site"}, 200},
		"a program":                     {"POST", "", nil, 200},
		"its name":                      {"GET", "SLIPWAY.example.com.:8090", nil, 200},
		"an address":                    {"GET", "[::1]:8090", nil, 200},
		"a console that is trusted":     {"POST", "", []string{"Origin", "https://console.example.com", "Sec-Fetch-Site", "cross-site"}, 200},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, server.URL, nil)
		require.NoError(t, err)
		if c.host != "" {
			request.Host = c.host
		}
		for i := 0; i < len(c.headers); i += 2 {
			request.Header.Set(c.headers[i], c.headers[i+1])
		}
		response, err := httpclient.New(t).Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		require.Equal(t, c.status, response.StatusCode, name)
		require.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"), name)
		if c.status == http.StatusOK {
			<-reached
		}
		require.Empty(t, reached, name)
	}
}

// Attack: half a body holds a connection.
func TestBodyThatStopsEndsItsRequest(t *testing.T) {
	t.Parallel()
	const patience = 30 * time.Second
	start := time.Now()
	// The clock is 29.8 s behind the network's, so that the deadline is close.
	server, reached := guarded(t, func() time.Time { return time.Now().Add(200*time.Millisecond - patience) })
	c, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
	require.NoError(t, err)
	defer c.Close()
	_, err = fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusRequestTimeout, response.StatusCode)
	require.Less(t, time.Since(start), patience)
	<-reached

	// A whole body leaves its connection to the next request, however late that comes.
	for range 2 {
		response, err := httpclient.New(t).Post(server.URL, "text/plain", strings.NewReader("whole"))
		require.NoError(t, err)
		content, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		_ = response.Body.Close()
		require.Equal(t, "5", string(content))
		time.Sleep(300 * time.Millisecond)
	}
}
