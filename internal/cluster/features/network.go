package features

import (
	"net/netip"

	"slipway/internal/model"
)

// networkFeatures are how the network of a cluster is made.
var networkFeatures = []Row{
	{
		ID: VIPAutoAlloc, Name: "Virtual addresses from DHCP", Level: LevelDevPreview,
		Limits: []Limit{NotFor(External), Until("4.15"), NotFor(NonePlatform)},
		Excludes: []Exclusion{
			{Features: []ID{SNO, ExternalOCI, NonePlatform, External, UserManagedLoadBalancer}},
		}, // and LVM, which lists this one
		used: func(d definition) bool { return d.cluster.VIPDHCPAllocation },
	},
	{
		ID: ClusterManagedNetworking, Name: "Cluster-managed networking",
		Limits: []Limit{
			NotOn(model.S390X, model.PPC64LE),
			{Architectures: []string{model.ARM64}, Before: "4.11", Level: LevelUnavailable, Reason: ReasonArchitecture},
			NotFor(NonePlatform, External),
		},
		Excludes: []Exclusion{
			{Features: []ID{SNO, UserManagedNetworking, ExternalOCI, NonePlatform, External}},
		}, // and LVM, which lists this one
		used: func(d definition) bool { return !d.cluster.DayTwo() && !d.cluster.UserManagedNetworking },
	},
	{
		ID: UserManagedNetworking, Name: "User-managed networking",
		Limits:   []Limit{NotFor(Nutanix)},
		Excludes: Never(ClusterManagedNetworking, Nutanix, Baremetal, UserManagedLoadBalancer),
		used:     func(d definition) bool { return !d.cluster.DayTwo() && d.cluster.UserManagedNetworking },
	},
	{
		ID: UserManagedLoadBalancer, Name: "User-managed load balancer",
		Limits: []Limit{Since("4.16"), NotFor(NonePlatform, External, Nutanix)},
		Excludes: Never(
			External, ExternalOCI, NonePlatform, Nutanix, UserManagedNetworking, VIPAutoAlloc,
			DualStack, DualStackVIPs, SNO, DualStackPrimaryIPv6,
		),
		used: func(d definition) bool { return d.cluster.LoadBalancer == "user-managed" },
	},
	{
		// Kept for clients that still read it: none and external platforms bring their own
		// networks. Only a setting with a platform has a level of it.
		ID: PlatformManagedNetworking, Name: "Platform-managed networking",
		Limits: []Limit{{Platforms: []ID{Baremetal, Nutanix, VSphere}, Level: LevelUnsupported, Reason: ReasonPlatform}},
	},
	{
		ID: DualStack, Name: "Dual stack",
		Excludes: []Exclusion{
			{Features: []ID{UserManagedLoadBalancer}},
			{Before: "4.13", Features: []ID{VSphere}},
		},
		used: func(d definition) bool { return dualStack(d.cluster) },
	},
	{
		ID: DualStackVIPs, Name: "Dual-stack virtual addresses",
		Limits:   []Limit{Since("4.12"), NotFor(ExternalOCI)},
		Excludes: Never(ExternalOCI, UserManagedLoadBalancer),
		used:     func(d definition) bool { return len(d.cluster.APIVIPs) > 1 },
	},
	{
		ID: DualStackPrimaryIPv6, Name: "Dual stack with IPv6 first", Level: LevelTechPreview,
		Limits: []Limit{NotFor(Nutanix, VSphere, External), Since("4.12")},
		Excludes: []Exclusion{
			{Features: []ID{UserManagedLoadBalancer, External, ExternalOCI, Nutanix, VSphere}},
			{Before: "4.19", Features: []ID{SNO}},
		},
		used: func(d definition) bool { return dualStack(d.cluster) && primaryFamily(d.cluster).Is6() },
	},
	networkType(OVN, "OVNKubernetes"),
	networkType(SDN, "OpenShiftSDN", Until("4.15")),
	networkType(Cilium, "Cilium"),
	networkType(Calico, "Calico"),
	networkType(CiscoACI, "CiscoACI"),
	networkType(NoneNetwork, "None"),
}

// networkType makes the row of a network plug-in: a cluster has one of them.
func networkType(id ID, name string, limits ...Limit) Row {
	var others []ID
	for _, other := range []ID{OVN, SDN, Cilium, Calico, CiscoACI, NoneNetwork} {
		if other != id {
			others = append(others, other)
		}
	}
	return Row{
		ID: id, Name: "Network type " + name, Limits: limits, Excludes: Never(others...),
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
