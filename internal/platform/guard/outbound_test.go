package guard_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http/httpproxy"

	"slipway/internal/model"
	"slipway/internal/platform/guard"
)

func TestConnectionsOfUsersLeadToNoServiceOfThisMachine(t *testing.T) {
	t.Parallel()
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		_, _ = io.WriteString(w, "secret")
	}))
	t.Cleanup(server.Close)
	here := server.Listener.Addr().String()
	port := here[strings.LastIndex(here, ":"):]
	get := func(o guard.Outbound, address string) error {
		c := &http.Client{Transport: &http.Transport{DialContext: o.DialContext, DisableKeepAlives: true}}
		answer, err := c.Get(address)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	for _, address := range []string{
		"http://" + here, "http://localhost" + port, "http://0.0.0.0" + port, "http://127.8.9.10" + port, "http://[::ffff:127.0.0.1]" + port,
		"http://[::1]" + port, "http://169.254.169.254/latest/meta-data", "http://[fe80::1]/", "http://[fd00:ec2::254]/", "http://[ff02::1]/",
	} {
		err := get(guard.Outbound{}, address)
		require.ErrorIs(t, err, model.ErrUnprocessable, address)
		require.ErrorContains(t, err, "require an address beyond this machine and its links", address)
	}
	require.False(t, asked)
	require.NoError(t, get(guard.Outbound{Hosts: []string{here}}, "http://"+here), "what the administrator named")
	require.NoError(t, get(guard.Outbound{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, "http://"+here))
	err := get(guard.Outbound{Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}, "http://"+here)
	require.ErrorContains(t, err, "require an address in one of the networks [192.0.2.0/24] (--fetch-networks)")
}

func TestProxiesAreReachedWhereverTheyAre(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"127.0.0.1:3128", "proxy.example.com:443"},
		guard.Proxies(&httpproxy.Config{HTTPProxy: "127.0.0.1:3128", HTTPSProxy: "https://ann:secret@proxy.example.com"}))
	require.Empty(t, guard.Proxies(&httpproxy.Config{}))
}
