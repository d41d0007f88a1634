package model

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Cluster is one OpenShift cluster, from its definition to the end of its installation.
// Fields tagged db are columns of the store, others tagged json:"-" are sealed in a column; the rest is its document.
type Cluster struct {
	ID              uuid.UUID     `json:"-" db:"id"`
	Kind            ClusterKind   `json:"-" db:"kind"`
	Name            string        `json:"-" db:"name"`
	Status          ClusterStatus `json:"-" db:"status"`
	StatusInfo      string        `json:"-" db:"status_info"`
	StatusUpdatedAt time.Time     `json:"-" db:"status_updated_at"`
	CreatedAt       time.Time     `json:"-" db:"created_at"`
	UpdatedAt       time.Time     `json:"-" db:"updated_at"`
	DeletedAt       time.Time     `json:"-" db:"deleted_at"`
	// InstallAttempt counts the installations begun; it names the run the workflow belongs to.
	InstallAttempt int `json:"-" db:"install_attempt"`
	// WorkflowStarted is false while an accepted installation has no workflow yet; the sweeper starts it then.
	WorkflowStarted bool `json:"-" db:"workflow_started"`
	// NetworkGeneration increases when a setting that hosts are checked against changes: VIPs, networks, NTP
	// sources, the domain. HostsGeneration increases when a host joins, leaves or changes its addresses.
	NetworkGeneration int64 `json:"-" db:"network_generation"`
	HostsGeneration   int64 `json:"-" db:"hosts_generation"`

	// KubeNamespace and KubeName are the ClusterDeployment that defines it; empty: none.
	KubeNamespace string `json:"-" db:"kube_key_namespace"`
	KubeName      string `json:"-" db:"kube_key_name"`

	PullSecret Secret `json:"-"` // sealed

	// Imported clusters exist already and were never installed by this service; hosts that join one reach it by
	// APIVIPDNSName and IgnitionEndpoint.
	Imported         bool             `json:"imported,omitempty"`
	APIVIPDNSName    string           `json:"api_vip_dns_name,omitempty"`
	IgnitionEndpoint IgnitionEndpoint `json:"ignition_endpoint"`

	UserName         string `json:"user_name,omitempty"`
	OrgID            string `json:"org_id,omitempty"`
	OpenShiftVersion string `json:"openshift_version,omitempty"`
	ReleaseImage     string `json:"release_image,omitempty"`
	// ReleasePullSpec is ReleaseImage by its digest, and ReleaseVerdict what its signatures say; both are frozen when an installation
	// begins, so that hosts and the bootstrap get the same release wherever a tag leads meanwhile.
	ReleasePullSpec string         `json:"release_pull_spec,omitempty"`
	ReleaseVerdict  ReleaseVerdict `json:"release_verdict,omitzero"`
	// ReleaseComponents are images of the release by component, frozen when an
	// installation begins so that no step depends on the registry afterwards.
	ReleaseComponents  map[string]string `json:"release_components,omitempty"`
	OpenShiftClusterID *uuid.UUID        `json:"openshift_cluster_id,omitempty"`
	CPUArchitecture    string            `json:"cpu_architecture,omitempty"`
	BaseDNSDomain      string            `json:"base_dns_domain,omitempty"`
	ControlPlaneCount  int               `json:"control_plane_count"`
	SSHPublicKey       string            `json:"ssh_public_key,omitempty"`
	Tags               string            `json:"tags,omitempty"`
	UISettings         string            `json:"ui_settings,omitempty"` // opaque, of a user interface
	// OrgSoftTimeouts is set when the organisation of the cluster enables soft time-outs.
	OrgSoftTimeouts bool `json:"org_soft_timeouts,omitempty"`
	// IgnoredHostValidations and IgnoredClusterValidations are ids, or "all"; nil when the user set none, in
	// which case the validations that the deployment disables apply.
	IgnoredHostValidations    []string `json:"ignored_host_validations,omitzero"`
	IgnoredClusterValidations []string `json:"ignored_cluster_validations,omitzero"`

	Platform              Platform `json:"platform"`
	LoadBalancer          string   `json:"load_balancer,omitempty"` // cluster-managed | user-managed
	UserManagedNetworking bool     `json:"user_managed_networking,omitempty"`
	VIPDHCPAllocation     bool     `json:"vip_dhcp_allocation,omitempty"`
	NetworkType           string   `json:"network_type,omitempty"`
	// APIVIPLease and IngressVIPLease are the leases of addresses that a DHCP server assigned.
	APIVIPLease     string `json:"api_vip_lease,omitempty"`
	IngressVIPLease string `json:"ingress_vip_lease,omitempty"`
	// LeaseSince is the time since which hosts ask a DHCP server in LeaseNetwork for virtual addresses.
	LeaseSince      time.Time      `json:"lease_since,omitzero"`
	LeaseNetwork    netip.Prefix   `json:"lease_network,omitzero"`
	APIVIPs         []VIP          `json:"api_vips,omitempty"`
	IngressVIPs     []VIP          `json:"ingress_vips,omitempty"`
	MachineNetworks []netip.Prefix `json:"machine_networks,omitempty"`
	// MachineNetworksAuto is set while the machine networks are derived from the VIPs or hosts, not given by the user.
	MachineNetworksAuto   bool             `json:"machine_networks_auto,omitempty"`
	ClusterNetworks       []ClusterNetwork `json:"cluster_networks,omitempty"`
	ServiceNetworks       []netip.Prefix   `json:"service_networks,omitempty"`
	Proxy                 Proxy            `json:"proxy"`
	NTPSources            []string         `json:"ntp_sources,omitempty"`
	NTPSourcesOnly        bool             `json:"ntp_sources_only,omitempty"` // replace the sources hosts are configured with
	Hyperthreading        string           `json:"hyperthreading,omitempty"`
	SchedulableMasters    bool             `json:"schedulable_masters,omitempty"`
	DiskEncryption        DiskEncryption   `json:"disk_encryption"`
	OLMOperators          []OLMOperator    `json:"operators,omitempty"`
	OperatorBundles       []OperatorBundle `json:"operator_bundles,omitempty"`
	InstallConfigOverride string           `json:"install_config_override,omitempty"` // JSON object

	Progress                  ClusterProgress    `json:"progress"`
	Validations               []ValidationResult `json:"validations,omitempty"`
	Connectivity              ConnectivityGroups `json:"connectivity"`
	HostNetworks              []HostNetwork      `json:"host_networks,omitempty"`
	Uses                      Uses               `json:"uses,omitzero"`            // counted when the cluster is evaluated
	ManifestFault             string             `json:"manifest_fault,omitempty"` // why the user's manifests cannot be read together
	LastPreparation           Preparation        `json:"last_preparation"`
	InstallStartedAt          time.Time          `json:"install_started_at"`
	InstallCompletedAt        time.Time          `json:"install_completed_at"`
	LogsInfo                  LogsState          `json:"logs_info,omitempty"`
	ControllerLogsStartedAt   time.Time          `json:"controller_logs_started_at"`
	ControllerLogsCollectedAt time.Time          `json:"controller_logs_collected_at"`
	ControllerLogsBytes       int64              `json:"-" db:"logs_bytes"` // of the archive that is kept
	// IngressCertAt is when the controller delivered the ingress certificate and kubeconfig was completed.
	IngressCertAt time.Time `json:"ingress_cert_at"`
	// Completion is the controller's final report; nil before it.
	Completion *Completion `json:"completion,omitempty"`
	// OnFailure says what follows when a host fails, or the time of a phase is over; frozen when an installation begins.
	OnFailure FailurePolicy `json:"on_failure,omitempty"`
	// DecisionOpen is set while the workflow is stopped at a time-out and waits for a command (extend, cancel,
	// reset). The hosts keep their statuses meanwhile.
	DecisionOpen bool `json:"decision_open,omitempty"`
}

