package hiveext

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/api/kube/agentinstall"
)

// Conditions of an AgentClusterInstall and their reasons. Hive reads Completed, Failed, Stopped and RequirementsMet.
const (
	SpecSynced                        ConditionType = "SpecSynced"
	Validated                         ConditionType = "Validated"
	RequirementsMet                   ConditionType = "RequirementsMet"
	Completed                         ConditionType = "Completed"
	Failed                            ConditionType = "Failed"
	Stopped                           ConditionType = "Stopped"
	LastInstallationPreparationFailed ConditionType = "LastInstallationPreparationFailed"

	ReasonSyncOK       = "SyncOK"
	ReasonBackendError = "BackendError"
	ReasonInputError   = "InputError"
	ReasonNotAvailable = "NotAvailable"

	ReasonClusterIsReady             = "ClusterIsReady"
	ReasonClusterNotReady            = "ClusterNotReady"
	ReasonClusterAlreadyInstalling   = "ClusterAlreadyInstalling"
	ReasonClusterInstallationStopped = "ClusterInstallationStopped"
	ReasonInsufficientAgents         = "InsufficientAgents"
	ReasonUnapprovedAgents           = "UnapprovedAgents"
	ReasonUnsyncedAgents             = "UnsyncedAgents"
	ReasonAdditionalAgents           = "AdditionalAgents"

	ReasonValidationsPassing     = "ValidationsPassing"
	ReasonValidationsUnknown     = "ValidationsUnknown"
	ReasonValidationsFailing     = "ValidationsFailing"
	ReasonValidationsUserPending = "ValidationsUserPending"

	ReasonInstallationCompleted  = "InstallationCompleted"
	ReasonInstallationFailed     = "InstallationFailed"
	ReasonInstallationNotFailed  = "InstallationNotFailed"
	ReasonInstallationNotStarted = "InstallationNotStarted"
	ReasonInstallationOnHold     = "InstallationOnHold"
	ReasonInstallationInProgress = "InstallationInProgress"
	ReasonInstallationCancelled  = "InstallationCancelled"
	ReasonInstallationNotStopped = "InstallationNotStopped"
	ReasonUnknownStatus          = "UnknownStatus"
)

// AgentClusterInstallFinalizer keeps an AgentClusterInstall until the service has forgotten its cluster.
const AgentClusterInstallFinalizer = "agentclusterinstall.agent-install.openshift.io/ai-deprovision"

// ConditionType names a condition.
type ConditionType string

// AgentClusterInstall is how a ClusterDeployment is installed on hosts.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=agentclusterinstalls,shortName=aci
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterDeploymentRef.name`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.debugInfo.state`
type AgentClusterInstall struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec describes the cluster.
	Spec AgentClusterInstallSpec `json:"spec"`
	// Status is how far the installation is.
	Status AgentClusterInstallStatus `json:"status,omitempty"`
}

// AgentClusterInstallList is a list of AgentClusterInstalls.
//
// +kubebuilder:object:root=true
type AgentClusterInstallList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AgentClusterInstall `json:"items"`
}

