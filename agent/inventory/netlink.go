package inventory

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Netlink reads the links and routes of the network namespace the agent runs in.
type Netlink struct{}

// Links implements Links.
func (Netlink) Links() ([]Link, error) {
	found, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list the network interfaces: %w", err)
	}
	shared := sharedAddresses(found)
	links := make([]Link, 0, len(found))
	for _, l := range found {
		attrs := l.Attrs()
		link := Link{
			Name: attrs.Name, MTU: attrs.MTU, Type: l.Type(), Flags: attrs.Flags,
			HasCarrier: attrs.OperState == netlink.OperUp || attrs.Flags&net.FlagRunning != 0,
		}
		link.MAC, link.Current = macs(attrs, shared)
		addresses, err := netlink.AddrList(l, netlink.FAMILY_ALL)
		if err != nil {
			continue // the link is gone
		}
		for _, a := range addresses {
			if a.Flags&unix.IFA_F_DADFAILED != 0 {
				continue // another machine has it
			}
			if prefix, ok := prefixOf(a.IPNet); ok {
				link.Addresses = append(link.Addresses, prefix)
			}
		}
		links = append(links, link)
	}
	return links, nil
}

// sharedAddresses lists the indexes of bonds and teams, whose address their ports have, too.
func sharedAddresses(links []netlink.Link) map[int]bool {
	shared := map[int]bool{}
	for _, l := range links {
		shared[l.Attrs().Index] = l.Type() == "bond" || l.Type() == "team"
	}
	return shared
}

// macs returns the permanent address of a link, and the current one where a user gave the link another.
func macs(l *netlink.LinkAttrs, shared map[int]bool) (permanent, current net.HardwareAddr) {
	switch {
	case len(l.PermHWAddr) == 0:
		return l.HardwareAddr, nil
	case bytes.Equal(l.PermHWAddr, l.HardwareAddr), shared[l.MasterIndex]:
		return l.PermHWAddr, nil
	}
	return l.PermHWAddr, l.HardwareAddr
}

// Routes implements Links.
func (Netlink) Routes() ([]Route, error) {
	names, err := linkNames()
	if err != nil {
		return nil, err
	}
	var routes []Route
	for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		found, err := netlink.RouteList(nil, family)
		if err != nil {
			return nil, fmt.Errorf("list the routes: %w", err)
		}
		for _, r := range found {
			routes = append(routes, routesOf(r, family, names)...)
		}
	}
	return routes, nil
}

func linkNames() (map[int]string, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list the network interfaces: %w", err)
	}
	names := map[int]string{}
	for _, l := range links {
		names[l.Attrs().Index] = l.Attrs().Name
	}
	return names, nil
}

// routesOf makes one route of each way a multipath route may take.
func routesOf(r netlink.Route, family int, names map[int]string) []Route {
	route := Route{Interface: names[r.LinkIndex], Destination: anywhere(family), Metric: r.Priority}
	if prefix, ok := prefixOf(r.Dst); ok {
		route.Destination = prefix
	}
	if len(r.MultiPath) == 0 {
		route.Gateway = gateway(r.Gw, r.Via)
		return leading(route)
	}
	ways := make([]Route, 0, len(r.MultiPath))
	for _, hop := range r.MultiPath {
		way := route
		way.Interface, way.Gateway = names[hop.LinkIndex], gateway(hop.Gw, hop.Via)
		ways = append(ways, leading(way)...)
	}
	return ways
}

// leading leaves out routes that lead nowhere: routes that refuse have no interface.
func leading(route Route) []Route {
	if route.Interface == "" {
		return nil
	}
	return []Route{route}
}

// gateway returns the next hop, which for IPv4 may be a router of IPv6 (RFC 5549).
func gateway(hop net.IP, via netlink.Destination) netip.Addr {
	if other, is := via.(*netlink.Via); is && len(hop) == 0 {
		hop = other.Addr
	}
	return addressOf(hop)
}

func anywhere(family int) netip.Prefix {
	if family == netlink.FAMILY_V4 {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
}

func addressOf(ip net.IP) netip.Addr {
	address, _ := netip.AddrFromSlice(ip)
	return address.Unmap()
}

func prefixOf(network *net.IPNet) (netip.Prefix, bool) {
	if network == nil {
		return netip.Prefix{}, false
	}
	address := addressOf(network.IP)
	bits, _ := network.Mask.Size()
	return netip.PrefixFrom(address, bits), address.IsValid()
}