// ReleaseVerdict says who signed a release. The zero value: it was not looked at.
type ReleaseVerdict struct {
	Policy   string `json:"policy,omitempty"`    // off, warn or require, when it was looked at
	SignedBy string `json:"signed_by,omitempty"` // the key, and its kind
	Problem  string `json:"problem,omitempty"`   // why no signature is good: what was looked for, and where
}

// PinnedRelease returns the release of the installation by its digest; before one, the release as it is named.
func (c *Cluster) PinnedRelease() string { return cmp.Or(c.ReleasePullSpec, c.ReleaseImage) }

// SingleNode reports whether the cluster consists of one control plane host without workers.
func (c *Cluster) SingleNode() bool { return c.ControlPlaneCount == 1 }

// DayTwo reports whether the cluster exists already and only accepts additional hosts.
func (c *Cluster) DayTwo() bool { return c.Kind == KindAddHostsCluster }

// FailurePolicy decides what an installation does when a host fails, or when the time of a phase is over.
type FailurePolicy string

// The policies. The zero value leaves it to the service: it waits, unless its --decision-timeout is zero.
const (
	OnFailureWait FailurePolicy = "wait" // for a command of its user, for the decision time-out
	OnFailureFail FailurePolicy = "fail" // at once
)

// Platform is the infrastructure a cluster runs on.
type Platform struct {
	Type                   string `json:"type,omitempty"` // baremetal, none, nutanix, vsphere, external
	ExternalName           string `json:"external_name,omitempty"`
	CloudControllerManager string `json:"cloud_controller_manager,omitempty"`
}

// VIP is a virtual address of the cluster.
type VIP struct {
	IP           netip.Addr `json:"ip"`
	Verification string     `json:"verification,omitempty"` // unverified, failed, succeeded
}

// ClusterNetwork is a network that pod addresses are assigned from.
type ClusterNetwork struct {
	CIDR       netip.Prefix `json:"cidr"`
	HostPrefix int          `json:"host_prefix"` // length of the prefix each host gets
}

