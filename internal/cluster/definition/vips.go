package definition

import (
	"slices"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// applyVIPs sets the VIPs of a cluster, or that a DHCP server provides them.
func applyVIPs(c *model.Cluster, p wire.V2ClusterUpdateParams) (err error) {
	if err := applyLeasing(c, p); err != nil {
		return err
	}
	if c.VIPDHCPAllocation {
		return nil
	}
	if p.APIVips != nil {
		var list []string
		for _, v := range *p.APIVips {
			list = append(list, v.IP)
		}
		if c.APIVIPs, err = parseVIPs("api_vips", list, c.APIVIPs); err != nil {
			return err
		}
	}
	if p.IngressVips != nil {
		var list []string
		for _, v := range *p.IngressVips {
			list = append(list, v.IP)
		}
		if c.IngressVIPs, err = parseVIPs("ingress_vips", list, c.IngressVIPs); err != nil {
			return err
		}
	}
	if c.UserManagedNetworking && p.APIVips == nil && p.IngressVips == nil {
		c.APIVIPs, c.IngressVIPs = nil, nil // VIPs of an earlier network no longer apply
	}
	return checkVIPs(c)
}

// applyLeasing switches VIPs from a DHCP server on or off. A switch, or another network, clears the earlier VIPs and
// leases.
func applyLeasing(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	reset := c.VIPDHCPAllocation && (p.MachineNetworks != nil || p.MachineNetworkCidr != nil) && !leasedWithin(c)
	if p.VipDhcpAllocation != nil && *p.VipDhcpAllocation != c.VIPDHCPAllocation {
		c.VIPDHCPAllocation, reset = *p.VipDhcpAllocation, true
	}
	if reset {
		c.APIVIPs, c.IngressVIPs, c.APIVIPLease, c.IngressVIPLease = nil, nil, "", ""
	}
	if sent := len(deref(p.APIVips)) + len(deref(p.IngressVips)); c.VIPDHCPAllocation && sent > 0 {
		return model.Invalidf("api_vips, ingress_vips: require none with vip_dhcp_allocation, found %d", sent)
	}
	return nil
}

// leasedWithin reports whether the leased addresses are in the machine networks.
func leasedWithin(c *model.Cluster) bool {
	for _, vips := range [][]model.VIP{c.APIVIPs, c.IngressVIPs} {
		for _, v := range vips {
			if len(c.MachineNetworks) == 0 || !c.MachineNetworks[0].Contains(v.IP) {
				return false
			}
		}
	}
	return true
}

// defaultNetworkType returns OpenShiftSDN for VIPs of a DHCP server, which no other type has, and where a release before 4.12 installs
// several nodes, as assisted-service has it. It knows IPv4 alone; releases from 4.15 on lack it.
func defaultNetworkType(c *model.Cluster) string {
	older := func(than string) bool {
		v, err := parseVersion("openshift_version", c.OpenShiftVersion)
		return err == nil && v.LessThan(semver.MustParse(than))
	}
	if c.VIPDHCPAllocation && older("4.15.0-0") || older("4.12.0-0") && !c.SingleNode() && !forIPv6(c) {
		return networkTypeSDN
	}
	return openshift.DefaultNetworkType
}

func forIPv6(c *model.Cluster) bool {
	return slices.Contains(familyOrder(slices.Concat(addresses(c.MachineNetworks), podAddresses(c), addresses(c.ServiceNetworks))), v6)
}

// checkLeasing checks what VIPs from a DHCP server need: a network type that supports them, and one network.
func checkLeasing(c *model.Cluster) error {
	switch {
	case !c.VIPDHCPAllocation:
		return nil
	case c.UserManagedNetworking:
		return model.Invalidf("vip_dhcp_allocation: require a network that the cluster manages, found user_managed_networking")
	case c.NetworkType != networkTypeSDN:
		return model.Invalidf("vip_dhcp_allocation: require network_type %s, found %s", networkTypeSDN, c.NetworkType)
	case len(c.MachineNetworks) > 1:
		return model.Invalidf("vip_dhcp_allocation: require one machine network, found %d", len(c.MachineNetworks))
	case len(c.MachineNetworks) == 1 && !c.MachineNetworks[0].Addr().Is4():
		return model.Invalidf("vip_dhcp_allocation: require an IPv4 machine network, found %s", c.MachineNetworks[0])
	}
	return nil
}
