package agentinstall

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conditions of an InfraEnv.
const (
	ImageCreated ConditionType = "ImageCreated"

	ReasonImageCreated             = "ImageCreated"
	ReasonImageCreationError       = "ImageCreationError"
	ReasonMissingClusterDeployment = "MissingClusterDeployment"
	ReasonInfraEnvAvailable        = "InfraEnvAvailable"
)

// InfraEnvFinalizer keeps an InfraEnv until its hosts have left it and the service has forgotten it.
const InfraEnvFinalizer = "infraenv.agent-install.openshift.io/ai-deprovision"

// InfraEnvLabel is the label of Agents that names the InfraEnv they booted from.
const InfraEnvLabel = "infraenvs.agent-install.openshift.io"

// ClusterNamespaceLabel is the label of Agents with the namespace of the ClusterDeployment that they are bound to; empty: they are not.
const ClusterNamespaceLabel = "agent-install.openshift.io/clusterdeployment-namespace"

// InfraEnv is an environment that hosts boot in: from it comes the discovery image.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=infraenvs
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="ISO Created At",type=string,JSONPath=`.status.createdTime`
// +kubebuilder:printcolumn:name="ISO URL",type=string,priority=1,JSONPath=`.status.isoDownloadURL`
type InfraEnv struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec describes the discovery image.
	Spec InfraEnvSpec `json:"spec,omitempty"`
	// Status has the addresses of the image, or why there is none.
	Status InfraEnvStatus `json:"status,omitempty"`
}

// InfraEnvList is a list of InfraEnvs.
//
// +kubebuilder:object:root=true
type InfraEnvList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []InfraEnv `json:"items"`
}

// InfraEnvSpec describes a discovery image.
//
// +kubebuilder:validation:XValidation:rule="has(self.clusterRef) == has(oldSelf.clusterRef) && (!has(self.clusterRef) || self.clusterRef == oldSelf.clusterRef)",message="clusterRef: require no change after the creation"
// +kubebuilder:validation:XValidation:rule="has(self.cpuArchitecture) == has(oldSelf.cpuArchitecture) && (!has(self.cpuArchitecture) || self.cpuArchitecture == oldSelf.cpuArchitecture)",message="cpuArchitecture: require no change after the creation"
type InfraEnvSpec struct {
	// Proxy that hosts use from their discovery on.
	// +optional
	Proxy *Proxy `json:"proxy,omitempty"`

	// AdditionalNTPSources are names or addresses of NTP servers that hosts use besides those they get otherwise.
	// +optional
	AdditionalNTPSources []string `json:"additionalNTPSources,omitempty"`

	// NTPSources are names or addresses of the only NTP servers that hosts use: all others are dropped.
	// +optional
	NTPSources []string `json:"ntpSources,omitempty"`

	// SSHAuthorizedKey lets its owner log in to hosts during discovery, as user core.
	// +optional
	SSHAuthorizedKey string `json:"sshAuthorizedKey,omitempty"`

	// PullSecretRef names the Secret of this namespace that has the pull secret, under .dockerconfigjson.
	PullSecretRef *corev1.LocalObjectReference `json:"pullSecretRef"`

	// AgentLabels are put on every Agent of this InfraEnv.
	// +optional
	AgentLabels map[string]string `json:"agentLabels,omitempty"`

	// AgentApproval says which Agents are approved without a person.
	// +optional
	AgentApproval *AgentApproval `json:"agentApproval,omitempty"`

	// NMStateConfigLabelSelector selects the NMStateConfigs of this namespace that configure the networks of hosts.
	// +optional
	NMStateConfigLabelSelector metav1.LabelSelector `json:"nmStateConfigLabelSelector,omitempty"`

	// ClusterRef names the ClusterDeployment that the hosts belong to. Without one they are bound later.
	// +optional
	ClusterRef *ClusterReference `json:"clusterRef,omitempty"`

	// KernelArguments change the kernel's command line of the image.
	// +optional
	KernelArguments []KernelArgument `json:"kernelArguments,omitempty"`

	// IgnitionConfigOverride is a JSON Ignition config that is merged into the image's.
	// +optional
	IgnitionConfigOverride string `json:"ignitionConfigOverride,omitempty"`

	// CPUArchitecture of the hosts.
	// +kubebuilder:default=x86_64
	// +optional
	CpuArchitecture string `json:"cpuArchitecture,omitempty"`

	// IPXEScriptType decides what bootArtifacts.ipxeScript gives: a script that always boots the discovery image, or one that boots from
	// the disk once the host is installed.
	// +kubebuilder:default=DiscoveryImageAlways
	// +kubebuilder:validation:Enum="";DiscoveryImageAlways;BootOrderControl
	// +optional
	IPXEScriptType IPXEScriptType `json:"ipxeScriptType,omitempty"`

	// OSImageVersion is the version of the image, such as 4.20; the newest of the architecture if empty. It cannot be set together
	// with clusterRef.
	// +optional
	OSImageVersion string `json:"osImageVersion,omitempty"`

	// AdditionalTrustBundle has certificates in PEM that hosts trust.
	// +optional
	AdditionalTrustBundle string `json:"additionalTrustBundle,omitempty"`

	// ImageType is full-iso or minimal-iso; the service's default if empty.
	// +optional
	ImageType string `json:"imageType,omitempty"`

	// MirrorRegistryRef names a ConfigMap with registries.conf and ca-bundle.crt: where images come from instead.
	// +optional
	MirrorRegistryRef *ObjectReference `json:"mirrorRegistryRef,omitempty"`

	// NetworkDiscoveryDelaySeconds is how long the agent waits before it starts.
	// +kubebuilder:validation:Minimum=0
	// +optional
	NetworkDiscoveryDelaySeconds *int64 `json:"networkDiscoveryDelaySeconds,omitempty"`
}

