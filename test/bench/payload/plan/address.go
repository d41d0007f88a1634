package plan

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// Local is an address of this host and the interface that has it.
type Local struct {
	Interface string
	Prefix    netip.Prefix
}

// Interfaces lists the addresses of this host.
func Interfaces() ([]Local, error) {
	nics, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list the interfaces: %w", err)
	}
	var all []Local
	for _, nic := range nics {
		addresses, err := nic.Addrs()
		if err != nil {
			return nil, fmt.Errorf("list the addresses of %s: %w", nic.Name, err)
		}
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil {
				all = append(all, Local{nic.Name, prefix})
			}
		}
	}
	return all, nil
}

// NodeAddress returns the address that this host has as a node: one in a machine network that does not float.
func (c *Cluster) NodeAddress(local []Local) (Local, error) {
	for _, network := range c.MachineNetworks {
		for _, l := range local {
			address := l.Prefix.Addr()
			if network.Contains(address) && !slices.Contains(c.APIVIPs, address) && !slices.Contains(c.IngressVIPs, address) {
				return l, nil
			}
		}
	}
	return Local{}, fmt.Errorf("require an address in the machine networks %s, found none", Join(c.MachineNetworks))
}
