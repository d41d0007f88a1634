package features

import "slipway/internal/model"

// platformFeatures are the platforms. A setting with a platform has no levels of them.
var platformFeatures = []Row{
	{
		ID: Baremetal, Name: "Platform baremetal",
		Excludes: Never(UserManagedNetworking),
		used:     func(d definition) bool { return d.cluster.Platform.Type == "baremetal" },
	},
	{
		ID: NonePlatform, Name: "Platform none",
		Excludes: []Exclusion{
			{Features: []ID{VIPAutoAlloc, ClusterManagedNetworking, UserManagedLoadBalancer}},
			{Before: "4.22", Features: []ID{TNA}},
		},
		used: func(d definition) bool { return d.cluster.Platform.Type == "none" },
	},
	{
		ID: Nutanix, Name: "Platform nutanix",
		Limits: []Limit{NotOn(model.S390X, model.PPC64LE, model.ARM64), Since("4.11"), Only(LevelDevPreview, "4.11", "4.12")},
		Excludes: Never(
			SNO, TNA, TNF, UserManagedNetworking, LVM, MCE, CNV, MTV,
			NonStandardControlPlane, UserManagedLoadBalancer, OSC, NMState, DualStackPrimaryIPv6,
		),
		used: func(d definition) bool { return d.cluster.Platform.Type == nutanix },
	},
	{
		ID: VSphere, Name: "Platform vsphere",
		Limits: []Limit{NotOn(model.S390X, model.PPC64LE)},
		Excludes: []Exclusion{
			{Features: []ID{
				SNO, TNA, TNF, LVM, CNV, MTV, NonStandardControlPlane,
				OSC, DualStackPrimaryIPv6,
			}},
			{Before: "4.13", Features: []ID{DualStack}},
		},
		used: func(d definition) bool { return d.cluster.Platform.Type == vsphere },
	},
	{
		ID: External, Name: "External platform",
		Limits: []Limit{Since("4.14")},
		Excludes: Never(
			TNA, TNF, ClusterManagedNetworking, VIPAutoAlloc, UserManagedLoadBalancer,
			NMState, DualStackPrimaryIPv6,
		),
		used: func(d definition) bool { return d.cluster.Platform.Type == external },
	},
	{
		ID: ExternalOCI, Name: "Oracle Cloud Infrastructure",
		Limits: []Limit{NotOn(model.S390X, model.PPC64LE), Since("4.14")},
		Excludes: Never(
			TNA, TNF, ClusterManagedNetworking, VIPAutoAlloc, DualStackVIPs, FullISO,
			UserManagedLoadBalancer, NMState, ODF, OpenShiftAI, DualStackPrimaryIPv6,
		),
		used: func(d definition) bool {
			return d.cluster.Platform.Type == external && d.cluster.Platform.ExternalName == oci
		},
	},
}
