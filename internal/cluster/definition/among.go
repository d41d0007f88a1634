package definition

import (
	"net/netip"
	"slices"

	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// checkAmong checks the networks and VIPs that a change sends against the rest of the cluster and its hosts. A new cluster has
// them judged by validations alone: hosts come later (openshift/assisted-service refuses the same in changes only,
// internal/network/machine_network_cidr.go and dual_stack_validations.go).
func checkAmong(c *model.Cluster, p wire.V2ClusterUpdateParams, hosts []*model.Host) error {
	if n := len(c.MachineNetworks); p.MachineNetworks != nil && n > 0 && !bothFamilies(c.MachineNetworks) && forBothFamilies(c) {
		return model.Invalidf("machine_networks: require one of each family, as cluster_networks and service_networks have, found %s",
			c.MachineNetworks[0])
	}
	if p.MachineNetworks != nil && bothFamilies(c.MachineNetworks) && !forBothFamilies(c) {
		return model.Invalidf("machine_networks: must be of one family, as cluster_networks and service_networks are")
	}
	if err := roomForHosts(c, p); err != nil {
		return err
	}
	if err := roomForPods(c, p); err != nil {
		return err
	}
	if p.APIVips == nil && p.IngressVips == nil || c.UserManagedNetworking || c.VIPDHCPAllocation {
		return nil
	}
	if c.LoadBalancer == userManaged {
		if len(c.APIVIPs)+len(c.IngressVIPs) > 0 && len(c.MachineNetworks) == 0 {
			return model.Invalidf("api_vips, ingress_vips: machine_networks is required with a user-managed load balancer")
		}
		return nil
	}
	if err := free("api_vips", c.APIVIPs, hosts); err != nil {
		return err
	}
	return free("ingress_vips", c.IngressVIPs, hosts)
}

// roomForHosts returns an error for a machine network with fewer addresses than the control plane and its VIPs take.
func roomForHosts(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	const vips, largest = 2, 8 // networks of 256 addresses and more have enough
	if p.MachineNetworks == nil || c.UserManagedNetworking {
		return nil
	}
	for _, n := range c.MachineNetworks {
		free := n.Addr().BitLen() - n.Bits()
		if needed := c.ControlPlaneCount + vips; free < largest && 1<<free-vips < needed {
			return model.Invalidf("machine_networks: require room for %d hosts and virtual addresses, found %d addresses in %s",
				needed, max(1<<free-vips, 0), n)
		}
	}
	return nil
}

// inOrder returns an error unless the machine networks of a new cluster are one of each family, the pods' first family first, which is
// IPv4 unless the request says otherwise; the user's load balancer may be in other networks (internal/network/dual_stack_validations.go
// of openshift/assisted-service).
func inOrder(c *model.Cluster) error {
	if len(c.MachineNetworks) < 2 || c.LoadBalancer == userManaged || c.UserManagedNetworking {
		return nil
	}
	if !bothFamilies(c.MachineNetworks) {
		return model.Invalidf("machine_networks: require one network of each family, found %s and %s",
			c.MachineNetworks[0], c.MachineNetworks[1])
	}
	is4 := len(c.ClusterNetworks) == 0 || c.ClusterNetworks[0].CIDR.Addr().Is4()
	if c.MachineNetworks[0].Addr().Is4() != is4 {
		return model.Invalidf("machine_networks: require the family of cluster_networks first, found %s before %s",
			c.MachineNetworks[0], c.MachineNetworks[1])
	}
	return nil
}

// roomForPods returns an error for a host prefix that leaves a host fewer than 128 addresses (internal/network/cidr_validations.go
// of openshift/assisted-service).
func roomForPods(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	const bits = 7
	if p.ClusterNetworks == nil {
		return nil
	}
	for _, n := range c.ClusterNetworks {
		if most := n.CIDR.Addr().BitLen() - bits; n.HostPrefix > most {
			return model.Invalidf("cluster_networks: require a host_prefix of at most %d for %s, which leaves a host 128 addresses, found %d",
				most, n.CIDR, n.HostPrefix)
		}
	}
	return nil
}

// free returns an error for a VIP that is an address of a host, or the first or last address of a host's IPv4 network.
func free(field string, vips []model.VIP, hosts []*model.Host) error {
	for _, vip := range vips {
		for _, h := range hosts {
			for _, nic := range hardware.NICs(h.Inventory) {
				for _, a := range nic.Addresses {
					switch {
					case a.Addr() == vip.IP:
						return model.Invalidf("%s: require an address that no host has, found %s, which %s has", field, vip.IP, h.Hostname())
					case a.Contains(vip.IP) && reserved(a, vip.IP):
						return model.Invalidf("%s: require an address that an interface can have, found %s of %s", field, vip.IP, a.Masked())
					}
				}
			}
		}
	}
	return nil
}

// reserved reports whether an IPv4 address names its network or all of its hosts.
func reserved(network netip.Prefix, a netip.Addr) bool {
	const pointToPoint = 31 // RFC 3021: both addresses belong to hosts
	if !a.Is4() || network.Bits() >= pointToPoint {
		return false
	}
	return a == network.Masked().Addr() || !network.Contains(a.Next())
}

func bothFamilies(networks []netip.Prefix) bool {
	is4 := func(p netip.Prefix) bool { return p.Addr().Is4() }
	is6 := func(p netip.Prefix) bool { return p.Addr().Is6() }
	return slices.ContainsFunc(networks, is4) && slices.ContainsFunc(networks, is6)
}

// forBothFamilies reports whether pods or services have addresses of both families.
func forBothFamilies(c *model.Cluster) bool {
	pods := make([]netip.Prefix, len(c.ClusterNetworks))
	for i, n := range c.ClusterNetworks {
		pods[i] = n.CIDR
	}
	return bothFamilies(pods) || bothFamilies(c.ServiceNetworks)
}
