package openshift

import (
	"slices"

	"slipway/internal/model"
)

// clusterFeatures are the kinds of control planes, and the discovery images.
var clusterFeatures = []row{
	{
		id: FeatureSNO, name: "Single node",
		limits: []limit{
			{architectures: []string{s390x, ppc64le}, before: "4.13", level: LevelUnavailable, reason: ReasonArchitecture},
			notFor(nutanix, vsphere),
			{architectures: []string{s390x, ppc64le}, from: "4.13", before: "4.14", level: LevelDevPreview},
		},
		excludes: []exclusion{
			{features: []FeatureID{
				FeatureODF, FeatureNutanix, FeatureVSphere, FeatureClusterManagedNetworking, FeatureVIPAutoAlloc,
				FeatureUserManagedLoadBalancer, FeatureNodeHealthcheck, FeatureSelfNodeRemediation,
				FeatureFenceAgentsRemediation, FeatureNodeMaintenance, FeatureKubeDescheduler,
			}},
			{before: "4.19", features: []FeatureID{FeatureDualStackPrimaryIPv6}},
		},
		used: func(d definition) bool { return d.cluster.SingleNode() },
	},
	{
		id: FeatureTNA, name: "Two nodes with an arbiter",
		limits: []limit{
			notFor(nutanix, vsphere, external),
			{before: "4.22", platforms: []string{none}, level: LevelUnavailable, reason: ReasonPlatform},
			since("4.19"), only(LevelTechPreview, "4.19", "4.20"),
		},
		excludes: []exclusion{
			{features: []FeatureID{FeatureNutanix, FeatureVSphere, FeatureExternal, FeatureExternalOCI}},
			{before: "4.22", features: []FeatureID{FeatureNonePlatform}},
		},
		used: func(d definition) bool {
			return d.cluster.ControlPlaneCount == 2 && slices.ContainsFunc(d.hosts, isArbiter)
		},
	},
	{
		id: FeatureTNF, name: "Two nodes with fencing",
		limits: []limit{
			notFor(nutanix, vsphere, external), since("4.20"), only(LevelTechPreview, "4.20", "4.22"),
		},
		excludes: never(FeatureNutanix, FeatureVSphere, FeatureExternal, FeatureExternalOCI),
		used: func(d definition) bool {
			return d.cluster.ControlPlaneCount == 2 && !slices.ContainsFunc(d.hosts, isArbiter) &&
				slices.ContainsFunc(d.hosts, func(h *model.Host) bool { return h.Fencing != nil })
		},
	},
	{
		id: FeatureNonStandardControlPlane, name: "Control plane of four or five nodes",
		limits:   []limit{notOn(arm64, s390x, ppc64le, multi), since("4.18"), notFor(nutanix, vsphere)},
		excludes: never(FeatureNutanix, FeatureVSphere),
		used:     func(d definition) bool { return d.cluster.ControlPlaneCount > 3 },
	},
	{
		id: FeatureSingleNodeExpansion, name: "Workers added to a single node",
		limits: []limit{
			since("4.11"),
			{architectures: []string{s390x, ppc64le}, before: "4.13", level: LevelUnavailable, reason: ReasonArchitecture},
			notFor(nutanix, vsphere),
			{architectures: []string{s390x, ppc64le}, from: "4.13", before: "4.14", level: LevelDevPreview},
		},
		used: func(d definition) bool {
			return d.cluster.SingleNode() && slices.ContainsFunc(d.hosts, (*model.Host).DayTwo)
		},
	},
	{id: FeatureCustomManifest, name: "Custom manifests"}, // a file beside the definition; see Usage
	{
		id: FeatureMinimalISO, name: "Minimal image",
		limits: []limit{notOn(s390x)},
		used:   func(d definition) bool { return d.env.ImageType == "minimal-iso" },
	},
	{
		id: FeatureFullISO, name: "Full image",
		limits:   []limit{{platforms: []string{oci}, level: LevelUnavailable, reason: ReasonOCI}},
		excludes: never(FeatureExternalOCI),
		used:     func(d definition) bool { return d.env.ImageType == "full-iso" },
	},
}

func isArbiter(h *model.Host) bool { return h.Role == model.RoleArbiter }
