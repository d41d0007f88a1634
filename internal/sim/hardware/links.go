package hardware

import (
	"net"
	"net/netip"
	"slices"

	"slipway/agent/inventory"
)

// Links are the interfaces and routes of a simulated machine.
type Links struct{ Spec *Spec }

var _ inventory.Links = Links{}

// Links lists the loopback interface and the NICs.
func (l Links) Links() ([]inventory.Link, error) {
	links := []inventory.Link{{
		Name: "lo", MTU: 65536, Type: "device", Flags: net.FlagUp | net.FlagLoopback | net.FlagRunning, HasCarrier: true,
		Addresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")},
	}}
	for _, nic := range l.Spec.NICs {
		links = append(links, inventory.Link{
			Name: nic.Name, MAC: nic.hardware, MTU: nic.MTU, Type: "device", HasCarrier: true, Addresses: nic.Addresses,
			Flags: net.FlagUp | net.FlagBroadcast | net.FlagMulticast | net.FlagRunning,
		})
	}
	return links, nil
}

func (l Links) leadsToGateway(address netip.Prefix) bool { return address.Contains(l.Spec.Gateway) }

// Routes lists the default route and the routes of the NICs' networks.
func (l Links) Routes() ([]inventory.Route, error) {
	var routes []inventory.Route
	for _, nic := range l.Spec.NICs {
		if l.Spec.Gateway.IsValid() && slices.ContainsFunc(nic.Addresses, l.leadsToGateway) {
			everywhere := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
			if l.Spec.Gateway.Is6() {
				everywhere = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
			}
			routes = append(routes, inventory.Route{Interface: nic.Name, Destination: everywhere, Gateway: l.Spec.Gateway, Metric: 100})
		}
		for _, address := range nic.Addresses {
			routes = append(routes, inventory.Route{Interface: nic.Name, Destination: address.Masked(), Metric: 100})
		}
	}
	return routes, nil
}
