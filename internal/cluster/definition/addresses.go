package definition

import (
	"net/netip"
	"slices"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// family is an address family; its number is its place in lists of defaults.
type family int

const (
	v4 family = iota
	v6
)

func (f family) String() string { return [...]string{"IPv4", "IPv6"}[f] }

func familyOf(a netip.Addr) family {
	if a.Is4() {
		return v4
	}
	return v6
}

// familyOrder lists the families of addresses in order of appearance.
func familyOrder(list []netip.Addr) []family {
	var out []family
	for _, a := range list {
		if f := familyOf(a); !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// parseNetwork reads a network; its address must be the network's own.
func parseNetwork(field, text string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(text)
	if err != nil || network.Addr().Is4In6() {
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
		if slices.Contains(out, network) {
			return nil, model.Invalidf("machine_networks: require each network once, found %s twice", network)
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

// clusterNetworks reads pod networks; without a host prefix each host gets a part of the default size.
func clusterNetworks(list []wire.ClusterNetwork) ([]model.ClusterNetwork, error) {
	out := make([]model.ClusterNetwork, 0, len(list))
	var families []netip.Addr
	for _, n := range list {
		network, err := parseNetwork("cluster_networks", n.Cidr)
		if err != nil {
			return nil, err
		}
		prefix := n.HostPrefix
		if prefix == 0 {
			prefix = openshift.DefaultClusterNetworks(true)[familyOf(network.Addr())].HostPrefix
		}
		if prefix < network.Bits() || prefix > network.Addr().BitLen() {
			return nil, model.Invalidf("cluster_networks: require a host_prefix from %d to %d for %s, found %d",
				network.Bits(), network.Addr().BitLen(), network, prefix)
		}
		out = append(out, model.ClusterNetwork{CIDR: network, HostPrefix: prefix})
		families = append(families, network.Addr())
	}
	return out, onePerFamily("cluster_networks", families)
}

// parseVIPs reads VIPs and keeps the verification of those that the cluster has already.
func parseVIPs(field string, list []string, before []model.VIP) ([]model.VIP, error) {
	out := make([]model.VIP, 0, len(list))
	for _, text := range list {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" {
			return nil, model.Invalidf("%s: require an address, found %q", field, text)
		}
		vip := model.VIP{IP: address.Unmap()}
		if vip.IP.IsUnspecified() || vip.IP.IsLoopback() || vip.IP.IsMulticast() || vip.IP.IsLinkLocalUnicast() {
			return nil, model.Invalidf("%s: require the address of a machine, found %s", field, vip.IP)
		}
		for _, known := range before {
			if known.IP == vip.IP {
				vip = known
			}
		}
		out = append(out, vip)
	}
	return out, onePerFamily(field, vipAddresses(out))
}

// onePerFamily refuses a second value of an address family.
func onePerFamily(field string, list []netip.Addr) error {
	n := [2]int{}
	for _, a := range list {
		n[familyOf(a)]++
	}
	if n[v4] > 1 || n[v6] > 1 {
		return model.Invalidf("%s: require at most one value for IPv4 and one for IPv6, found %d and %d", field, n[v4], n[v6])
	}
	return nil
}

// checkVIPs checks the VIPs of a cluster against each other.
func checkVIPs(c *model.Cluster) error {
	if c.UserManagedNetworking && len(c.APIVIPs)+len(c.IngressVIPs) > 0 {
		return model.Invalidf(
			"api_vips, ingress_vips: require none with user-managed networking, found %d",
			len(c.APIVIPs)+len(c.IngressVIPs),
		)
	}
	if len(c.APIVIPs) != len(c.IngressVIPs) && len(c.APIVIPs) > 0 && len(c.IngressVIPs) > 0 {
		return model.Invalidf("api_vips, ingress_vips: require as many of each, found %d and %d", len(c.APIVIPs), len(c.IngressVIPs))
	}
	if len(c.APIVIPs) == 1 && len(c.IngressVIPs) == 1 && familyOf(c.APIVIPs[0].IP) != familyOf(c.IngressVIPs[0].IP) {
		return model.Invalidf(
			"api_vips, ingress_vips: require addresses of one family, found %s and %s",
			c.APIVIPs[0].IP,
			c.IngressVIPs[0].IP,
		)
	}
	if c.LoadBalancer == userManaged { // one load balancer may serve both
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

// checkFamilyOrder checks that all lists of a dual-stack cluster begin with the same family, which nodes prefer.
func checkFamilyOrder(c *model.Cluster) error {
	machines := addresses(c.MachineNetworks)
	if c.MachineNetworksAuto {
		machines = nil // these follow the VIPs
	}
	decides, first := "", v4
	for _, l := range []struct {
		field string
		list  []netip.Addr
	}{
		{"cluster_networks", podAddresses(c)},
		{"service_networks", addresses(c.ServiceNetworks)},
		{"machine_networks", machines},
		{"api_vips", vipAddresses(c.APIVIPs)},
		{"ingress_vips", vipAddresses(c.IngressVIPs)},
	} {
		families := familyOrder(l.list)
		switch {
		case len(families) < 2:
		case decides == "":
			decides, first = l.field, families[0]
		case families[0] != first:
			return model.Invalidf("%s: require %s first as in %s, found %s", l.field, first, decides, families[0])
		}
	}
	return nil
}