// HostNetwork lists the hosts with an address in a network.
type HostNetwork struct {
	CIDR    netip.Prefix `json:"cidr"`
	HostIDs []uuid.UUID  `json:"host_ids"`
}

// Proxy holds the proxies through which hosts reach other networks.
type Proxy struct {
	HTTP    string `json:"http,omitempty"`
	HTTPS   string `json:"https,omitempty"`
	NoProxy string `json:"no_proxy,omitempty"`
}

// DiskEncryption is the encryption requested for installation disks.
type DiskEncryption struct {
	EnableOn    string `json:"enable_on,omitempty"` // none, all, masters, ...
	Mode        string `json:"mode,omitempty"`      // tpmv2, tang
	TangServers string `json:"tang_servers,omitempty"`
}

// ClusterProgress is the progress of an installation, in percent of each phase.
type ClusterProgress struct {
	Total                    int             `json:"total"`
	Preparing                int             `json:"preparing"`
	Installing               int             `json:"installing"`
	Finalizing               int             `json:"finalizing"`
	FinalizingStage          FinalizingStage `json:"finalizing_stage,omitempty"`
	FinalizingStageStartedAt time.Time       `json:"finalizing_stage_started_at"`
	FinalizingStageTimedOut  bool            `json:"finalizing_stage_timed_out,omitempty"`
}

// Preparation is the outcome of the last preparation.
type Preparation struct {
	Status string `json:"status,omitempty"` // not_started, failed, success
	Reason string `json:"reason,omitempty"`
}

// Completion is the controller's final report on an installation.
type Completion struct {
	Success   bool      `json:"success"`
	ErrorInfo string    `json:"error_info,omitempty"`
	At        time.Time `json:"at"`
}

// ConnectivityGroups are the hosts that reach each other, by network.
// L2 has one entry a network (its CIDR as key); L3 has "IPv4" and "IPv6".
type ConnectivityGroups struct {
	Majority             map[string][]uuid.UUID `json:"majority,omitempty"`
	L3ConnectedAddresses map[uuid.UUID][]string `json:"l3_connected_addresses,omitempty"`
	// IPCollisions maps an address to the MAC addresses that answered for it, two or more.
	IPCollisions map[string][]string `json:"ip_collisions,omitempty"`
}

// OLMOperator is an operator that is installed once the cluster runs.
type OLMOperator struct {
	Name       string `json:"name"`
	Properties string `json:"properties,omitempty"` // JSON object
	// DependencyOnly operators were not selected; another operator requires them.
	DependencyOnly bool `json:"dependency_only,omitempty"`
	// Bundles are the user's bundles that include the operator; BundleOnly is set when nothing else selects it.
	Bundles    []string `json:"bundles,omitempty"`
	BundleOnly bool     `json:"bundle_only,omitempty"`
}

// OperatorBundle is a bundle of operators that the user selected.
type OperatorBundle struct {
	ID       string   `json:"id"`
	Optional []string `json:"optional,omitempty"` // optional operators of the bundle
}

// IgnitionEndpoint is the address from which hosts that join a cluster get their configuration.
type IgnitionEndpoint struct {
	URL           string `json:"url,omitempty"`
	CACertificate string `json:"ca_certificate,omitempty"` // base64 of PEM
}

// running are the statuses in which a workflow installs the cluster.
var running = []ClusterStatus{
	ClusterPreparingForInstallation, ClusterInstalling, ClusterInstallingPendingUserAction, ClusterFinalizing,
}

// Running reports whether a workflow is installing the cluster and is not stopped at a time-out.
func (c *Cluster) Running() bool { return slices.Contains(running, c.Status) }

// InstallationRuns reports whether a workflow is installing the cluster and its hosts, including a workflow that is stopped at a
// time-out and waits for a command.
func (c *Cluster) InstallationRuns() bool {
	return c.Running() || c.DecisionOpen
}

// Uses holds the features a cluster uses that are not part of its own definition.
type Uses struct {
	CustomManifests    int         `json:"custom_manifests,omitempty"`
	RequestedHostnames int         `json:"requested_hostnames,omitempty"` // other than machines call themselves
	AutoAssignedRoles  int         `json:"auto_assigned_roles,omitempty"`
	DayTwoHosts        int         `json:"day_two_hosts,omitempty"`
	VMHosts            []uuid.UUID `json:"vm_hosts,omitempty"`           // hosts on virtual machines
	IgnitionOverrides  int         `json:"ignition_overrides,omitempty"` // of hosts and InfraEnvs
	StaticNetworks     int         `json:"static_networks,omitempty"`    // InfraEnvs that have them
	WaitingNetworks    int         `json:"waiting_networks,omitempty"`   // InfraEnvs whose static networks hold placeholders
	KernelArguments    int         `json:"kernel_arguments,omitempty"`   // InfraEnvs that have some
}
