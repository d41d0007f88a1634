package site

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// SetNames says what the name server of the site answers.
func (s *Site) SetNames(names map[string][]netip.Addr) error { return s.write("names.json", names) }

// Resolver answers with the names of a site and with nothing else.
type Resolver struct{ Site *Site }

func (r Resolver) names() (map[string][]netip.Addr, error) {
	names := map[string][]netip.Addr{}
	return names, r.Site.read("names.json", &names)
}

// LookupNetIP gives the addresses of a name; network is ip, ip4 or ip6.
func (r Resolver) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	names, err := r.names()
	if err != nil {
		return nil, err
	}
	var found []netip.Addr
	for _, a := range names[strings.TrimSuffix(host, ".")] {
		if network == "ip" || network == "ip4" && a.Is4() || network == "ip6" && a.Is6() {
			found = append(found, a)
		}
	}
	if len(found) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return found, nil
}

// LookupCNAME gives the name itself: the site has no aliases.
func (r Resolver) LookupCNAME(ctx context.Context, host string) (string, error) {
	if _, err := r.LookupNetIP(ctx, "ip", host); err != nil {
		return "", err
	}
	return strings.TrimSuffix(host, ".") + ".", nil
}

// LookupAddr gives the names of an address.
func (r Resolver) LookupAddr(_ context.Context, addr string) ([]string, error) {
	address, err := netip.ParseAddr(addr)
	if err != nil {
		return nil, &net.DNSError{Err: "unrecognized address", Name: addr}
	}
	names, err := r.names()
	if err != nil {
		return nil, err
	}
	var found []string
	for name, addresses := range names {
		if slices.Contains(addresses, address) {
			found = append(found, name+".")
		}
	}
	if len(found) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}
	}
	slices.Sort(found)
	return found, nil
}
