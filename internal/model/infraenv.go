package model

import (
	"time"

	"github.com/google/uuid"
)

// InfraEnv is the environment that hosts are discovered in: their discovery image and its settings.
// Fields tagged db are columns of the store, others tagged json:"-" are sealed in a column; the rest is its document.
type InfraEnv struct {
	ID        uuid.UUID  `json:"-" db:"id"`
	ClusterID *uuid.UUID `json:"-" db:"cluster_id"` // nil with late binding
	Name      string     `json:"-" db:"name"`
	CreatedAt time.Time  `json:"-" db:"created_at"`
	UpdatedAt time.Time  `json:"-" db:"updated_at"`
	DeletedAt time.Time  `json:"-" db:"deleted_at"`
	// KubeNamespace and KubeName are the resource InfraEnv that defines it; empty: none.
	KubeNamespace string `json:"-" db:"kube_key_namespace"`
	KubeName      string `json:"-" db:"kube_key_name"`

	PullSecret Secret `json:"-"` // sealed
	// TokenKey signs image addresses.
	TokenKey Secret `json:"-"` // sealed
	// KeyReplacedAt is when a user replaced TokenKey last: tokens that do not name a key end with it. Zero: never.
	KeyReplacedAt time.Time `json:"key_replaced_at,omitzero"`

	// FormerClusterID is its deleted cluster, which may be brought back.
	FormerClusterID *uuid.UUID `json:"former_cluster_id,omitempty"`

	UserName               string           `json:"user_name,omitempty"`
	OrgID                  string           `json:"org_id,omitempty"`
	OpenShiftVersion       string           `json:"openshift_version,omitempty"`
	CPUArchitecture        string           `json:"cpu_architecture,omitempty"`
	ImageType              string           `json:"image_type,omitempty"` // full-iso, minimal-iso, disconnected-iso
	Proxy                  Proxy            `json:"proxy"`
	NTPSources             []string         `json:"ntp_sources,omitempty"`
	NTPSourcesOnly         bool             `json:"ntp_sources_only,omitempty"` // replace the sources hosts are configured with
	SSHAuthorizedKey       string           `json:"ssh_authorized_key,omitempty"`
	StaticNetworkConfig    string           `json:"static_network_config,omitempty"` // JSON, as the client sent it
	StaticNetworkWaits     bool             `json:"static_network_waits,omitempty"`  // it holds placeholders of a client
	RendezvousIP           string           `json:"rendezvous_ip,omitempty"`
	IgnitionConfigOverride string           `json:"ignition_config_override,omitempty"`
	KernelArguments        []KernelArgument `json:"kernel_arguments,omitempty"`
	AdditionalTrustBundle  string           `json:"additional_trust_bundle,omitempty"`
	DiscoveryDelay         time.Duration    `json:"discovery_delay,omitempty"`
}

// KernelArgument changes the kernel command line of the discovery image.
type KernelArgument struct {
	Operation string `json:"operation"` // append, replace, delete
	Value     string `json:"value"`
}
