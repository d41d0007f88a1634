package service

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"slipway/internal/images/release"
	"slipway/internal/platform/guard"
)

// outbound opens connections to registries and signature stores. Users name images, and registries name other addresses; what settings name
// is reached wherever it is.
func (s *Service) outbound(of release.Options) (func(context.Context, string, string) (net.Conn, error), error) {
	o := guard.Outbound{Hosts: guard.Proxies(httpproxy.FromEnvironment())}
	for _, store := range of.Signatures.Stores {
		if host := store.Host(); host != "" {
			o.Hosts = append(o.Hosts, host)
		}
	}
	for _, text := range s.options.FetchNetworks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("read --fetch-networks: require networks such as 192.0.2.0/24, found %q", text)
		}
		o.Networks = append(o.Networks, network.Masked())
	}
	named := slices.Clone(s.options.InsecureRegistry)
	for _, m := range of.Mirrors {
		named = append(named, m.Location)
		for _, l := range m.Locations {
			named = append(named, l.Location)
		}
	}
	if s.options.ReleaseImages != "" {
		for _, r := range s.offers.catalogue.List() {
			named = append(named, r.Image)
		}
	}
	for _, name := range named {
		host, _, _ := strings.Cut(name, "/")
		if host == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			o.Hosts = append(o.Hosts, net.JoinHostPort(host, "443"), net.JoinHostPort(host, "80"))
			continue
		}
		o.Hosts = append(o.Hosts, host)
	}
	return o.DialContext, nil
}
