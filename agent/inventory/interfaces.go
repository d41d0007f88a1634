package inventory

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"slipway/internal/wire"
)

const (
	typeDevice   = "device"   // rtnetlink: whatever has no kind of its own
	typePhysical = "physical" // contract: a device with hardware behind it
)

func readInterfaces(_ context.Context, m Machine, into *wire.Inventory) {
	links, err := m.Links.Links()
	if err != nil {
		return
	}
	for _, link := range links {
		if link.Flags&net.FlagLoopback != 0 || len(link.MAC) == 0 {
			continue
		}
		into.Interfaces = append(into.Interfaces, m.networkInterface(link))
	}
}

func (m Machine) networkInterface(link Link) wire.Interface {
	sys := "/sys/class/net/" + link.Name
	kind := link.Type
	if kind == typeDevice && m.exists(sys+"/device") {
		kind = typePhysical
	}
	nic := wire.Interface{
		Name: link.Name, MacAddress: link.MAC.String(), Mtu: link.MTU, Type: kind, HasCarrier: link.HasCarrier,
		Flags: flags(link.Flags), Vendor: m.text(sys + "/device/vendor"), Product: m.text(sys + "/device/device"),
	}
	if speed, err := strconv.Atoi(m.text(sys + "/speed")); err == nil && speed > 0 {
		nic.SpeedMbps = speed
	}
	for _, prefix := range link.Addresses {
		switch {
		case prefix.Addr().IsLinkLocalUnicast():
		case prefix.Addr().Is4():
			nic.Ipv4Addresses = append(nic.Ipv4Addresses, prefix.String())
		default:
			nic.Ipv6Addresses = append(nic.Ipv6Addresses, prefix.String())
		}
	}
	return nic
}

func flags(f net.Flags) []string {
	if f == 0 {
		return nil
	}
	return strings.Split(f.String(), "|")
}

// The address families of routes (AF_INET and AF_INET6 of Linux).
const (
	familyIPv4 = 2
	familyIPv6 = 10
)

func readRoutes(_ context.Context, m Machine, into *wire.Inventory) {
	routes, err := m.Links.Routes()
	if err != nil {
		return
	}
	for _, r := range routes {
		route := wire.Route{
			Interface: r.Interface, Metric: int32(r.Metric), Family: familyIPv6,
			// The contract's destination has no prefix length.
			Destination: r.Destination.Addr().String(),
			Gateway:     gateway(r),
		}
		if r.Destination.Addr().Is4() {
			route.Family = familyIPv4
		}
		into.Routes = append(into.Routes, route)
	}
}

func gateway(r Route) string {
	switch {
	case r.Gateway.IsValid():
		return r.Gateway.String()
	case r.Destination.Addr().Is4():
		return netip.IPv4Unspecified().String()
	}
	return netip.IPv6Unspecified().String()
}
