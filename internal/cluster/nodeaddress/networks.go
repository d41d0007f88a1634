package nodeaddress

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
)

// HostNetworks lists the networks the hosts have addresses in, each with its hosts,
// ordered by network.
func HostNetworks(hosts []*model.Host) []model.HostNetwork {
	members := map[netip.Prefix][]uuid.UUID{}
	for _, h := range hosts {
		for _, n := range hostNetworks(hardware.NICs(h.Inventory)) {
			members[n] = append(members[n], h.ID)
		}
	}
	out := make([]model.HostNetwork, 0, len(members))
	for n, ids := range members {
		slices.SortFunc(ids, func(a, b uuid.UUID) int { return cmp.Compare(a.String(), b.String()) })
		out = append(out, model.HostNetwork{CIDR: n, HostIDs: ids})
	}
	slices.SortFunc(out, func(a, b model.HostNetwork) int { return a.CIDR.Compare(b.CIDR) })
	return out
}

// hostNetworks lists the networks of a host, each once.
func hostNetworks(nics []hardware.NIC) []netip.Prefix {
	var out []netip.Prefix
	for i := range nics {
		for _, a := range nics[i].Addresses {
			if n := a.Masked(); !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// MachineNetworks derives the machine networks of a cluster whose user set none: for each API VIP the network
// of the hosts that contains it, for a single node the network of its default route, or its first one. It returns nil
// while they are unknown.
func MachineNetworks(cluster *model.Cluster, hosts []*model.Host) []netip.Prefix {
	if cluster.SingleNode() {
		derived := *cluster
		derived.MachineNetworks = nil // an earlier answer of this function
		if networks := Of(&derived, hosts).MachineNetworks; len(networks) > 0 {
			return networks
		}
		return firstNetworks(cluster, hosts)
	}
	if cluster.UserManagedNetworking {
		return nil
	}
	networks := HostNetworks(hosts)
	var out []netip.Prefix
	vips := cluster.APIVIPs
	if len(vips) == 0 {
		vips = cluster.IngressVIPs
	}
	for _, vip := range vips {
		n, ok := CalculatedNetwork(vip.IP, networks)
		if !ok {
			return nil
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// firstNetworks returns the first networks of a single node that has no default route, one for each family of its cluster, so that
// the user sees that the route is missing, and not the network.
func firstNetworks(c *model.Cluster, hosts []*model.Host) []netip.Prefix {
	if len(hosts) != 1 || hosts[0].EffectiveRole() != model.RoleMaster {
		return nil
	}
	networks := hostNetworks(hardware.NICs(hosts[0].Inventory))
	var out []netip.Prefix
	for _, f := range ClusterFamilies(c) {
		if i := slices.IndexFunc(networks, func(n netip.Prefix) bool { return FamilyOf(n.Addr()) == f }); i >= 0 {
			out = append(out, networks[i])
		}
	}
	return out
}

// CalculatedNetwork returns the network of the hosts that contains an address: the network with most hosts, and of two equal networks
// the narrower.
func CalculatedNetwork(vip netip.Addr, networks []model.HostNetwork) (netip.Prefix, bool) {
	var best *model.HostNetwork
	for i := range networks {
		n := &networks[i]
		if !n.CIDR.Contains(vip) {
			continue
		}
		if best == nil || len(n.HostIDs) > len(best.HostIDs) ||
			len(n.HostIDs) == len(best.HostIDs) && n.CIDR.Bits() > best.CIDR.Bits() {
			best = n
		}
	}
	if best == nil {
		return netip.Prefix{}, false
	}
	return best.CIDR, true
}
