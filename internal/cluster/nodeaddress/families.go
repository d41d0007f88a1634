package nodeaddress

import (
	"net/netip"

	"slipway/internal/model"
)

// Family is an address family, by the name of its connectivity groups.
type Family string

// The address families.
const (
	FamilyIPv4 Family = "IPv4"
	FamilyIPv6 Family = "IPv6"
)

// FamilyOf returns the family of an address.
func FamilyOf(addr netip.Addr) Family {
	if addr.Is4() || addr.Is4In6() {
		return FamilyIPv4
	}
	return FamilyIPv6
}

// ClusterFamilies returns the address families a cluster uses, primary first: from its machine networks, else
// from its service networks, else IPv4.
func ClusterFamilies(c *model.Cluster) []Family {
	c = c.Effective()
	for _, networks := range [][]netip.Prefix{c.MachineNetworks, c.ServiceNetworks} {
		if out := FamiliesOf(networks); len(out) > 0 {
			return out
		}
	}
	return []Family{FamilyIPv4}
}

// FamiliesOf lists the families of networks, each once, in order of appearance.
func FamiliesOf(networks []netip.Prefix) []Family {
	var out []Family
	for _, n := range networks {
		f := FamilyOf(n.Addr())
		if len(out) == 0 || out[0] != f && len(out) == 1 {
			out = append(out, f)
		}
	}
	return out
}
