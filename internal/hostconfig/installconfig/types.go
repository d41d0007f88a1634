package installconfig

import "encoding/json"

// InstallConfig is the input of the OpenShift installer, version v1. It holds every field that the service
// fills or that users override. It contains secrets: print it only where the installer or the owner of the
// cluster reads it.
type InstallConfig struct {
	APIVersion                  string              `json:"apiVersion"`
	BaseDomain                  string              `json:"baseDomain"`
	Proxy                       *Proxy              `json:"proxy,omitempty"`
	Networking                  Networking          `json:"networking"`
	Metadata                    Metadata            `json:"metadata"`
	Compute                     []MachinePool       `json:"compute"`
	ControlPlane                *MachinePool        `json:"controlPlane,omitempty"`
	Arbiter                     *MachinePool        `json:"arbiter,omitempty"`
	Platform                    Platform            `json:"platform"`
	BootstrapInPlace            *BootstrapInPlace   `json:"bootstrapInPlace,omitempty"`
	FIPS                        bool                `json:"fips"`
	CPUPartitioningMode         string              `json:"cpuPartitioningMode,omitempty"`
	PullSecret                  string              `json:"pullSecret"`
	SSHKey                      string              `json:"sshKey"`
	AdditionalTrustBundle       string              `json:"additionalTrustBundle,omitempty"`
	AdditionalTrustBundlePolicy string              `json:"additionalTrustBundlePolicy,omitempty"`
	ImageContentSources         []ImageSource       `json:"imageContentSources,omitempty"`
	ImageDigestSources          []ImageDigestSource `json:"imageDigestSources,omitempty"`
	Capabilities                *Capabilities       `json:"capabilities,omitempty"`
	FeatureSet                  string              `json:"featureSet,omitempty"`
	FeatureGates                []string            `json:"featureGates,omitempty"`
	OSImageStream               string              `json:"osImageStream,omitempty"`
	Publish                     string              `json:"publish,omitempty"`
	CredentialsMode             string              `json:"credentialsMode,omitempty"`
}

// Metadata names the cluster.
type Metadata struct {
	Name string `json:"name"`
}

// Proxy holds the proxies through which nodes reach other networks.
type Proxy struct {
	HTTPProxy  string `json:"httpProxy,omitempty"`
	HTTPSProxy string `json:"httpsProxy,omitempty"`
	NoProxy    string `json:"noProxy,omitempty"`
}

// Networking are the networks of the cluster.
type Networking struct {
	NetworkType         string               `json:"networkType,omitempty"`
	ClusterNetwork      []ClusterNetwork     `json:"clusterNetwork"`
	MachineNetwork      []MachineNetwork     `json:"machineNetwork,omitempty"`
	ServiceNetwork      []string             `json:"serviceNetwork"`
	ClusterNetworkMTU   int                  `json:"clusterNetworkMTU,omitempty"`
	OVNKubernetesConfig *OVNKubernetesConfig `json:"ovnKubernetesConfig,omitempty"`
}

// ClusterNetwork is a network that pod addresses are assigned from.
type ClusterNetwork struct {
	CIDR       string `json:"cidr"`
	HostPrefix int    `json:"hostPrefix"`
}

// MachineNetwork is a network of the nodes.
type MachineNetwork struct {
	CIDR string `json:"cidr"`
}

// OVNKubernetesConfig are settings of the default network plugin.
type OVNKubernetesConfig struct {
	IPv4 *OVNKubernetesFamily `json:"ipv4,omitempty"`
	IPv6 *OVNKubernetesFamily `json:"ipv6,omitempty"`
}

// OVNKubernetesFamily are its settings for one address family.
type OVNKubernetesFamily struct {
	InternalJoinSubnet string `json:"internalJoinSubnet,omitempty"`
}

// MachinePool is a group of nodes of one role.
type MachinePool struct {
	Hyperthreading string          `json:"hyperthreading,omitempty"`
	Architecture   string          `json:"architecture,omitempty"`
	Name           string          `json:"name"`
	Replicas       int             `json:"replicas"`
	Platform       json.RawMessage `json:"platform,omitempty"`
	Fencing        *Fencing        `json:"fencing,omitempty"`
	DiskSetup      json.RawMessage `json:"diskSetup,omitempty"`
}

// Fencing is how two control plane nodes switch each other off when they lose contact.
type Fencing struct {
	Credentials []FencingCredential `json:"credentials,omitempty"`
}

// FencingCredential gives access to the management controller of a machine.
type FencingCredential struct {
	HostName                string `json:"hostName,omitempty"`
	Username                string `json:"username"`
	Password                string `json:"password"`
	Address                 string `json:"address"`
	CertificateVerification string `json:"certificateVerification,omitempty"` // Enabled or Disabled
}

// BootstrapInPlace is the disk a single node installs itself to.
type BootstrapInPlace struct {
	InstallationDisk string `json:"installationDisk,omitempty"`
}

// ImageSource names the mirrors of a registry, for OpenShift before 4.14.
type ImageSource struct {
	Mirrors []string `json:"mirrors"`
	Source  string   `json:"source"`
}

// ImageDigestSource names the mirrors of a registry, from OpenShift 4.14 on.
type ImageDigestSource struct {
	Mirrors      []string `json:"mirrors"`
	Source       string   `json:"source"`
	SourcePolicy string   `json:"sourcePolicy,omitempty"`
}

// Capabilities are the optional parts of the cluster.
type Capabilities struct {
	BaselineCapabilitySet         string   `json:"baselineCapabilitySet,omitempty"`
	AdditionalEnabledCapabilities []string `json:"additionalEnabledCapabilities,omitempty"`
}
