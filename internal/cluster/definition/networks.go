package definition

import (
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// networkTypeSDN is the only network type that supports VIPs from a DHCP server.
const networkTypeSDN = "OpenShiftSDN"

// applyNetworks sets the networks of a cluster. The older fields of a single network count only without the list.
func applyNetworks(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	if p.NetworkType != nil {
		c.NetworkType = string(*p.NetworkType)
	}
	if err := applyClusterNetworks(c, p); err != nil {
		return err
	}
	if err := applyServiceNetworks(c, p); err != nil {
		return err
	}
	list := p.MachineNetworks
	if list == nil && p.MachineNetworkCidr != nil {
		list = &[]wire.MachineNetwork{}
		if *p.MachineNetworkCidr != "" {
			list = &[]wire.MachineNetwork{{Cidr: *p.MachineNetworkCidr}}
		}
	}
	if list == nil {
		return nil
	}
	networks, err := machineNetworks(*list)
	if err != nil {
		return err
	}
	// Without networks of the user the refresh derives them from VIPs and hosts.
	c.MachineNetworks, c.MachineNetworksAuto = networks, len(networks) == 0
	return nil
}

func applyClusterNetworks(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	list := p.ClusterNetworks
	if list == nil && (p.ClusterNetworkCidr != nil || p.ClusterNetworkHostPrefix != nil) {
		list = &[]wire.ClusterNetwork{singleClusterNetwork(c, p)}
	}
	if list == nil {
		return nil
	}
	networks, err := clusterNetworks(*list)
	if err == nil {
		c.ClusterNetworks = networks
	}
	return err
}

// singleClusterNetwork returns the pod network of the older fields, of which one may be absent.
func singleClusterNetwork(c *model.Cluster, p wire.V2ClusterUpdateParams) wire.ClusterNetwork {
	before := openshift.DefaultClusterNetworks(false)[0]
	if len(c.ClusterNetworks) > 0 {
		before = c.ClusterNetworks[0]
	}
	one := wire.ClusterNetwork{Cidr: before.CIDR.String(), HostPrefix: before.HostPrefix}
	set(&one.Cidr, p.ClusterNetworkCidr)
	if strings.Contains(one.Cidr, ":") != before.CIDR.Addr().Is6() {
		one.HostPrefix = 0 // the prefix of the other family does not apply
	}
	set(&one.HostPrefix, p.ClusterNetworkHostPrefix)
	return one
}

func applyServiceNetworks(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	list := p.ServiceNetworks
	if list == nil && p.ServiceNetworkCidr != nil {
		list = &[]wire.ServiceNetwork{{Cidr: *p.ServiceNetworkCidr}}
	}
	if list == nil {
		return nil
	}
	networks, err := serviceNetworks(*list)
	if err == nil {
		c.ServiceNetworks = networks
	}
	return err
}

// defaultNetworks sets missing pod and service networks: one of each address family of the other networks, in their
// order.
func defaultNetworks(c *model.Cluster) {
	families := familyOrder(slices.Concat(
		addresses(c.MachineNetworks), podAddresses(c), addresses(c.ServiceNetworks), vipAddresses(c.APIVIPs), vipAddresses(c.IngressVIPs),
	))
	if len(families) == 0 {
		families = []family{v4}
	}
	if len(c.ClusterNetworks) == 0 {
		for _, f := range families {
			c.ClusterNetworks = append(c.ClusterNetworks, openshift.DefaultClusterNetworks(true)[f])
		}
	}
	if len(c.ServiceNetworks) == 0 {
		for _, f := range families {
			c.ServiceNetworks = append(c.ServiceNetworks, openshift.DefaultServiceNetworks(true)[f])
		}
	}
}

func addresses(networks []netip.Prefix) []netip.Addr {
	out := make([]netip.Addr, len(networks))
	for i, n := range networks {
		out[i] = n.Addr()
	}
	return out
}

func podAddresses(c *model.Cluster) []netip.Addr {
	out := make([]netip.Addr, len(c.ClusterNetworks))
	for i, n := range c.ClusterNetworks {
		out[i] = n.CIDR.Addr()
	}
	return out
}

func vipAddresses(vips []model.VIP) []netip.Addr {
	out := make([]netip.Addr, len(vips))
	for i, v := range vips {
		out[i] = v.IP
	}
	return out
}
