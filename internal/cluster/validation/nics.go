package validation

import (
	"net/netip"
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// NIC is an interface of an inventory with its addresses parsed.
type NIC struct {
	Name string
	MAC  string // lower case
	// CurrentMAC answers instead of MAC, where a user gave the interface another address; else empty. Lower case.
	CurrentMAC string
	Type       string // physical, bond, vlan, device
	MTU        int
	// Addresses are the addresses with the length of their network, link-local ones left out.
	Addresses []netip.Prefix
}

// NICs returns the interfaces of an inventory; invalid addresses are left out.
func NICs(inv *wire.Inventory) []NIC {
	if inv == nil {
		return nil
	}
	out := make([]NIC, 0, len(inv.Interfaces))
	for i := range inv.Interfaces {
		iface := &inv.Interfaces[i]
		n := NIC{
			Name: iface.Name, MAC: strings.ToLower(iface.MacAddress), CurrentMAC: strings.ToLower(iface.CurrentMacAddress),
			Type: iface.Type, MTU: iface.Mtu,
		}
		n.Addresses = appendAddresses(n.Addresses, iface.Ipv4Addresses)
		n.Addresses = appendAddresses(n.Addresses, iface.Ipv6Addresses)
		out = append(out, n)
	}
	return out
}

func appendAddresses(to []netip.Prefix, texts []string) []netip.Prefix {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil || p.Addr().IsLinkLocalUnicast() {
			continue
		}
		to = append(to, netip.PrefixFrom(p.Addr().Unmap(), p.Bits()))
	}
	return to
}

// inNetwork reports whether one of the NICs has an address in the network.
func inNetwork(nics []NIC, network netip.Prefix) bool {
	for i := range nics {
		if nics[i].in(network) {
			return true
		}
	}
	return false
}

func (n *NIC) in(network netip.Prefix) bool {
	for _, a := range n.Addresses {
		if network.Contains(a.Addr()) {
			return true
		}
	}
	return false
}

// owns reports whether one of the NICs has this address.
func owns(nics []NIC, addr netip.Addr) bool {
	for i := range nics {
		for _, a := range nics[i].Addresses {
			if a.Addr() == addr {
				return true
			}
		}
	}
	return false
}

// Family is an address family, by the name of its connectivity groups.
type Family string

// The address families.
const (
	FamilyIPv4 Family = "IPv4"
	FamilyIPv6 Family = "IPv6"
)

func familyOf(addr netip.Addr) Family {
	if addr.Is4() || addr.Is4In6() {
		return FamilyIPv4
	}
	return FamilyIPv6
}

// Families returns the address families a cluster uses, primary first: those of its machine networks, else of
// its service networks, else IPv4.
func Families(c *model.Cluster) []Family {
	c = c.Effective()
	for _, networks := range [][]netip.Prefix{c.MachineNetworks, c.ServiceNetworks} {
		if out := familiesOf(networks); len(out) > 0 {
			return out
		}
	}
	return []Family{FamilyIPv4}
}

// familiesOf lists the families of networks, each once, in order of appearance.
func familiesOf(networks []netip.Prefix) []Family {
	var out []Family
	for _, n := range networks {
		f := familyOf(n.Addr())
		if len(out) == 0 || out[0] != f && len(out) == 1 {
			out = append(out, f)
		}
	}
	return out
}