// AgentApproval says which Agents are approved without a person.
type AgentApproval struct {
	// AutoApprove approves every host that registers.
	// +kubebuilder:default=false
	// +optional
	AutoApprove bool `json:"autoApprove,omitempty"`
}

// KernelArgument is one change of the kernel's command line.
type KernelArgument struct {
	// Operation is append, replace or delete.
	// +kubebuilder:validation:Enum=append;replace;delete
	// +optional
	Operation string `json:"operation,omitempty"`
	// Value is the argument, such as rd.net.timeout.carrier=60. Spaces stand between double quotes.
	// +kubebuilder:validation:Pattern=`^(?:(?:[^ \t\n\r"]+)|(?:"[^"]*"))+$`
	// +optional
	Value string `json:"value,omitempty"`
}

// IPXEScriptType is a kind of iPXE script.
type IPXEScriptType string

// Kinds of iPXE scripts.
const (
	DiscoveryImageAlways IPXEScriptType = "DiscoveryImageAlways"
	BootOrderControl     IPXEScriptType = "BootOrderControl"
)

// InfraEnvStatus has the addresses of an image, or why there is none.
type InfraEnvStatus struct {
	// ISODownloadURL is where the discovery image is downloaded.
	// +optional
	ISODownloadURL string `json:"isoDownloadURL,omitempty"`
	// CreatedTime is when the image was last made.
	// +optional
	CreatedTime *metav1.Time `json:"createdTime,omitempty"`
	// Conditions has ImageCreated.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// AgentLabelSelector selects the Agents that booted from this InfraEnv.
	// +optional
	AgentLabelSelector metav1.LabelSelector `json:"agentLabelSelector,omitempty"`
	// InfraEnvDebugInfo has URLs for those who look for a fault.
	// +optional
	InfraEnvDebugInfo InfraEnvDebugInfo `json:"debugInfo,omitempty"`
	// BootArtifacts are the files of a boot over the network.
	// +optional
	BootArtifacts BootArtifacts `json:"bootArtifacts,omitempty"`
}

// InfraEnvDebugInfo has URLs for those who look for a fault.
type InfraEnvDebugInfo struct {
	// EventsURL has the events of the InfraEnv and its hosts.
	// +optional
	EventsURL string `json:"eventsURL,omitempty"`
	// StaticNetworkDownloadURL has the network files that hosts get.
	// +optional
	StaticNetworkDownloadURL string `json:"staticNetworkDownloadURL,omitempty"`
}

// BootArtifacts are the URLs of the files of a boot over the network.
type BootArtifacts struct {
	// InitrdURL is the initial file system.
	// +optional
	InitrdURL string `json:"initrd,omitempty"`
	// RootfsURL is the root file system.
	// +optional
	RootfsURL string `json:"rootfs,omitempty"`
	// KernelURL is the kernel.
	// +optional
	KernelURL string `json:"kernel,omitempty"`
	// IpxeScriptURL is the iPXE script.
	// +optional
	IpxeScriptURL string `json:"ipxeScript,omitempty"`
	// DiscoveryIgnitionURL is the Ignition config of the discovery.
	// +optional
	DiscoveryIgnitionURL string `json:"discoveryIgnitionURL,omitempty"`
}
