package features

// ID names a feature whose support depends on version, architecture and platform
// (feature-support-level-id of the API document).
type ID string

// The features of clusters and discovery images.
const (
	SNO                       ID = "SNO"
	TNA                       ID = "TNA"
	TNF                       ID = "TNF"
	VIPAutoAlloc              ID = "VIP_AUTO_ALLOC"
	CustomManifest            ID = "CUSTOM_MANIFEST"
	SingleNodeExpansion       ID = "SINGLE_NODE_EXPANSION"
	Nutanix                   ID = "NUTANIX_INTEGRATION"
	Baremetal                 ID = "BAREMETAL_PLATFORM"
	NonePlatform              ID = "NONE_PLATFORM"
	VSphere                   ID = "VSPHERE_INTEGRATION"
	DualStackVIPs             ID = "DUAL_STACK_VIPS"
	ClusterManagedNetworking  ID = "CLUSTER_MANAGED_NETWORKING"
	UserManagedNetworking     ID = "USER_MANAGED_NETWORKING"
	MinimalISO                ID = "MINIMAL_ISO"
	FullISO                   ID = "FULL_ISO"
	ExternalOCI               ID = "EXTERNAL_PLATFORM_OCI"
	DualStack                 ID = "DUAL_STACK"
	PlatformManagedNetworking ID = "PLATFORM_MANAGED_NETWORKING"
	External                  ID = "EXTERNAL_PLATFORM"
	OVN                       ID = "OVN_NETWORK_TYPE"
	SDN                       ID = "SDN_NETWORK_TYPE"
	Cilium                    ID = "CILIUM_NETWORK_TYPE"
	Calico                    ID = "CALICO_NETWORK_TYPE"
	CiscoACI                  ID = "CISCO_ACI_NETWORK_TYPE"
	NoneNetwork               ID = "NONE_NETWORK_TYPE"
	NonStandardControlPlane   ID = "NON_STANDARD_HA_CONTROL_PLANE"
	UserManagedLoadBalancer   ID = "USER_MANAGED_LOAD_BALANCER"
	DualStackPrimaryIPv6      ID = "DUAL_STACK_PRIMARY_IPV6"
)

// The operators that other features exclude. The other ids stand in the catalogue of operators.
const (
	LVM                    ID = "LVM"
	ODF                    ID = "ODF"
	LSO                    ID = "LSO"
	CNV                    ID = "CNV"
	MCE                    ID = "MCE"
	MTV                    ID = "MTV"
	OSC                    ID = "OSC"
	OpenShiftAI            ID = "OPENSHIFT_AI"
	NMState                ID = "NMSTATE"
	NodeHealthcheck        ID = "NODE_HEALTHCHECK"
	SelfNodeRemediation    ID = "SELF_NODE_REMEDIATION"
	FenceAgentsRemediation ID = "FENCE_AGENTS_REMEDIATION"
	NodeMaintenance        ID = "NODE_MAINTENANCE"
	KubeDescheduler        ID = "KUBE_DESCHEDULER"
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
