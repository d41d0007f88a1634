package api

import (
	"net/netip"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// parseNetwork reads a network; its address must be the network's own.
func parseNetwork(field, text string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, model.Invalidf("%s: require a network such as 192.0.2.0/24, found %q", field, text)
	}
	if network != network.Masked() {
		return netip.Prefix{}, model.Invalidf("%s: require the address of a network (%s), found %q", field, network.Masked(), text)
	}
	return network, nil
}

func machineNetworks(list []wire.MachineNetwork) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(list))
	for _, n := range list {
		network, err := parseNetwork("machine_networks", n.Cidr)
		if err != nil {
			return nil, err
		}
		out = append(out, network)
	}
	return out, nil
}

func serviceNetworks(list []wire.ServiceNetwork) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(list))
	for _, n := range list {
		network, err := parseNetwork("service_networks", n.Cidr)
		if err != nil {
			return nil, err
		}
		out = append(out, network)
	}
	return out, onePerFamily("service_networks", addresses(out))
}

func clusterNetworks(list []wire.ClusterNetwork) ([]model.ClusterNetwork, error) {
	out := make([]model.ClusterNetwork, 0, len(list))
	var families []netip.Addr
	for _, n := range list {
		network, err := parseNetwork("cluster_networks", n.Cidr)
		if err != nil {
			return nil, err
		}
		if n.HostPrefix < network.Bits() || n.HostPrefix > network.Addr().BitLen() {
			return nil, model.Invalidf("cluster_networks: require a host_prefix from %d to %d for %s, found %d",
				network.Bits(), network.Addr().BitLen(), network, n.HostPrefix)
		}
		out = append(out, model.ClusterNetwork{CIDR: network, HostPrefix: n.HostPrefix})
		families = append(families, network.Addr())
	}
	return out, onePerFamily("cluster_networks", families)
}

// parseVIPs reads virtual addresses and keeps what is known of those a cluster has.
func parseVIPs(field string, list []string, before []model.VIP) ([]model.VIP, error) {
	out := make([]model.VIP, 0, len(list))
	var families []netip.Addr
	for _, text := range list {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" {
			return nil, model.Invalidf("%s: require an address, found %q", field, text)
		}
		vip := model.VIP{IP: address.Unmap()}
		for _, known := range before {
			if known.IP == vip.IP {
				vip = known
			}
		}
		out = append(out, vip)
		families = append(families, vip.IP)
	}
	return out, onePerFamily(field, families)
}

// onePerFamily lets a dual-stack cluster have one value for IPv4 and one for IPv6.
func onePerFamily(field string, list []netip.Addr) error {
	v4 := 0
	for _, a := range list {
		if a.Is4() {
			v4++
		}
	}
	if v6 := len(list) - v4; v4 > 1 || v6 > 1 {
		return model.Invalidf("%s: require at most one value for IPv4 and one for IPv6, found %d and %d", field, v4, v6)
	}
	return nil
}

func addresses(networks []netip.Prefix) []netip.Addr {
	out := make([]netip.Addr, len(networks))
	for i, n := range networks {
		out[i] = n.Addr()
	}
	return out
}

// checkVIPs holds the virtual addresses of a cluster against each other.
func checkVIPs(c *model.Cluster) error {
	if c.UserManagedNetworking && len(c.APIVIPs)+len(c.IngressVIPs) > 0 {
		return model.Invalidf("api_vips, ingress_vips: require none with user-managed networking, found %d", len(c.APIVIPs)+len(c.IngressVIPs))
	}
	if len(c.APIVIPs) != len(c.IngressVIPs) && len(c.APIVIPs) > 0 && len(c.IngressVIPs) > 0 {
		return model.Invalidf("api_vips, ingress_vips: require as many of each, found %d and %d", len(c.APIVIPs), len(c.IngressVIPs))
	}
	if c.LoadBalancer == userManaged { // one load balancer may answer for both
		return nil
	}
	for _, api := range c.APIVIPs {
		for _, ingress := range c.IngressVIPs {
			if api.IP == ingress.IP {
				return model.Invalidf("api_vips, ingress_vips: require different addresses, found %s in both", api.IP)
			}
		}
	}
	return nil
}
