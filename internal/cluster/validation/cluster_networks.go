package validation

import (
	"net/netip"
	"slices"

	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/model"
)

// selfNetworked reports whether a cluster needs no VIPs: the user's networking, and single nodes.
func (c *clusterCase) selfNetworked() bool {
	return c.Cluster.UserManagedNetworking || c.Cluster.SingleNode()
}

func clusterNetworkDefined(c *clusterCase) verdict {
	return defined(len(c.Cluster.ClusterNetworks) > 0, "cluster network")
}

func serviceNetworkDefined(c *clusterCase) verdict {
	return defined(len(c.Cluster.ServiceNetworks) > 0, "service network")
}

func domainDefined(c *clusterCase) verdict {
	return defined(c.Cluster.BaseDNSDomain != "", "base DNS domain")
}

func defined(ok bool, what string) verdict {
	if !ok {
		return failure("Require a %s, found none", what)
	}
	return success("The %s is set", what)
}

func clusterMachineNetwork(c *clusterCase) verdict {
	switch {
	case c.Cluster.UserManagedNetworking && !c.Cluster.SingleNode():
		return success("Networking is the user's, no machine network is needed")
	case len(c.Cluster.MachineNetworks) > 0:
		return success("The machine network is %s", networkList(c.Cluster.MachineNetworks))
	case c.Peers.withInventory == 0:
		return pending("No host has sent its inventory yet")
	}
	return failure("Require a machine network, found none: set it, or a virtual address in a network of the hosts")
}

func networkAsCalculated(c *clusterCase) verdict {
	if c.selfNetworked() || externalBalancer(c.Cluster) {
		return success("Any machine network will do")
	}
	vips := c.Cluster.APIVIPs
	if len(vips) == 0 {
		vips = c.Cluster.IngressVIPs
	}
	if c.Peers.withInventory == 0 || len(vips) == 0 || len(c.Cluster.MachineNetworks) == 0 {
		return pending("The machine network, a virtual address or an inventory is missing")
	}
	networks := c.Cluster.HostNetworks
	if len(networks) == 0 {
		networks = nodeaddress.HostNetworks(c.Hosts)
	}
	for i, vip := range vips {
		calculated, ok := nodeaddress.CalculatedNetwork(vip.IP, networks)
		if !ok {
			return failure("Require virtual addresses in a network of the hosts, %s is in none", vip.IP)
		}
		if i >= len(c.Cluster.MachineNetworks) {
			return failure("Require a machine network for each virtual address, %s has none", vip.IP)
		}
		// Dual-stack VIPs may come in the other order than the networks.
		if !slices.Contains(c.Cluster.MachineNetworks, calculated) {
			return failure(
				"Require the machine network %s that holds %s, found %s",
				calculated,
				vip.IP,
				networkList(c.Cluster.MachineNetworks),
			)
		}
	}
	return success("The machine network holds the virtual addresses")
}

// clusterPrefixes returns the pod networks without their host prefixes.
func clusterPrefixes(networks []model.ClusterNetwork) []netip.Prefix {
	out := make([]netip.Prefix, len(networks))
	for i, n := range networks {
		out[i] = n.CIDR
	}
	return out
}

func networksApart(c *clusterCase) verdict {
	pods, services, machines := clusterPrefixes(c.Cluster.ClusterNetworks), c.Cluster.ServiceNetworks, c.Cluster.MachineNetworks
	if len(pods) == 0 || len(services) == 0 || len(machines) == 0 && !c.selfNetworked() {
		return pending("A cluster, service or machine network is missing")
	}
	if len(pods) != len(services) {
		return broken("Require as many service networks as cluster networks, found %d and %d", len(services), len(pods))
	}
	all := slices.Concat(machines, pods, services)
	for i, a := range all {
		for _, b := range all[:i] {
			if a.Overlaps(b) {
				return failure("Require networks apart, %s overlaps %s", b, a)
			}
		}
	}
	if v, found := c.overlapsReserved(); found {
		return v
	}
	if v, found := c.proxyInside(); found {
		return v
	}
	return success("No two networks overlap")
}

func sameFamilies(c *clusterCase) verdict {
	pods, services := nodeaddress.FamiliesOf(clusterPrefixes(c.Cluster.ClusterNetworks)), nodeaddress.FamiliesOf(c.Cluster.ServiceNetworks)
	machines := nodeaddress.FamiliesOf(c.Cluster.MachineNetworks)
	needMachines := !c.Cluster.UserManagedNetworking || c.Cluster.SingleNode()
	if len(pods) == 0 || len(services) == 0 || needMachines && len(machines) == 0 {
		return pending("A cluster, service or machine network is missing")
	}
	if !sameSet(services, pods) {
		return failure("Require service networks of the families of the cluster networks %v, found %v", pods, services)
	}
	if needMachines && !sameSet(services, machines) {
		return failure("Require machine networks of the families of the service networks %v, found %v", services, machines)
	}
	return success("All networks have the same families")
}

func sameSet(a, b []nodeaddress.Family) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// Host prefixes of network plug-ins that give hosts parts of one size
// (docs/reference/validation-rules.md, "Host prefixes").
const thirdPartyPrefixV4, thirdPartyPrefixV6 = 23, 64

// Minimum size of a cluster network: parts for hosts, and bits for the addresses of a part (openshift/assisted-service,
// internal/network/cidr_validations.go).
const leastParts, bitsOfPods = 4, 7

func hostPrefixValid(c *clusterCase) verdict {
	if len(c.Cluster.ClusterNetworks) == 0 {
		return pending("The cluster network is missing")
	}
	hosts := max(len(c.Hosts), c.Cluster.ControlPlaneCount, leastParts)
	for _, n := range c.Cluster.ClusterNetworks {
		prefix := n.HostPrefix
		if thirdParty(c.Cluster.NetworkType) {
			prefix = thirdPartyPrefixV4
			if n.CIDR.Addr().Is6() {
				prefix = thirdPartyPrefixV6
			}
		}
		if prefix < 1 || prefix > n.CIDR.Addr().BitLen() {
			return failure("Require a host prefix between 1 and %d, found %d", n.CIDR.Addr().BitLen(), prefix)
		}
		if most := n.CIDR.Addr().BitLen() - bitsOfPods; prefix > most {
			return failure("Require a host prefix of at most %d, which leaves a host 128 addresses, found %d", most, prefix)
		}
		if n.CIDR.Addr().Is6() && n.HostPrefix != 0 && n.HostPrefix != hostPrefixV6 {
			return failure("Require the host prefix %d for the IPv6 cluster network %s, found %d", hostPrefixV6, n.CIDR, n.HostPrefix)
		}
		if parts := partsIn(prefix - n.CIDR.Bits()); parts < hosts {
			return failure("Require a cluster network with a /%d for each of %d hosts, %s has %d", prefix, hosts, n.CIDR, parts)
		}
	}
	if v, found := c.partsOfTwoSizes(); found {
		return v
	}
	if v, found := c.servicesTooLarge(); found {
		return v
	}
	return success("The cluster network is large enough for %d hosts", hosts)
}

// partsIn returns 2 to the power of bits, or the largest relevant number.
func partsIn(bits int) int {
	switch {
	case bits < 0:
		return 0
	case bits > 30:
		return 1 << 30
	}
	return 1 << bits
}