// AgentClusterInstallSpec describes a cluster. The webhook refuses most changes once the installation has begun.
//
// +kubebuilder:validation:XValidation:rule="has(self.imageSetRef) == has(oldSelf.imageSetRef) && (!has(self.imageSetRef) || self.imageSetRef == oldSelf.imageSetRef)",message="imageSetRef: require no change after the creation"
type AgentClusterInstallSpec struct {
	// ImageSetRef names the ClusterImageSet with the release image.
	// +optional
	ImageSetRef *ClusterImageSetReference `json:"imageSetRef,omitempty"`

	// ClusterDeploymentRef names the ClusterDeployment of this namespace.
	ClusterDeploymentRef corev1.LocalObjectReference `json:"clusterDeploymentRef"`

	// ClusterMetadata describes the installed cluster. Controllers write it; given by a user with the kubeconfig it imports a
	// cluster that is installed.
	// +optional
	ClusterMetadata *ClusterMetadata `json:"clusterMetadata,omitempty"`

	// ManifestsConfigMapRef names a ConfigMap with manifests; manifestsConfigMapRefs replaces it.
	// +optional
	ManifestsConfigMapRef *corev1.LocalObjectReference `json:"manifestsConfigMapRef,omitempty"`

	// ManifestsConfigMapRefs name ConfigMaps with manifests: each key is a file of the folder openshift.
	// +optional
	ManifestsConfigMapRefs []ManifestsConfigMapReference `json:"manifestsConfigMapRefs,omitempty"`

	// Networking of the cluster.
	Networking Networking `json:"networking"`

	// SSHPublicKey lets its owner log in to the hosts, as user core.
	// +optional
	SSHPublicKey string `json:"sshPublicKey,omitempty"`

	// ProvisionRequirements are how many hosts the installation waits for.
	ProvisionRequirements ProvisionRequirements `json:"provisionRequirements"`

	// ControlPlane is how control plane machines are configured.
	// +optional
	ControlPlane *AgentMachinePool `json:"controlPlane,omitempty"`

	// Arbiter is how arbiter machines are configured.
	// +optional
	Arbiter *AgentMachinePool `json:"arbiter,omitempty"`

	// Compute is how workers are configured.
	// +optional
	Compute []AgentMachinePool `json:"compute,omitempty"`

	// APIVIP is the virtual address of the API; apiVIPs replaces it.
	// +optional
	APIVIP string `json:"apiVIP,omitempty"`

	// APIVIPs are the virtual addresses of the API: one for each address family.
	// +kubebuilder:validation:MaxItems=2
	// +optional
	APIVIPs []string `json:"apiVIPs,omitempty"`

	// IngressVIP is the virtual address of routes; ingressVIPs replaces it.
	// +optional
	IngressVIP string `json:"ingressVIP,omitempty"`

	// IngressVIPs are the virtual addresses of routes: one for each address family.
	// +kubebuilder:validation:MaxItems=2
	// +optional
	IngressVIPs []string `json:"ingressVIPs,omitempty"`

	// HoldInstallation prevents that the installation begins by itself.
	// +optional
	HoldInstallation bool `json:"holdInstallation,omitempty"`

	// IgnitionEndpoint is where the hosts get their configuration from, where that is not the cluster itself.
	// +optional
	IgnitionEndpoint *IgnitionEndpoint `json:"ignitionEndpoint,omitempty"`

	// DiskEncryption of the installation disks.
	// +optional
	DiskEncryption *DiskEncryption `json:"diskEncryption,omitempty"`

	// Proxy of the cluster.
	// +optional
	Proxy *agentinstall.Proxy `json:"proxy,omitempty"`

	// NTPSources are names or addresses of the only NTP servers that hosts use.
	// +optional
	NTPSources []string `json:"ntpSources,omitempty"`

	// PlatformType of the installed cluster.
	// +optional
	PlatformType PlatformType `json:"platformType,omitempty"`

	// ExternalPlatformSpec is about the platform External.
	// +optional
	ExternalPlatformSpec *ExternalPlatformSpec `json:"external,omitempty"`

	// MastersSchedulable lets control plane machines run workloads.
	// +optional
	MastersSchedulable bool `json:"mastersSchedulable,omitempty"`

	// MirrorRegistryRef names a ConfigMap with registries.conf and ca-bundle.crt: where images come from instead.
	// +optional
	MirrorRegistryRef *agentinstall.ObjectReference `json:"mirrorRegistryRef,omitempty"`

	// LoadBalancer says who balances the load of API and routes.
	// +optional
	LoadBalancer *LoadBalancer `json:"loadBalancer,omitempty"`
}

// ClusterImageSetReference names a ClusterImageSet.
type ClusterImageSetReference struct {
	// Name of the ClusterImageSet.
	Name string `json:"name"`
}

// ManifestsConfigMapReference names a ConfigMap of this namespace.
type ManifestsConfigMapReference struct {
	// Name of the ConfigMap.
	Name string `json:"name"`
}

// LoadBalancer says who balances the load.
type LoadBalancer struct {
	// Type is ClusterManaged or UserManaged.
	// +kubebuilder:default=ClusterManaged
	// +kubebuilder:validation:Enum=ClusterManaged;UserManaged
	// +optional
	Type string `json:"type,omitempty"`
}

// ExternalPlatformSpec is about the platform External.
type ExternalPlatformSpec struct {
	// PlatformName is the infrastructure provider's.
	// +kubebuilder:default=Unknown
	// +kubebuilder:validation:XValidation:rule="oldSelf == 'Unknown' || self == oldSelf",message="platform name cannot be changed once set"
	// +optional
	PlatformName string `json:"platformName,omitempty"`
	// CloudControllerManager is External when such a manager is installed on the cluster.
	// +kubebuilder:default=""
	// +kubebuilder:validation:Enum="";External
	// +optional
	CloudControllerManager PlatformType `json:"cloudControllerManager,omitempty"`
}

