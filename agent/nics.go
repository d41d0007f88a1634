package agent

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"slipway/agent/inventory"
)

// nic is an interface that packets to other hosts may leave by.
type nic struct {
	inventory.Link
}

// outgoing lists the interfaces that are up and have an address others can reach.
func (a *Agent) outgoing() ([]nic, error) {
	links, err := a.host.Links.Links()
	if err != nil {
		return nil, fmt.Errorf("list the network interfaces: %w", err)
	}
	var nics []nic
	for _, link := range links {
		if link.Flags&net.FlagLoopback != 0 || link.Flags&net.FlagUp == 0 {
			continue
		}
		for _, prefix := range link.Addresses {
			if !prefix.Addr().IsLinkLocalUnicast() {
				nics = append(nics, nic{link})
				break
			}
		}
	}
	return nics, nil
}

// has reports whether an address is one of the interface.
func (n nic) has(address netip.Addr) bool {
	return slices.ContainsFunc(n.Addresses, func(p netip.Prefix) bool { return p.Addr() == address })
}

// sourceFor returns the address of the interface in the network of a remote address; false when
// that is not on the link.
func (n nic) sourceFor(remote netip.Addr) (netip.Addr, bool) {
	for _, prefix := range n.Addresses {
		if prefix.Masked().Contains(remote) && prefix.Addr() != remote {
			return prefix.Addr(), true
		}
	}
	return netip.Addr{}, false
}
