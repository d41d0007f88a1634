package api

import (
	"slipway/internal/model"
	"slipway/internal/wire"
)

// applyNetworks sets the networks of a cluster. A single network has a field of its own
// from the time before dual-stack; the list wins.
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
	// Without networks of the user the refresher derives them from VIPs and hosts.
	c.MachineNetworks, c.MachineNetworksAuto = networks, len(networks) == 0
	return nil
}

func applyClusterNetworks(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	list := p.ClusterNetworks
	if list == nil && (p.ClusterNetworkCidr != nil || p.ClusterNetworkHostPrefix != nil) {
		one := wire.ClusterNetwork{}
		if len(c.ClusterNetworks) > 0 {
			one = wire.ClusterNetwork{Cidr: c.ClusterNetworks[0].CIDR.String(), HostPrefix: c.ClusterNetworks[0].HostPrefix}
		}
		set(&one.Cidr, p.ClusterNetworkCidr)
		set(&one.HostPrefix, p.ClusterNetworkHostPrefix)
		list = &[]wire.ClusterNetwork{one}
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

func applyVIPs(c *model.Cluster, p wire.V2ClusterUpdateParams) (err error) {
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
		c.APIVIPs, c.IngressVIPs = nil, nil // what the network was before does not matter any more
	}
	return checkVIPs(c)
}
