package guard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"

	"slipway/internal/model"
)

// Outbound bounds where connections lead that users can ask for, by the name of an image or by what its registry answers (the realm of
// a token, a redirect): to no service of this machine, and to no address of a link, where clouds keep credentials of machines.
type Outbound struct {
	// Networks are the only ones; empty: all others are allowed.
	Networks []netip.Prefix
	// Hosts, host:port, are reached wherever they are: the administrator named them.
	Hosts []string
}

// Proxies returns the hosts of the proxies that the environment names.
func Proxies(proxies *httpproxy.Config) (hosts []string) {
	for _, text := range []string{proxies.HTTPProxy, proxies.HTTPSProxy} {
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			continue
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
		}
		hosts = append(hosts, net.JoinHostPort(u.Hostname(), port))
	}
	return hosts
}

// DialContext connects, for an http.Transport. A name is looked up once, and the addresses it leads to are checked. Its error for an
// address that is not allowed is a model.ErrUnprocessable.
func (o Outbound) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	if !slices.Contains(o.Hosts, address) {
		dialer.ControlContext = func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			return o.check(address, resolved)
		}
	}
	return dialer.DialContext(ctx, network, address) //nolint:wrapcheck // the transport names the address
}

func (o Outbound) check(asked, resolved string) error {
	at, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("read the address of %s: %w", asked, err)
	}
	ip := at.Addr().Unmap().WithZone("")
	switch {
	case len(o.Networks) > 0:
		if slices.ContainsFunc(o.Networks, func(n netip.Prefix) bool { return n.Contains(ip) }) {
			return nil
		}
		return model.Unprocessablef("require an address in one of the networks %v (--fetch-networks) for %s, found %s", o.Networks, asked, ip)
	case ip.IsLoopback(), ip.IsUnspecified(), ip.IsLinkLocalUnicast(), ip.IsMulticast(), ip == metadata:
		return model.Unprocessablef("require an address beyond this machine and its links for %s, found %s", asked, ip)
	}
	return nil
}

// metadata is where AWS has credentials of machines, beside an address of the link.
var metadata = netip.MustParseAddr("fd00:ec2::254")
