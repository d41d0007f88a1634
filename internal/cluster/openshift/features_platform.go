package openshift

// platformFeatures are the platforms. A setting with a platform has no levels of them.
var platformFeatures = []row{
	{
		id: FeatureBaremetal, name: "Platform baremetal",
		excludes: never(FeatureUserManagedNetworking),
		used:     func(d definition) bool { return d.cluster.Platform.Type == "baremetal" },
	},
	{
		id: FeatureNonePlatform, name: "Platform none",
		excludes: []exclusion{
			{features: []FeatureID{FeatureVIPAutoAlloc, FeatureClusterManagedNetworking, FeatureUserManagedLoadBalancer}},
			{before: "4.22", features: []FeatureID{FeatureTNA}},
		},
		used: func(d definition) bool { return d.cluster.Platform.Type == "none" },
	},
	{
		id: FeatureNutanix, name: "Platform nutanix",
		limits: []limit{notOn(s390x, ppc64le, arm64), since("4.11"), only(LevelDevPreview, "4.11", "4.12")},
		excludes: never(
			FeatureSNO, FeatureTNA, FeatureTNF, FeatureUserManagedNetworking, FeatureLVM, FeatureMCE, FeatureCNV, FeatureMTV,
			FeatureNonStandardControlPlane, FeatureUserManagedLoadBalancer, FeatureOSC, FeatureNMState, FeatureDualStackPrimaryIPv6,
		),
		used: func(d definition) bool { return d.cluster.Platform.Type == nutanix },
	},
	{
		id: FeatureVSphere, name: "Platform vsphere",
		limits: []limit{notOn(s390x, ppc64le)},
		excludes: []exclusion{
			{features: []FeatureID{
				FeatureSNO, FeatureTNA, FeatureTNF, FeatureLVM, FeatureCNV, FeatureMTV, FeatureNonStandardControlPlane,
				FeatureOSC, FeatureDualStackPrimaryIPv6,
			}},
			{before: "4.13", features: []FeatureID{FeatureDualStack}},
		},
		used: func(d definition) bool { return d.cluster.Platform.Type == vsphere },
	},
	{
		id: FeatureExternal, name: "External platform",
		limits: []limit{since("4.14")},
		excludes: never(
			FeatureTNA, FeatureTNF, FeatureClusterManagedNetworking, FeatureVIPAutoAlloc, FeatureUserManagedLoadBalancer,
			FeatureNMState, FeatureDualStackPrimaryIPv6,
		),
		used: func(d definition) bool { return d.cluster.Platform.Type == external },
	},
	{
		id: FeatureExternalOCI, name: "Oracle Cloud Infrastructure",
		limits: []limit{notOn(s390x, ppc64le), since("4.14")},
		excludes: never(
			FeatureTNA, FeatureTNF, FeatureClusterManagedNetworking, FeatureVIPAutoAlloc, FeatureDualStackVIPs, FeatureFullISO,
			FeatureUserManagedLoadBalancer, FeatureNMState, FeatureODF, FeatureOpenShiftAI, FeatureDualStackPrimaryIPv6,
		),
		used: func(d definition) bool {
			return d.cluster.Platform.Type == external && d.cluster.Platform.ExternalName == oci
		},
	},
}
