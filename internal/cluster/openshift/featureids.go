package openshift

// FeatureID names a feature whose support depends on version, architecture and platform
// (feature-support-level-id of the API document).
type FeatureID string

// The features of clusters and discovery images.
const (
	FeatureSNO                       FeatureID = "SNO"
	FeatureTNA                       FeatureID = "TNA"
	FeatureTNF                       FeatureID = "TNF"
	FeatureVIPAutoAlloc              FeatureID = "VIP_AUTO_ALLOC"
	FeatureCustomManifest            FeatureID = "CUSTOM_MANIFEST"
	FeatureSingleNodeExpansion       FeatureID = "SINGLE_NODE_EXPANSION"
	FeatureNutanix                   FeatureID = "NUTANIX_INTEGRATION"
	FeatureBaremetal                 FeatureID = "BAREMETAL_PLATFORM"
	FeatureNonePlatform              FeatureID = "NONE_PLATFORM"
	FeatureVSphere                   FeatureID = "VSPHERE_INTEGRATION"
	FeatureDualStackVIPs             FeatureID = "DUAL_STACK_VIPS"
	FeatureClusterManagedNetworking  FeatureID = "CLUSTER_MANAGED_NETWORKING"
	FeatureUserManagedNetworking     FeatureID = "USER_MANAGED_NETWORKING"
	FeatureMinimalISO                FeatureID = "MINIMAL_ISO"
	FeatureFullISO                   FeatureID = "FULL_ISO"
	FeatureExternalOCI               FeatureID = "EXTERNAL_PLATFORM_OCI"
	FeatureDualStack                 FeatureID = "DUAL_STACK"
	FeaturePlatformManagedNetworking FeatureID = "PLATFORM_MANAGED_NETWORKING"
	FeatureExternal                  FeatureID = "EXTERNAL_PLATFORM"
	FeatureOVN                       FeatureID = "OVN_NETWORK_TYPE"
	FeatureSDN                       FeatureID = "SDN_NETWORK_TYPE"
	FeatureCilium                    FeatureID = "CILIUM_NETWORK_TYPE"
	FeatureCalico                    FeatureID = "CALICO_NETWORK_TYPE"
	FeatureCiscoACI                  FeatureID = "CISCO_ACI_NETWORK_TYPE"
	FeatureNoneNetwork               FeatureID = "NONE_NETWORK_TYPE"
	FeatureNonStandardControlPlane   FeatureID = "NON_STANDARD_HA_CONTROL_PLANE"
	FeatureUserManagedLoadBalancer   FeatureID = "USER_MANAGED_LOAD_BALANCER"
	FeatureDualStackPrimaryIPv6      FeatureID = "DUAL_STACK_PRIMARY_IPV6"
)

// The features that are operators.
const (
	FeatureLVM                    FeatureID = "LVM"
	FeatureODF                    FeatureID = "ODF"
	FeatureLSO                    FeatureID = "LSO"
	FeatureCNV                    FeatureID = "CNV"
	FeatureMCE                    FeatureID = "MCE"
	FeatureMTV                    FeatureID = "MTV"
	FeatureOSC                    FeatureID = "OSC"
	FeatureNodeFeatureDiscovery   FeatureID = "NODE_FEATURE_DISCOVERY"
	FeatureNvidiaGPU              FeatureID = "NVIDIA_GPU"
	FeaturePipelines              FeatureID = "PIPELINES"
	FeatureServiceMesh            FeatureID = "SERVICEMESH"
	FeatureServerless             FeatureID = "SERVERLESS"
	FeatureOpenShiftAI            FeatureID = "OPENSHIFT_AI"
	FeatureAuthorino              FeatureID = "AUTHORINO"
	FeatureNMState                FeatureID = "NMSTATE"
	FeatureAMDGPU                 FeatureID = "AMD_GPU"
	FeatureKMM                    FeatureID = "KMM"
	FeatureNodeHealthcheck        FeatureID = "NODE_HEALTHCHECK"
	FeatureSelfNodeRemediation    FeatureID = "SELF_NODE_REMEDIATION"
	FeatureFenceAgentsRemediation FeatureID = "FENCE_AGENTS_REMEDIATION"
	FeatureNodeMaintenance        FeatureID = "NODE_MAINTENANCE"
	FeatureKubeDescheduler        FeatureID = "KUBE_DESCHEDULER"
	FeatureClusterObservability   FeatureID = "CLUSTER_OBSERVABILITY"
	FeatureNUMAResources          FeatureID = "NUMA_RESOURCES"
	FeatureOADP                   FeatureID = "OADP"
	FeatureMetalLB                FeatureID = "METALLB"
	FeatureLoki                   FeatureID = "LOKI"
	FeatureOpenShiftLogging       FeatureID = "OPENSHIFT_LOGGING"
)

// ArchitectureID names an architecture of a release (architecture-support-level-id).
type ArchitectureID string

// The architectures.
const (
	ArchitectureX8664   ArchitectureID = "X86_64_ARCHITECTURE"
	ArchitectureARM64   ArchitectureID = "ARM64_ARCHITECTURE"
	ArchitecturePPC64LE ArchitectureID = "PPC64LE_ARCHITECTURE"
	ArchitectureS390X   ArchitectureID = "S390X_ARCHITECTURE"
	ArchitectureMulti   ArchitectureID = "MULTIARCH_RELEASE_IMAGE"
)

// Level is how well something is supported.
type Level string

// The levels, best first.
const (
	LevelSupported   Level = "supported"
	LevelTechPreview Level = "tech-preview"
	LevelDevPreview  Level = "dev-preview"
	LevelUnsupported Level = "unsupported"
	LevelUnavailable Level = "unavailable"
)

// usable reports whether a cluster may use a feature of this level.
func (l Level) usable() bool { return l != LevelUnavailable && l != LevelUnsupported }

// Reason is why something is not supported (incompatibility-reason).
type Reason string

// The reasons.
const (
	ReasonArchitecture Reason = "cpuArchitecture"
	ReasonPlatform     Reason = "platform"
	ReasonVersion      Reason = "openshiftVersion"
	ReasonOCI          Reason = "ociExternalIntegrationDisabled"
)
