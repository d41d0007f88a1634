package validation

import (
	"slices"
	"strings"

	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/wire"
)

// networkType lists the abilities of a cluster network plug-in.
type networkType struct {
	name string
	// custom plug-ins come as manifests of the user and give hosts parts of one size.
	custom bool
	// ipv6, singleNode and leasedVIPs tell which shapes of clusters it supports.
	ipv6, singleNode, leasedVIPs bool
}

// networkTypes is the closed list of docs/reference/validation-rules.md, "Network types".
var networkTypes = []networkType{
	{name: string(wire.ClusterNetworkTypeOVNKubernetes), ipv6: true, singleNode: true},
	{name: string(wire.ClusterNetworkTypeOpenShiftSDN), leasedVIPs: true},
	{name: string(wire.ClusterNetworkTypeCilium), custom: true, ipv6: true, singleNode: true, leasedVIPs: true},
	{name: string(wire.ClusterNetworkTypeCalico), custom: true, ipv6: true, singleNode: true, leasedVIPs: true},
	{name: string(wire.ClusterNetworkTypeCiscoACI), custom: true, ipv6: true, singleNode: true, leasedVIPs: true},
	{name: string(wire.ClusterNetworkTypeNone), custom: true, ipv6: true, singleNode: true, leasedVIPs: true},
}

func findNetworkType(name string) (networkType, bool) {
	// The network operator ignores case.
	i := slices.IndexFunc(networkTypes, func(t networkType) bool { return strings.EqualFold(t.name, name) })
	if i < 0 {
		return networkType{}, false
	}
	return networkTypes[i], true
}

// thirdParty reports whether a plug-in does not come with OpenShift. An override may name any.
func thirdParty(name string) bool {
	t, ok := findNetworkType(name)
	return t.custom || !ok && name != ""
}

func networkTypeValid(c *clusterCase) verdict {
	name := c.Cluster.NetworkType
	t, ok := findNetworkType(name)
	v6 := slices.Contains(nodeaddress.FamiliesOf(clusterPrefixes(c.Cluster.ClusterNetworks)), nodeaddress.FamilyIPv6) ||
		slices.Contains(nodeaddress.FamiliesOf(c.Cluster.MachineNetworks), nodeaddress.FamilyIPv6) ||
		slices.Contains(nodeaddress.FamiliesOf(c.Cluster.ServiceNetworks), nodeaddress.FamilyIPv6)
	switch {
	case !ok && name != c.stated.NetworkType:
		return success("The network type %s of the override is one of the user", name)
	case !ok:
		return failure("Require a network type that is known, found %q", name)
	case v6 && !t.ipv6:
		return failure("Require IPv4 networks only with %s, found IPv6", name)
	case c.Cluster.SingleNode() && !t.singleNode:
		return failure("Require more than a single node with %s, found one", name)
	case c.Cluster.VIPDHCPAllocation && !t.leasedVIPs:
		return failure("Require virtual addresses that are set with %s, found leased ones", name)
	}
	return success("The network type %s supports this cluster", name)
}

// customManifests does not ask for manifests of a network type that only an override names: who writes one may bring the
// plug-in in another way. It fails as well where the cluster no longer fits its override, as no other rule looks at the install-config.
func customManifests(c *clusterCase) verdict {
	if c.ConfigFault != "" {
		return failure("Require an install-config that the installer accepts: %s", c.ConfigFault)
	}
	if thirdParty(c.stated.NetworkType) && !c.CustomManifests {
		return failure("Require the manifests of the network type %s, found none", c.stated.NetworkType)
	}
	if c.Cluster.ManifestFault != "" {
		return failure("Require manifests that configure the nodes: %s", c.Cluster.ManifestFault)
	}
	return success("No manifests are missing")
}
