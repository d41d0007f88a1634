package guard

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"

	"slipway/internal/model"
)

// Outbound bounds where connections lead that users can ask for: by the name of an image, by the address of a cluster's API, or by what a
// server there answers (the realm of a token, a redirect). No service of this machine is reached, and no address of a link, where clouds
// keep credentials of machines. The zero value allows everything else.
type Outbound struct {
	// Networks are the only ones; empty: all others are allowed. A network opens addresses that are closed if it holds no others.
	Networks []netip.Prefix
	// Hosts, host:port, are reached wherever they are: the administrator named them.
	Hosts []string
	// Services, host:port, are parts of the service on other machines: its database and Temporal. No user reaches them.
	Services []string
}

// ReadOutbound reads the settings --fetch-networks and --fetch-hosts. The proxies that the environment names are hosts too.
func ReadOutbound(networks, hosts []string) (Outbound, error) {
	o := Outbound{Hosts: append(Proxies(httpproxy.FromEnvironment()), hosts...)}
	for _, text := range networks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return o, fmt.Errorf("read --fetch-networks: require networks such as 192.0.2.0/24, found %q", text)
		}
		o.Networks = append(o.Networks, network.Masked())
	}
	for _, host := range hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			return o, fmt.Errorf("read --fetch-hosts: require host:port, found %q", host)
		}
	}
	return o, nil
}

// ports maps schemes to the ports that addresses without one lead to.
var ports = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// hostPort returns host:port of an address, with the port of its scheme where it names none.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = ports[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
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
		hosts = append(hosts, hostPort(u))
	}
	return hosts
}

// DialContext connects, for an http.Transport. A name is looked up once, and the addresses it leads to are checked. Its error for an
// address that is not allowed is a model.ErrUnprocessable.
func (o Outbound) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	if !slices.Contains(o.Hosts, address) {
		dialer.ControlContext = func(ctx context.Context, _, resolved string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return fmt.Errorf("read the address of %s: %w", address, err)
			}
			return o.check(ctx, address, at)
		}
	}
	return dialer.DialContext(ctx, network, address) //nolint:wrapcheck // the transport names the address
}

// Proxy wraps the Proxy of an http.Transport: a proxy opens the connection itself, often beside the service. An address is checked before
// it is passed on; a name as far as it can be looked up here.
func (o Outbound) Proxy(next func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		proxy, err := next(r)
		if err != nil || proxy == nil {
			return nil, err
		}
		target := hostPort(r.URL)
		if slices.Contains(o.Hosts, target) {
			return proxy, nil
		}
		port, err := strconv.ParseUint(target[strings.LastIndex(target, ":")+1:], 10, 16)
		if err != nil {
			return nil, model.Unprocessablef("require an address with a port, found %s", target)
		}
		found, err := net.DefaultResolver.LookupNetIP(r.Context(), "ip", r.URL.Hostname())
		if err != nil { // many sites resolve names by their proxy only
			return proxy, nil //nolint:nilerr // for that reason
		}
		for _, ip := range found {
			if err := o.check(r.Context(), target, netip.AddrPortFrom(ip, uint16(port))); err != nil {
				return nil, err
			}
		}
		return proxy, nil
	}
}

// check returns an error for an address that the asked one leads to and that no user may reach.
func (o Outbound) check(ctx context.Context, asked string, at netip.AddrPort) error {
	ip := at.Addr().Unmap().WithZone("")
	own, err := OwnAddresses()
	if err != nil {
		return fmt.Errorf("list the addresses of this machine: %w", err)
	}
	shut := slices.Clone(closed)
	for _, a := range own {
		a = a.Unmap().WithZone("")
		if !slices.ContainsFunc(closed, func(c netip.Prefix) bool { return c.Contains(a) }) {
			shut = append(shut, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	for _, a := range append(embedded(ip), ip) {
		for _, c := range shut {
			if c.Contains(a) && !o.names(c, a) {
				return model.Unprocessablef("require an address beyond this machine and its links, or in --fetch-hosts, for %s, found %s", asked, ip)
			}
		}
	}
	if len(o.Networks) > 0 && !slices.ContainsFunc(o.Networks, func(n netip.Prefix) bool { return n.Contains(ip) }) {
		return model.Unprocessablef("require an address in one of the networks %v (--fetch-networks) for %s, found %s", o.Networks, asked, ip)
	}
	return o.checkServices(ctx, asked, netip.AddrPortFrom(ip, at.Port()))
}

// names reports whether a network of the settings opens an address of a closed one: 10.0.0.0/8 does not mean the machine within it.
func (o Outbound) names(closed netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(o.Networks, func(n netip.Prefix) bool { return n.Contains(ip) && n.Bits() >= closed.Bits() })
}

// checkServices refuses addresses of the service's parts, as their names lead to them now.
func (o Outbound) checkServices(ctx context.Context, asked string, at netip.AddrPort) error {
	for _, s := range o.Services {
		host, port, err := net.SplitHostPort(s)
		if err != nil || port != strconv.Itoa(int(at.Port())) {
			continue
		}
		found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return fmt.Errorf("compare %s with %s, a part of the service: %w", asked, s, err)
		}
		if slices.ContainsFunc(found, func(ip netip.Addr) bool { return ip.Unmap().WithZone("") == at.Addr() }) {
			return model.Unprocessablef("require an address that is not the service's database or Temporal for %s, found %s", asked, at)
		}
	}
	return nil
}

// OwnAddresses lists the addresses of this machine.
func OwnAddresses() (all []netip.Addr, err error) {
	list, err := net.InterfaceAddrs()
	for _, a := range list {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			all = append(all, prefix.Addr())
		}
	}
	return all, err
}

// closed lists the networks of this machine and its links, and the addresses beyond them where clouds have credentials of machines.
var closed = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("255.255.255.255/32"),
	netip.MustParsePrefix("::/127"), // all interfaces, loopback
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("ff00::/8"),
	netip.MustParsePrefix("fd00:ec2::254/128"),  // AWS
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle
}

// translated maps networks whose addresses stand for IPv4 addresses to the first byte of these.
var translated = map[netip.Prefix]int{
	netip.MustParsePrefix("64:ff9b::/96"):   12, // NAT64, RFC 6052
	netip.MustParsePrefix("64:ff9b:1::/48"): 12, // NAT64 of a site, RFC 8215
	netip.MustParsePrefix("2002::/16"):      2,  // 6to4, RFC 3056
	netip.MustParsePrefix("::/96"):          12, // RFC 4291
}

// embedded returns the IPv4 addresses that an IPv6 address leads to.
func embedded(ip netip.Addr) (list []netip.Addr) {
	if ip.Is4() || ip.IsUnspecified() || ip.IsLoopback() {
		return nil
	}
	bytes := ip.As16()
	for network, first := range translated {
		if network.Contains(ip) {
			list = append(list, netip.AddrFrom4([4]byte(bytes[first:first+4])))
		}
	}
	return list
}
