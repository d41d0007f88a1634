package validation

import (
	"net/netip"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/wire"
)

func machineNetworkDefined(c *hostCase) verdict {
	switch {
	case c.dayTwo():
		return success("The cluster exists already, no machine network is needed")
	case c.Cluster.UserManagedNetworking:
		return success("Networking is the user's, no machine network is needed")
	case len(c.Cluster.MachineNetworks) > 0:
		return success("The machine network is %s", networkList(c.Cluster.MachineNetworks))
	}
	return failure("Require a machine network, found none: set it, or a virtual address in a network of the hosts")
}

func inMachineNetworks(c *hostCase) verdict {
	networks := c.Cluster.MachineNetworks
	switch {
	case c.dayTwo():
		return success("The cluster exists already, any network will do")
	case c.Cluster.UserManagedNetworking && !c.singleNode() && (!c.Host.Bootstrap || len(networks) == 0):
		return success("Networking is the user's, any network will do")
	case c.inv == nil:
		return pending(missingInventory)
	case len(networks) == 0:
		return pending("The cluster has no machine network yet")
	}
	var missing []netip.Prefix
	for _, n := range networks {
		if !hardware.InNetwork(c.nics, n) {
			missing = append(missing, n)
		}
	}
	if len(missing) == 0 || externalBalancer(c.Cluster) && len(missing) < len(networks) {
		return success("The host has an address in the machine network")
	}
	return failure("Require an address in the machine network %s, the host has none there", networkList(missing))
}

func ignitionDownloadable(c *hostCase) verdict {
	if !c.dayTwo() {
		return irrelevant()
	}
	switch d := c.Host.IgnitionDownload; {
	case d == nil:
		return pending("The host has not tried to reach the cluster yet")
	case !d.IsSuccess:
		return failure("Require the host to fetch its configuration from %s, it could not: %s", d.URL, d.DownloadError)
	}
	if RunsFromDisk(c.Host) && c.Cluster.ReleaseImage == "" && WorkerOSImage(c.Host) == "" {
		return failure("Require the image of the operating system for a host that runs from its disk, found no osImageURL in the " +
			"MachineConfig of the cluster's workers and no release of the cluster; boot the host from the discovery image")
	}
	return success("The host fetches its configuration from the cluster")
}

func defaultRoute(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	for _, r := range c.inv.Routes {
		gateway, err := netip.ParseAddr(r.Gateway)
		if err != nil || gateway.IsUnspecified() {
			continue
		}
		if to, err := netip.ParseAddr(r.Destination); err == nil && to.IsUnspecified() {
			return success("The default route leads over %s", r.Interface)
		}
	}
	return failure("Require a default route with a gateway, found none among %d routes", len(c.inv.Routes))
}

func subnetsApart(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	wanted := map[nodeaddress.Family]bool{}
	for _, f := range nodeaddress.ClusterFamilies(c.Cluster) {
		wanted[f] = true
	}
	type claim struct {
		network netip.Prefix
		nic     string
	}
	var claims []claim
	for i := range c.nics {
		for _, a := range c.nics[i].Addresses {
			if wanted[nodeaddress.FamilyOf(a.Addr())] {
				claims = append(claims, claim{a.Masked(), c.nics[i].Name})
			}
		}
	}
	for i, a := range claims {
		for _, b := range claims[:i] {
			if a.nic != b.nic && a.network.Overlaps(b.network) {
				return failure("Require networks apart on every NIC, %s on %s overlaps %s on %s", b.network, b.nic, a.network, a.nic)
			}
		}
	}
	return success("No two NICs share a network")
}

func noCollision(c *hostCase) verdict {
	if c.inv == nil {
		return pending(missingInventory)
	}
	if other, mac := c.Peers.sameMAC(c.Host.ID); other != nil && !c.Cluster.UserManagedNetworking {
		return failure("Require a MAC address of its own in the machine network, %s has %s too", other.Hostname(), mac)
	}
	if len(c.Peers.collisions) == 0 {
		return success("No address is used twice")
	}
	for i := range c.nics {
		for _, a := range c.nics[i].Addresses {
			if macs, ok := c.Peers.collisions[a.Addr()]; ok {
				return failure("Require addresses of its own, %s is answered by %d machines: %v", a.Addr(), len(macs), macs)
			}
		}
	}
	return success("No address of the host is used twice")
}

func iscsiApart(c *hostCase) verdict {
	if c.inv == nil || len(c.Cluster.MachineNetworks) == 0 {
		return irrelevant()
	}
	d := hardware.InstallationDisk(c.Host)
	if d == nil {
		return irrelevant()
	}
	addrs := hardware.ISCSIAddresses(c.inv, d)
	if len(addrs) == 0 && d.DriveType == wire.DriveTypeMultipath {
		return success("No path of the disk is an iSCSI disk")
	}
	if len(addrs) == 0 {
		return irrelevant()
	}
	primary := c.Cluster.MachineNetworks[0]
	for _, addr := range addrs {
		for i := range c.nics {
			n := &c.nics[i]
			if hardware.Owns(c.nics[i:i+1], addr) && n.In(primary) {
				return failure(
					"Require the iSCSI disk on a NIC outside the machine network %s, %s with %s is inside",
					primary,
					n.Name,
					addr,
				)
			}
		}
	}
	return success("The iSCSI disk is reached outside the machine network")
}
