package ignition

import (
	"net/netip"
	"slices"

	"slipway/internal/model"
)

// NodeIPHint chooses the network a node takes its address from, and returns its base
// address; the zero value when the node finds it by the VIPs (docs/reference/ignition.md,
// "Address of a node").
//
// A single node has no VIPs: its machine network is the hint. Where the user balances
// the load, it is the network of an address that the other hosts reach.
func NodeIPHint(c *model.Cluster, h *model.Host) netip.Addr {
	if c.SingleNode() {
		if len(c.MachineNetworks) == 0 {
			return netip.Addr{}
		}
		return c.MachineNetworks[0].Masked().Addr()
	}
	if c.Platform.Type != "none" && c.LoadBalancer != "user-managed" {
		return netip.Addr{}
	}
	networks := reachableNetworks(c, h)
	for _, m := range c.MachineNetworks {
		for _, n := range networks {
			if m.Contains(n.Addr()) {
				return n.Masked().Addr()
			}
		}
	}
	if len(networks) > 0 && len(c.MachineNetworks) == 0 {
		return networks[0].Masked().Addr()
	}
	return netip.Addr{}
}

// reachableNetworks are the addresses of a host that the majority of the cluster
// reaches, with the length of their networks: IPv4 first, lowest first.
func reachableNetworks(c *model.Cluster, h *model.Host) []netip.Prefix {
	if h.Inventory == nil {
		return nil
	}
	var found []netip.Prefix
	for _, nic := range h.Inventory.Interfaces {
		for _, cidr := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			p, err := netip.ParsePrefix(cidr)
			if err == nil && slices.Contains(c.Connectivity.L3ConnectedAddresses[h.ID], p.Addr().String()) {
				found = append(found, p)
			}
		}
	}
	slices.SortFunc(found, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
	return found
}
