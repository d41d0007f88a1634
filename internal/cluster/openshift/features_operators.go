package openshift

import (
	"slices"

	"slipway/internal/model"
)

// operatorFeatures are the operators. What they require of hosts is not said here.
var operatorFeatures = []row{
	operator(FeatureLVM, "lvm", "Logical volume manager storage", row{
		limits: []limit{notOn(s390x, ppc64le), since("4.11"), notFor(vsphere, nutanix), only(LevelDevPreview, "4.11", "4.12")},
		excludes: []exclusion{
			{features: []FeatureID{FeatureNutanix, FeatureVSphere, FeatureODF}},
			{before: "4.15", features: []FeatureID{FeatureVIPAutoAlloc, FeatureClusterManagedNetworking}},
		},
	}),
	operator(FeatureODF, "odf", "OpenShift Data Foundation", row{
		limits:   []limit{notOn(arm64), notFor(oci)},
		excludes: never(FeatureSNO, FeatureLVM, FeatureExternalOCI), needs: []FeatureID{FeatureLSO},
	}),
	operator(FeatureLSO, "lso", "Local storage", row{limits: []limit{notOn(arm64)}}),
	operator(FeatureCNV, "cnv", "OpenShift Virtualization", row{
		limits: []limit{
			notOn(s390x, ppc64le),
			{architectures: []string{arm64}, before: "4.14", level: LevelUnavailable, reason: ReasonArchitecture},
			notFor(nutanix, vsphere),
			{architectures: []string{arm64}, from: "4.14", level: LevelDevPreview},
		},
		excludes: never(FeatureNutanix, FeatureVSphere),
	}),
	operator(FeatureMCE, "mce", "Multicluster engine", row{
		limits: []limit{since("4.10"), notFor(nutanix)}, excludes: never(FeatureNutanix),
	}),
	operator(FeatureMTV, "mtv", "Migration toolkit for virtualization", row{
		limits:   []limit{notOn(arm64, s390x, ppc64le), notFor(vsphere, nutanix), since("4.14")},
		excludes: never(FeatureNutanix, FeatureVSphere), needs: []FeatureID{FeatureCNV},
	}),
	operator(FeatureOSC, "osc", "Sandboxed containers", row{
		limits:   []limit{notOn(arm64, s390x, ppc64le), notFor(vsphere, nutanix), since("4.10")},
		excludes: never(FeatureNutanix, FeatureVSphere), needs: []FeatureID{FeatureNodeFeatureDiscovery},
	}),
	operator(FeatureNodeFeatureDiscovery, "node-feature-discovery", "Node feature discovery", row{
		level: LevelDevPreview, limits: []limit{notOn(ppc64le, s390x), since("4.6")},
	}),
	operator(FeatureNvidiaGPU, "nvidia-gpu", "NVIDIA GPU", row{
		level: LevelDevPreview, limits: []limit{notOn(arm64, ppc64le, s390x)}, needs: []FeatureID{FeatureNodeFeatureDiscovery},
	}),
	operator(FeatureAMDGPU, "amd-gpu", "AMD GPU", row{
		level: LevelDevPreview, limits: []limit{notOn(arm64, ppc64le, s390x)},
		needs: []FeatureID{FeatureNodeFeatureDiscovery, FeatureKMM},
	}),
	operator(FeatureKMM, "kmm", "Kernel module management", row{level: LevelDevPreview}),
	operator(FeaturePipelines, "pipelines", "Pipelines", row{level: LevelDevPreview}),
	operator(FeatureServiceMesh, "servicemesh", "Service mesh", row{level: LevelDevPreview}),
	operator(FeatureServerless, "serverless", "Serverless", row{level: LevelDevPreview}),
	operator(FeatureAuthorino, "authorino", "Authorino", row{level: LevelDevPreview, limits: []limit{notOn(arm64)}}),
	operator(FeatureOpenShiftAI, "openshift-ai", "OpenShift AI", row{
		level: LevelDevPreview, limits: []limit{notOn(arm64, ppc64le, s390x), since("4.12"), notFor(oci)},
		excludes: never(FeatureExternalOCI), needs: []FeatureID{FeatureLVM},
	}),
	operator(FeatureNMState, "nmstate", "NMState", row{
		limits:   []limit{notOn(arm64, s390x, ppc64le), notFor(nutanix, external), since("4.12")},
		excludes: never(FeatureNutanix, FeatureExternal, FeatureExternalOCI),
	}),
	operator(FeatureNodeHealthcheck, "node-healthcheck", "Node health check", row{excludes: never(FeatureSNO)}),
	operator(FeatureSelfNodeRemediation, "self-node-remediation", "Self node remediation", row{
		level: LevelTechPreview, excludes: never(FeatureSNO), needs: []FeatureID{FeatureNodeHealthcheck},
	}),
	operator(FeatureFenceAgentsRemediation, "fence-agents-remediation", "Fence agents remediation", row{
		excludes: never(FeatureSNO), needs: []FeatureID{FeatureNodeHealthcheck},
	}),
	operator(FeatureNodeMaintenance, "node-maintenance", "Node maintenance", row{excludes: never(FeatureSNO)}),
	operator(FeatureKubeDescheduler, "kube-descheduler", "Kube descheduler", row{excludes: never(FeatureSNO)}),
	operator(
		FeatureClusterObservability,
		"cluster-observability",
		"Cluster observability",
		row{needs: []FeatureID{FeatureOpenShiftLogging}},
	),
	operator(FeatureNUMAResources, "numaresources", "NUMA resources", row{}),
	operator(FeatureOADP, "oadp", "API for data protection", row{}),
	operator(FeatureMetalLB, "metallb", "MetalLB", row{}),
	operator(FeatureLoki, "loki", "Loki", row{limits: []limit{since("4.17")}}),
	operator(FeatureOpenShiftLogging, "openshift-logging", "OpenShift Logging", row{
		limits: []limit{since("4.17")}, needs: []FeatureID{FeatureLoki},
	}),
}

// operator completes the row of an operator: a cluster uses it when it is chosen.
func operator(id FeatureID, operator, name string, r row) row {
	r.id, r.operator, r.name = id, operator, name
	r.used = func(d definition) bool {
		return slices.ContainsFunc(d.cluster.OLMOperators, func(o model.OLMOperator) bool { return o.Name == operator })
	}
	return r
}
