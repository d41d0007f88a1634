package openshift

import (
	"net/netip"

	"slipway/internal/model"
)

// networkFeatures are how the network of a cluster is made.
var networkFeatures = []row{
	{
		id: FeatureVIPAutoAlloc, name: "Virtual addresses from DHCP", level: LevelDevPreview,
		limits: []limit{notFor(external), until("4.15"), notFor(none)},
		excludes: []exclusion{
			{features: []FeatureID{FeatureSNO, FeatureExternalOCI, FeatureNonePlatform, FeatureExternal, FeatureUserManagedLoadBalancer}},
		}, // and LVM, which lists this one
		used: func(d definition) bool { return d.cluster.VIPDHCPAllocation },
	},
	{
		id: FeatureClusterManagedNetworking, name: "Cluster-managed networking",
		limits: []limit{
			notOn(s390x, ppc64le),
			{architectures: []string{arm64}, before: "4.11", level: LevelUnavailable, reason: ReasonArchitecture},
			notFor(none, external),
		},
		excludes: []exclusion{
			{features: []FeatureID{FeatureSNO, FeatureUserManagedNetworking, FeatureExternalOCI, FeatureNonePlatform, FeatureExternal}},
		}, // and LVM, which lists this one
		used: func(d definition) bool { return !d.cluster.DayTwo() && !d.cluster.UserManagedNetworking },
	},
	{
		id: FeatureUserManagedNetworking, name: "User-managed networking",
		limits:   []limit{notFor(nutanix)},
		excludes: never(FeatureClusterManagedNetworking, FeatureNutanix, FeatureBaremetal, FeatureUserManagedLoadBalancer),
		used:     func(d definition) bool { return !d.cluster.DayTwo() && d.cluster.UserManagedNetworking },
	},
	{
		id: FeatureUserManagedLoadBalancer, name: "User-managed load balancer",
		limits: []limit{since("4.16"), notFor(none, external, nutanix)},
		excludes: never(
			FeatureExternal, FeatureExternalOCI, FeatureNonePlatform, FeatureNutanix, FeatureUserManagedNetworking, FeatureVIPAutoAlloc,
			FeatureDualStack, FeatureDualStackVIPs, FeatureSNO, FeatureDualStackPrimaryIPv6,
		),
		used: func(d definition) bool { return d.cluster.LoadBalancer == "user-managed" },
	},
	{
		// Kept for clients that still read it: none and external platforms bring their own
		// networks. Only a setting with a platform has a level of it.
		id: FeaturePlatformManagedNetworking, name: "Platform-managed networking",
		limits: []limit{{platforms: []string{"baremetal", nutanix, vsphere}, level: LevelUnsupported, reason: ReasonPlatform}},
	},
	{
		id: FeatureDualStack, name: "Dual stack",
		excludes: []exclusion{
			{features: []FeatureID{FeatureUserManagedLoadBalancer}},
			{before: "4.13", features: []FeatureID{FeatureVSphere}},
		},
		used: func(d definition) bool { return dualStack(d.cluster) },
	},
	{
		id: FeatureDualStackVIPs, name: "Dual-stack virtual addresses",
		limits:   []limit{since("4.12"), notFor(oci)},
		excludes: never(FeatureExternalOCI, FeatureUserManagedLoadBalancer),
		used:     func(d definition) bool { return len(d.cluster.APIVIPs) > 1 },
	},
	{
		id: FeatureDualStackPrimaryIPv6, name: "Dual stack with IPv6 first", level: LevelTechPreview,
		limits: []limit{notFor(nutanix, vsphere, external), since("4.12")},
		excludes: []exclusion{
			{features: []FeatureID{FeatureUserManagedLoadBalancer, FeatureExternal, FeatureExternalOCI, FeatureNutanix, FeatureVSphere}},
			{before: "4.19", features: []FeatureID{FeatureSNO}},
		},
		used: func(d definition) bool { return dualStack(d.cluster) && primaryFamily(d.cluster).Is6() },
	},
	networkType(FeatureOVN, "OVNKubernetes"),
	networkType(FeatureSDN, "OpenShiftSDN", until("4.15")),
	networkType(FeatureCilium, "Cilium"),
	networkType(FeatureCalico, "Calico"),
	networkType(FeatureCiscoACI, "CiscoACI"),
	networkType(FeatureNoneNetwork, "None"),
}

// networkType makes the row of a network plug-in: a cluster has one of them.
func networkType(id FeatureID, name string, limits ...limit) row {
	var others []FeatureID
	for _, other := range []FeatureID{FeatureOVN, FeatureSDN, FeatureCilium, FeatureCalico, FeatureCiscoACI, FeatureNoneNetwork} {
		if other != id {
			others = append(others, other)
		}
	}
	return row{
		id: id, name: "Network type " + name, limits: limits, excludes: never(others...),
		used: func(d definition) bool { return d.cluster.NetworkType == name },
	}
}

// dualStack reports whether networks of one kind have both address families.
func dualStack(c *model.Cluster) bool {
	both := func(networks []netip.Prefix) bool {
		v4, v6 := false, false
		for _, n := range networks {
			v4, v6 = v4 || n.Addr().Is4(), v6 || n.Addr().Is6()
		}
		return v4 && v6
	}
	return both(c.MachineNetworks) || both(c.ServiceNetworks) || both(podNetworks(c))
}

// primaryFamily returns an address of the family that comes first.
func primaryFamily(c *model.Cluster) netip.Addr {
	for _, networks := range [][]netip.Prefix{podNetworks(c), c.ServiceNetworks, c.MachineNetworks} {
		if len(networks) > 0 {
			return networks[0].Addr()
		}
	}
	return netip.Addr{}
}

func podNetworks(c *model.Cluster) []netip.Prefix {
	out := make([]netip.Prefix, len(c.ClusterNetworks))
	for i, n := range c.ClusterNetworks {
		out[i] = n.CIDR
	}
	return out
}
