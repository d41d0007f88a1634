package front_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/payload/front"
)

// serve runs a front on all addresses; 127.0.0.2 is the service's.
func serve(t *testing.T, apis ...string) (port string, authority *x509.CertPool) {
	t.Helper()
	signer, err := pki.Authority("router", time.Now())
	require.NoError(t, err)
	pair, err := signer.Issue(pki.Subject{Name: "router", Hosts: []string{"*.apps.example"}}, time.Now())
	require.NoError(t, err)
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)
	authority = x509.NewCertPool()
	require.True(t, authority.AppendCertsFromPEM(signer.Cert))
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	second, err := net.Listen("tcp4", "127.0.0.2:"+port)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	for _, l := range []net.Listener{listener, second} {
		f := &front.Front{
			Service: netip.MustParseAddr("127.0.0.2"), APIs: apis, Certificate: certificate,
			Hosts: func() []string { return []string{"console.apps.example"} }, Log: slog.New(slog.DiscardHandler),
		}
		ended := make(chan error, 1)
		go func() { ended <- f.Serve(ctx, l) }()
		t.Cleanup(func() {
			cancel()
			require.NoError(t, <-ended)
		})
	}
	return port, authority
}

func get(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	answer, err := client.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, strings.TrimSpace(string(text))
}

func TestTheAddressOfTheServiceLeadsToAnAPIServer(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the API") }))
	t.Cleanup(api.Close)
	dead, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, dead.Close())
	port, _ := serve(t, dead.Addr().String(), api.Listener.Addr().String())
	_, text := get(t, &http.Client{}, "http://127.0.0.2:"+port)
	require.Equal(t, "the API", text)
}

func TestTheRouterAnswersForRoutesAlone(t *testing.T) {
	t.Parallel()
	port, authority := serve(t)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: authority, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+port)
		},
	}}
	code, text := get(t, client, "https://console.apps.example/")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "bench route console.apps.example", text)
	code, _ = get(t, client, "https://other.apps.example/")
	require.Equal(t, http.StatusServiceUnavailable, code)
	code, _ = get(t, client, "https://other.apps.example/healthz")
	require.Equal(t, http.StatusOK, code)
}