// PlatformType is a platform.
//
// +kubebuilder:validation:Enum="";BareMetal;None;VSphere;Nutanix;External
type PlatformType string

// IgnitionEndpoint is where hosts get their configuration from.
type IgnitionEndpoint struct {
	// Url without the pool at its end.
	// +optional
	Url string `json:"url,omitempty"`
	// CaCertificateReference names the Secret with the certificate authority, under tls.crt.
	// +optional
	CaCertificateReference *agentinstall.ObjectReference `json:"caCertificateReference,omitempty"`
}

// DiskEncryption of the installation disks.
type DiskEncryption struct {
	// EnableOn names the roles whose disks are encrypted.
	// +kubebuilder:default=none
	// +kubebuilder:validation:Enum=none;all;masters;arbiters;workers;"masters,arbiters";"masters,workers";"arbiters,workers";"masters,arbiters,workers"
	// +optional
	EnableOn *string `json:"enableOn,omitempty"`
	// Mode is tpmv2 or tang.
	// +kubebuilder:validation:Enum=tpmv2;tang
	// +optional
	Mode *string `json:"mode,omitempty"`
	// TangServers is a JSON list of {"url", "thumbprint"}.
	// +optional
	TangServers string `json:"tangServers,omitempty"`
}

// Networking of a cluster.
type Networking struct {
	// MachineNetwork are the networks of the hosts.
	// +optional
	MachineNetwork []MachineNetworkEntry `json:"machineNetwork,omitempty"`
	// ClusterNetwork are the networks of pods.
	// +optional
	ClusterNetwork []ClusterNetworkEntry `json:"clusterNetwork,omitempty"`
	// ServiceNetwork are the networks of services.
	// +optional
	ServiceNetwork []string `json:"serviceNetwork,omitempty"`
	// UserManagedNetworking says that somebody else cares for load balancers and DNS.
	// +optional
	UserManagedNetworking *bool `json:"userManagedNetworking,omitempty"`
	// NetworkType is the network plugin.
	// +kubebuilder:validation:Enum=OpenShiftSDN;OVNKubernetes;CiscoACI;Cilium;Calico;None
	// +optional
	NetworkType string `json:"networkType,omitempty"`
}

// MachineNetworkEntry is a network of hosts.
type MachineNetworkEntry struct {
	// CIDR such as 192.168.126.0/24.
	CIDR string `json:"cidr"`
}

// ClusterNetworkEntry is a network of pods.
type ClusterNetworkEntry struct {
	// CIDR such as 10.128.0.0/14.
	CIDR string `json:"cidr"`
	// HostPrefix is the prefix length of what each node gets.
	// +optional
	HostPrefix int32 `json:"hostPrefix,omitempty"`
}

// ProvisionRequirements are how many hosts an installation waits for.
type ProvisionRequirements struct {
	// ControlPlaneAgents is how many control plane hosts: 1 for a single node.
	ControlPlaneAgents int `json:"controlPlaneAgents"`
	// ArbiterAgents is how many arbiters.
	// +kubebuilder:validation:Minimum=0
	// +optional
	ArbiterAgents int `json:"arbiterAgents,omitempty"`
	// WorkerAgents is how many workers at least.
	// +kubebuilder:validation:Minimum=0
	// +optional
	WorkerAgents int `json:"workerAgents,omitempty"`
}

// HyperthreadingMode of a pool of machines.
//
// +kubebuilder:validation:Enum="";Enabled;Disabled
type HyperthreadingMode string

// Modes of hyperthreading.
const (
	HyperthreadingEnabled  HyperthreadingMode = "Enabled"
	HyperthreadingDisabled HyperthreadingMode = "Disabled"
)

// AgentMachinePool is how the machines of a pool are configured.
type AgentMachinePool struct {
	// Hyperthreading is Enabled or Disabled.
	// +kubebuilder:default=Enabled
	// +optional
	Hyperthreading HyperthreadingMode `json:"hyperthreading,omitempty"`
	// Name of the pool: master, arbiter or worker.
	Name string `json:"name"`
}
