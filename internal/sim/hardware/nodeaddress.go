package hardware

import "net/netip"

// NodeAddresses lists the addresses of a node on the machine: of the interface with an address in the network of the hint,
// where there is one, else of the interface with the default route (openshift/baremetal-runtimecfg, pkg/config/node.go).
func (s *Spec) NodeAddresses(hint netip.Addr) []netip.Addr {
	toward := hint
	if !toward.IsValid() {
		toward = s.Gateway
	}
	chosen := s.NICs[0]
	for _, nic := range s.NICs {
		for _, address := range nic.Addresses {
			if toward.IsValid() && address.Contains(toward) {
				chosen = nic
			}
		}
	}
	var addresses []netip.Addr
	for _, address := range chosen.Addresses {
		addresses = append(addresses, address.Addr())
	}
	return addresses
}
