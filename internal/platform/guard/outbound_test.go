package guard_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
		"http://[::]" + port, "http://0.1.2.3" + port, "http://[64:ff9b::127.0.0.1]" + port, "http://[64:ff9b::a9fe:a9fe]/",
		"http://[64:ff9b:1::7f00:1]" + port, "http://[2002:7f00:1::1]" + port, "http://[::127.0.0.1]" + port, "http://168.63.129.16/",
		"http://100.100.100.200/",
	} {
		err := get(guard.Outbound{}, address)
		require.ErrorIs(t, err, model.ErrUnprocessable, address)
		require.ErrorContains(t, err, "require an address beyond this machine and its links", address)
	}
	require.False(t, asked)
	require.NoError(t, get(guard.Outbound{Hosts: []string{here}}, "http://"+here), "what the administrator named")
	require.NoError(t, get(guard.Outbound{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, "http://"+here))
	err := get(guard.Outbound{Networks: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}}, "http://203.0.113.9/")
	require.ErrorContains(t, err, "require an address in one of the networks [198.51.100.0/24] (--fetch-networks)")
	all := guard.Outbound{Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}}
	require.ErrorIs(t, get(all, "http://"+here), model.ErrUnprocessable, "a network opens this machine when it is nothing else")
}

// ownAddress listens on an address of this machine that is no loopback.
func ownAddress(t *testing.T) (address netip.AddrPort, asked *atomic.Int64) {
	t.Helper()
	own, err := guard.OwnAddresses()
	require.NoError(t, err)
	n := slices.IndexFunc(own, func(a netip.Addr) bool { return a.Is4() && !a.IsLoopback() && !a.IsLinkLocalUnicast() })
	if n < 0 {
		t.Skip("SKIP: this machine has no address but loopback")
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", netip.AddrPortFrom(own[n], 0).String())
	require.NoError(t, err)
	asked = &atomic.Int64{}
	count := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: count}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return netip.MustParseAddrPort(l.Addr().String()), asked
}

// Attack: a service of this machine listens on all its addresses, and a user names one that is not loopback.
func TestConnectionsOfUsersLeadToNoAddressOfThisMachine(t *testing.T) {
	t.Parallel()
	here, asked := ownAddress(t)
	get := func(o guard.Outbound, address string) error {
		c := &http.Client{Transport: &http.Transport{DialContext: o.DialContext, DisableKeepAlives: true}}
		answer, err := c.Get(address)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	bytes := here.Addr().As4()
	wide := guard.Outbound{Networks: []netip.Prefix{netip.PrefixFrom(here.Addr(), 8).Masked(), netip.MustParsePrefix("::/0")}}
	for name, address := range map[string]string{
		"its address":         "http://" + here.String(),
		"mapped to IPv6":      fmt.Sprintf("http://[::ffff:%s]:%d", here.Addr(), here.Port()),
		"translated by NAT64": fmt.Sprintf("http://[64:ff9b::%x:%x]:%d", bytes[:2], bytes[2:], here.Port()),
	} {
		require.ErrorIs(t, get(guard.Outbound{}, address), model.ErrUnprocessable, name)
		require.ErrorIs(t, get(wide, address), model.ErrUnprocessable, name)
	}
	redirects := httptest.NewServer(http.RedirectHandler("http://"+here.String(), http.StatusTemporaryRedirect))
	t.Cleanup(redirects.Close)
	err := get(guard.Outbound{Hosts: []string{redirects.Listener.Addr().String()}}, redirects.URL)
	require.ErrorIs(t, err, model.ErrUnprocessable, "redirected")
	require.Zero(t, asked.Load())
	require.NoError(t, get(guard.Outbound{Hosts: []string{here.String()}}, "http://"+here.String()), "the administrator named it")
	require.NoError(t, get(guard.Outbound{Networks: []netip.Prefix{netip.PrefixFrom(here.Addr(), 32)}}, "http://"+here.String()))
	require.EqualValues(t, 2, asked.Load())
}

// Attack: the database has no TLS within its network, and a user names it as a registry.
func TestConnectionsOfUsersLeadToNoPartOfTheService(t *testing.T) {
	t.Parallel()
	here, asked := ownAddress(t)
	o := guard.Outbound{Networks: []netip.Prefix{netip.PrefixFrom(here.Addr(), 32)}, Services: []string{here.String()}}
	c := &http.Client{Transport: &http.Transport{DialContext: o.DialContext, DisableKeepAlives: true}}
	_, err := c.Get("http://" + here.String())
	require.ErrorIs(t, err, model.ErrUnprocessable)
	require.ErrorContains(t, err, "not the service's database or Temporal")
	require.Zero(t, asked.Load())
	o.Services = []string{net.JoinHostPort(here.Addr().String(), "1")}
	c.Transport = &http.Transport{DialContext: o.DialContext, DisableKeepAlives: true}
	answer, err := c.Get("http://" + here.String())
	require.NoError(t, err, "another port")
	require.NoError(t, answer.Body.Close())
}

// Attack: a proxy beside the service connects to where the service itself would not.
func TestProxiesAreNotSentToThisMachine(t *testing.T) {
	t.Parallel()
	var passed []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { passed = append(passed, r.Host) }))
	t.Cleanup(proxy.Close)
	at, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	o := guard.Outbound{Hosts: []string{at.Host, "127.0.0.1:5000"}}
	c := &http.Client{Transport: &http.Transport{DialContext: o.DialContext, Proxy: o.Proxy(http.ProxyURL(at)), DisableKeepAlives: true}}
	get := func(address string) error {
		answer, err := c.Get(address)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	for _, address := range []string{"http://127.0.0.1:5432/", "http://169.254.169.254/", "http://localhost/", "http://[::ffff:127.0.0.1]/"} {
		require.ErrorIs(t, get(address), model.ErrUnprocessable, address)
	}
	require.Empty(t, passed)
	require.NoError(t, get("http://127.0.0.1:5000/"), "the administrator named it")
	require.NoError(t, get("http://203.0.113.9/"))
	require.NoError(t, get("http://name-of-nothing.invalid/"), "the proxy knows names that this machine does not")
	require.Equal(t, []string{"127.0.0.1:5000", "203.0.113.9", "name-of-nothing.invalid"}, passed)
}

func TestProxiesAreReachedWhereverTheyAre(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"127.0.0.1:3128", "proxy.example.com:443"},
		guard.Proxies(&httpproxy.Config{HTTPProxy: "127.0.0.1:3128", HTTPSProxy: "https://ann:secret@proxy.example.com"}))
	require.Empty(t, guard.Proxies(&httpproxy.Config{}))
}
