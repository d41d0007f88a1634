package validation

import (
	"net/netip"
	"slices"
	"time"

	"slipway/internal/model"
	"slipway/internal/wire"
)

func apiVIPsDefined(c *clusterCase) verdict { return c.vipsDefined("API", c.Cluster.APIVIPs) }
func ingressVIPsDefined(c *clusterCase) verdict {
	return c.vipsDefined("ingress", c.Cluster.IngressVIPs)
}
func apiVIPsValid(c *clusterCase) verdict     { return c.vipsValid("API", c.Cluster.APIVIPs) }
func ingressVIPsValid(c *clusterCase) verdict { return c.vipsValid("ingress", c.Cluster.IngressVIPs) }

func (c *clusterCase) vipsDefined(name string, vips []model.VIP) verdict {
	switch {
	case c.selfNetworked():
		return success("No %s virtual address is needed", name)
	case len(vips) > 0:
		return success("The %s virtual address is set", name)
	case c.Cluster.VIPDHCPAllocation && len(c.Cluster.MachineNetworks) == 0:
		return pending("The %s virtual address is leased once the machine network is set", name)
	case c.Cluster.VIPDHCPAllocation && LeaseOverdue(c.Cluster, c.Options.VIPLease, c.Now):
		return failure("Require an %s virtual address from the DHCP server within %s, none has come", name, c.Options.VIPLease)
	case c.Cluster.VIPDHCPAllocation:
		return pending("The %s virtual address is being leased", name)
	}
	return failure("Require an %s virtual address, found none", name)
}

// LeaseOverdue reports whether a DHCP server should have assigned the virtual addresses of a cluster by now.
func LeaseOverdue(c *model.Cluster, limit time.Duration, now time.Time) bool {
	return !c.LeaseSince.IsZero() && now.Sub(c.LeaseSince) > limit
}

func (c *clusterCase) vipsValid(name string, vips []model.VIP) verdict {
	switch {
	case c.selfNetworked():
		return success("No %s virtual address is needed", name)
	case c.Peers.withInventory == 0:
		return pending("No host has sent its inventory yet")
	case len(vips) == 0:
		return pending("The %s virtual address is not set yet", name)
	case len(c.Cluster.MachineNetworks) == 0:
		return pending("The machine network is not set yet")
	case c.otherFamily(vips):
		return failure("Require the only %s virtual address of a dual-stack cluster in the family of the first machine network %s, found %s",
			name, c.Cluster.MachineNetworks[0], vips[0].IP)
	}
	for _, vip := range vips {
		if v := c.vipValid(name, vip); v.status != model.ValidationSuccess {
			return v
		}
	}
	return success("The %s virtual address is free and in the machine network", name)
}

// otherFamily reports whether a single virtual address is not of the family that nodes prefer, which the installer requires of
// dual-stack clusters.
func (c *clusterCase) otherFamily(vips []model.VIP) bool {
	networks := c.Cluster.MachineNetworks
	is4 := func(n netip.Prefix) bool { return n.Addr().Is4() }
	dual := slices.ContainsFunc(networks, is4) && !allOf(networks, is4)
	return len(vips) == 1 && dual && vips[0].IP.Is4() != is4(networks[0])
}

func allOf(networks []netip.Prefix, is func(netip.Prefix) bool) bool {
	return !slices.ContainsFunc(networks, func(n netip.Prefix) bool { return !is(n) })
}

func (c *clusterCase) vipValid(name string, vip model.VIP) verdict {
	i := slices.IndexFunc(c.Cluster.MachineNetworks, func(n netip.Prefix) bool { return n.Contains(vip.IP) })
	if i < 0 {
		return failure(
			"Require the %s virtual address in the machine network %s, found %s",
			name,
			networkList(c.Cluster.MachineNetworks),
			vip.IP,
		)
	}
	network := c.Cluster.MachineNetworks[i]
	if vip.IP == network.Masked().Addr() || vip.IP.Is4() && vip.IP == lastAddress(network) {
		return failure("Require the %s virtual address to be a host's, %s is the first or last address of %s", name, vip.IP, network)
	}
	if externalBalancer(c.Cluster) {
		return success("The %s virtual address is the load balancer's", name) // and in use, as expected
	}
	return c.vipFree(name, vip, network)
}

func (c *clusterCase) vipFree(name string, vip model.VIP, network netip.Prefix) verdict {
	switch vip.Verification {
	case string(wire.VipVerificationSucceeded):
		return success("The %s virtual address %s is free", name, vip.IP)
	case string(wire.VipVerificationFailed):
		return failure("Require an %s virtual address that is not in use, %s answers", name, vip.IP)
	}
	scanned := false
	for _, h := range c.Hosts {
		for i := range h.FreeAddresses {
			if h.FreeAddresses[i].Network != network.String() {
				continue
			}
			scanned = true
			if slices.Contains(h.FreeAddresses[i].FreeAddresses, vip.IP.String()) {
				return success("The %s virtual address %s is free", name, vip.IP)
			}
		}
	}
	if scanned {
		return failure("Require an %s virtual address that is not in use, no host found %s free", name, vip.IP)
	}
	return failure("Require an %s virtual address that is known to be free, no host has verified %s yet", name, vip.IP)
}

// lastAddress returns the highest address of a network, its broadcast address in IPv4.
func lastAddress(n netip.Prefix) netip.Addr {
	raw := n.Masked().Addr().AsSlice()
	for i := n.Bits(); i < len(raw)*8; i++ {
		raw[i/8] |= 1 << (7 - i%8)
	}
	a, _ := netip.AddrFromSlice(raw)
	return a
}
