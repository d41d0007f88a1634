package hardware

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

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

// InNetwork reports whether one of the NICs has an address in the network.
func InNetwork(nics []NIC, network netip.Prefix) bool {
	for i := range nics {
		if nics[i].In(network) {
			return true
		}
	}
	return false
}

// In reports whether the NIC has an address in the network.
func (n *NIC) In(network netip.Prefix) bool {
	for _, a := range n.Addresses {
		if network.Contains(a.Addr()) {
			return true
		}
	}
	return false
}

// FirstIn returns the index of the first NIC with an address in the networks, the networks in their order; -1 where no NIC has one.
func FirstIn(nics []NIC, networks []netip.Prefix) int {
	for _, network := range networks {
		for i := range nics {
			if nics[i].In(network) {
				return i
			}
		}
	}
	return -1
}

// Owns reports whether one of the NICs has this address.
func Owns(nics []NIC, addr netip.Addr) bool {
	for i := range nics {
		for _, a := range nics[i].Addresses {
			if a.Addr() == addr {
				return true
			}
		}
	}
	return false
}

// Answering returns the MAC address that a NIC has on its link.
func (n *NIC) Answering() string { return cmp.Or(n.CurrentMAC, n.MAC) }

// HasMAC reports whether one of the NICs has this MAC address, in lower case: its own or a user's.
func HasMAC(nics []NIC, mac string) bool {
	return slices.ContainsFunc(nics, func(n NIC) bool { return mac != "" && (n.MAC == mac || n.CurrentMAC == mac) })
}
