package features

import (
	"slices"

	"slipway/internal/model"
)

// clusterFeatures are the kinds of control planes, and the discovery images.
var clusterFeatures = []Row{
	{
		ID: SNO, Name: "Single node",
		Limits: []Limit{
			{Architectures: []string{model.S390X, model.PPC64LE}, Before: "4.13", Level: LevelUnavailable, Reason: ReasonArchitecture},
			NotFor(Nutanix, VSphere),
			{Architectures: []string{model.S390X, model.PPC64LE}, From: "4.13", Before: "4.14", Level: LevelDevPreview},
		},
		Excludes: []Exclusion{
			{Features: []ID{
				ODF, Nutanix, VSphere, ClusterManagedNetworking, VIPAutoAlloc,
				UserManagedLoadBalancer, NodeHealthcheck, SelfNodeRemediation,
				FenceAgentsRemediation, NodeMaintenance, KubeDescheduler,
			}},
			{Before: "4.19", Features: []ID{DualStackPrimaryIPv6}},
		},
		used: func(d definition) bool { return d.cluster.SingleNode() },
	},
	{
		ID: TNA, Name: "Two nodes with an arbiter",
		Limits: []Limit{
			NotFor(Nutanix, VSphere, External),
			{Before: "4.22", Platforms: []ID{NonePlatform}, Level: LevelUnavailable, Reason: ReasonPlatform},
			Since("4.19"), Only(LevelTechPreview, "4.19", "4.20"),
		},
		Excludes: []Exclusion{
			{Features: []ID{Nutanix, VSphere, External, ExternalOCI}},
			{Before: "4.22", Features: []ID{NonePlatform}},
		},
		used: func(d definition) bool {
			return d.cluster.ControlPlaneCount == 2 && slices.ContainsFunc(d.hosts, isArbiter)
		},
	},
	{
		ID: TNF, Name: "Two nodes with fencing",
		Limits: []Limit{
			NotFor(Nutanix, VSphere, External), Since("4.20"), Only(LevelTechPreview, "4.20", "4.22"),
		},
		Excludes: Never(Nutanix, VSphere, External, ExternalOCI),
		used: func(d definition) bool {
			return d.cluster.ControlPlaneCount == 2 && !slices.ContainsFunc(d.hosts, isArbiter) &&
				slices.ContainsFunc(d.hosts, func(h *model.Host) bool { return h.Fencing != nil })
		},
	},
	{
		ID: NonStandardControlPlane, Name: "Control plane of four or five nodes",
		Limits:   []Limit{NotOn(model.ARM64, model.S390X, model.PPC64LE, model.Multi), Since("4.18"), NotFor(Nutanix, VSphere)},
		Excludes: Never(Nutanix, VSphere),
		used:     func(d definition) bool { return d.cluster.ControlPlaneCount > 3 },
	},
	{
		ID: SingleNodeExpansion, Name: "Workers added to a single node",
		Limits: []Limit{
			Since("4.11"),
			{Architectures: []string{model.S390X, model.PPC64LE}, Before: "4.13", Level: LevelUnavailable, Reason: ReasonArchitecture},
			NotFor(Nutanix, VSphere),
			{Architectures: []string{model.S390X, model.PPC64LE}, From: "4.13", Before: "4.14", Level: LevelDevPreview},
		},
		used: func(d definition) bool {
			return d.cluster.SingleNode() && slices.ContainsFunc(d.hosts, (*model.Host).DayTwo)
		},
	},
	{ID: CustomManifest, Name: "Custom manifests"}, // a file beside the definition; see Usage
	{
		ID: MinimalISO, Name: "Minimal image",
		Limits: []Limit{NotOn(model.S390X)},
		used:   func(d definition) bool { return d.env.ImageType == "minimal-iso" },
	},
	{
		ID: FullISO, Name: "Full image",
		Limits:   []Limit{{Platforms: []ID{ExternalOCI}, Level: LevelUnavailable, Reason: ReasonOCI}},
		Excludes: Never(ExternalOCI),
		used:     func(d definition) bool { return d.env.ImageType == "full-iso" },
	},
}

func isArbiter(h *model.Host) bool { return h.Role == model.RoleArbiter }
