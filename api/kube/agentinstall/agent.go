package agentinstall

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conditions of an Agent and their reasons.
const (
	SpecSynced      ConditionType = "SpecSynced"
	Connected       ConditionType = "Connected"
	RequirementsMet ConditionType = "RequirementsMet"
	Validated       ConditionType = "Validated"
	Installed       ConditionType = "Installed"
	BoundCondition  ConditionType = "Bound"
	Cleanup         ConditionType = "Cleanup"

	ReasonSyncOK       = "SyncOK"
	ReasonBackendError = "BackendError"
	ReasonInputError   = "InputError"
	ReasonNotAvailable = "NotAvailable"

	ReasonAgentIsConnected    = "AgentIsConnected"
	ReasonAgentIsDisconnected = "AgentIsDisconnected"

	ReasonAgentIsReady             = "AgentIsReady"
	ReasonAgentNotReady            = "AgentNotReady"
	ReasonAgentAlreadyInstalling   = "AgentAlreadyInstalling"
	ReasonAgentIsNotApproved       = "AgentIsNotApproved"
	ReasonAgentInstallationStopped = "AgentInstallationStopped"

	ReasonValidationsPassing     = "ValidationsPassing"
	ReasonValidationsUnknown     = "ValidationsUnknown"
	ReasonValidationsFailing     = "ValidationsFailing"
	ReasonValidationsUserPending = "ValidationsUserPending"

	ReasonInstallationCompleted  = "InstallationCompleted"
	ReasonInstallationFailed     = "InstallationFailed"
	ReasonInstallationNotStarted = "InstallationNotStarted"
	ReasonInstallationInProgress = "InstallationInProgress"
	ReasonUnknownStatus          = "UnknownStatus"

	ReasonBound                      = "Bound"
	ReasonUnbound                    = "Unbound"
	ReasonBinding                    = "Binding"
	ReasonUnbinding                  = "Unbinding"
	ReasonUnbindingPendingUserAction = "UnbindingPendingUserAction"

	ReasonCleanupFailed = "CleanupFailed"
)

// SkipSpokeCleanup is the annotation that keeps the node of a host that left an installed cluster, with the value "true".
const SkipSpokeCleanup = "agent.agent-install.openshift.io/skip-spoke-cleanup"

// KeepsNode reports whether a user keeps the node of the host.
func (a *Agent) KeepsNode() bool { return a.Annotations[SkipSpokeCleanup] == "true" }

// AgentFinalizer keeps an Agent until the service has forgotten its host.
const AgentFinalizer = "agent.agent-install.openshift.io/ai-deprovision"

// Agent is a host that booted from the image of an InfraEnv. The service makes it, named by the host's ID, in the InfraEnv's namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=agents
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterDeploymentName.name`
// +kubebuilder:printcolumn:name="Approved",type=boolean,JSONPath=`.spec.approved`
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.status.role`
// +kubebuilder:printcolumn:name="Stage",type=string,JSONPath=`.status.progress.currentStage`
// +kubebuilder:printcolumn:name="Hostname",type=string,priority=1,JSONPath=`.status.inventory.hostname`
// +kubebuilder:printcolumn:name="Requested Hostname",type=string,priority=1,JSONPath=`.spec.hostname`
type Agent struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is how the host is to be installed.
	Spec AgentSpec `json:"spec,omitempty"`
	// Status describes the host and its installation.
	Status AgentStatus `json:"status,omitempty"`
}

// ForeignReference returns the first reference to an object of another namespace, by its path in the spec; empty without one. Who may
// write Agents of one namespace reads no Secret of another, and joins no cluster there.
func (a *Agent) ForeignReference() (path, namespace string) {
	if ref := a.Spec.ClusterDeploymentName; ref != nil && ref.Namespace != "" && ref.Namespace != a.Namespace {
		return "spec.clusterDeploymentName.namespace", ref.Namespace
	}
	if ref := a.Spec.IgnitionEndpointTokenReference; ref != nil && ref.Namespace != "" && ref.Namespace != a.Namespace {
		return "spec.ignitionEndpointTokenReference.namespace", ref.Namespace
	}
	return "", ""
}

// AgentList is a list of Agents.
//
// +kubebuilder:object:root=true
type AgentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Agent `json:"items"`
}

// AgentSpec is how a host is to be installed.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.installation_disk_id) && has(self.installation_disk_path) && size(self.installation_disk_id) * size(self.installation_disk_path) > 0)",message="require installation_disk_id or installation_disk_path, found both"
type AgentSpec struct {
	// ClusterDeploymentName names the cluster that the host belongs to. Without one it waits to be bound.
	// +optional
	ClusterDeploymentName *ClusterReference `json:"clusterDeploymentName,omitempty"`

	// Role is master, arbiter, worker or auto-assign.
	Role string `json:"role"`

	// Hostname replaces the name that the host has by itself.
	// +optional
	Hostname string `json:"hostname,omitempty"`

	// MachineConfigPool is the pool that the node joins.
	// +optional
	MachineConfigPool string `json:"machineConfigPool,omitempty"`

	// Approved lets the host be installed.
	Approved bool `json:"approved"`

	// InstallationDiskID is the ID, as the inventory has it, of the disk that is written.
	// +optional
	InstallationDiskID string `json:"installation_disk_id,omitempty"`

	// InstallationDiskPath is the path of that disk. It changes between boots: installation_disk_id is preferred.
	// +optional
	InstallationDiskPath string `json:"installation_disk_path,omitempty"`

	// InstallerArgs is a JSON list of further arguments of coreos-installer, such as ["--append-karg", "ip=dhcp"].
	// +optional
	InstallerArgs string `json:"installerArgs,omitempty"`

	// IgnitionConfigOverrides is a JSON Ignition config that is merged into the config of the host's role.
	// +optional
	IgnitionConfigOverrides string `json:"ignitionConfigOverrides,omitempty"`

	// IgnitionEndpointTokenReference names the Secret with the token that the host sends when it asks for Ignition, under
	// ignition-token.
	// +optional
	IgnitionEndpointTokenReference *ObjectReference `json:"ignitionEndpointTokenReference,omitempty"`

	// IgnitionEndpointHTTPHeaders are sent when the host asks for Ignition.
	// +optional
	IgnitionEndpointHTTPHeaders map[string]string `json:"ignitionEndpointHTTPHeaders,omitempty"`

	// NodeLabels are put on the node.
	// +optional
	NodeLabels map[string]string `json:"nodeLabels,omitempty"`

	// FencingCredentialsSecretRef names the Secret of this namespace with address, username and password of the host's management
	// controller, for clusters of two nodes that fence each other.
	// +optional
	FencingCredentialsSecretRef string `json:"fencingCredentialsSecretRef,omitempty"`
}

// Has reports whether a condition has a status.
func (s *AgentStatus) Has(kind ConditionType, status corev1.ConditionStatus) bool {
	return slices.ContainsFunc(s.Conditions, func(c Condition) bool { return c.Type == kind && c.Status == status })
}

// NodeName returns the name that the host's kubelet has.
func (a *Agent) NodeName() string {
	return strings.ToLower(cmp.Or(a.Spec.Hostname, a.Status.Inventory.Hostname))
}

// EndCleanup drops the node to remove, which is gone or stays.
func (s *AgentStatus) EndCleanup() {
	s.DeprovisionInfo = nil
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c Condition) bool { return c.Type == Cleanup })
}

// AgentStatus describes a host and its installation.
type AgentStatus struct {
	// Bootstrap says whether the host bootstraps its cluster.
	// +optional
	Bootstrap bool `json:"bootstrap,omitempty"`
	// Role that the host has or is proposed for.
	// +optional
	Role string `json:"role,omitempty"`
	// Inventory is the hardware of the host.
	// +optional
	Inventory HostInventory `json:"inventory,omitempty"`
	// Progress of the installation.
	// +optional
	Progress HostProgress `json:"progress,omitempty"`
	// NtpSources are the time sources of the host.
	// +optional
	NtpSources []HostNTPSource `json:"ntpSources,omitempty"`
	// Conditions say whether the host is connected, valid, approved, bound and installed.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// DebugInfo has URLs and the state of the host in the service.
	// +optional
	DebugInfo DebugInfo `json:"debugInfo,omitempty"`
	// ValidationsInfo has the results of all validations by group.
	// +optional
	ValidationsInfo ValidationsStatus `json:"validationsInfo,omitempty"`
	// InstallationDiskID is the disk that is written.
	// +optional
	InstallationDiskID string `json:"installation_disk_id,omitempty"`
	// DeprovisionInfo is the cluster that the host's node is removed from.
	// +optional
	DeprovisionInfo *AgentDeprovisionInfo `json:"deprovision_info,omitempty"`
	// Kind of the host in the service: Host or AddToExistingClusterHost.
	// +optional
	Kind string `json:"kind,omitempty"`
	// CSRStatus has the certificate requests of the node that were approved.
	// +optional
	CSRStatus CSRStatus `json:"csrStatus,omitempty"`
}

// DebugInfo has URLs and a state for those who look for a fault.
type DebugInfo struct {
	// EventsURL has the events.
	// +optional
	EventsURL string `json:"eventsURL,omitempty"`
	// LogsURL has the logs that were collected.
	// +optional
	LogsURL string `json:"logsURL,omitempty"`
	// WorkflowURL is the page of the installation in Temporal's web UI.
	// +optional
	WorkflowURL string `json:"workflowURL,omitempty"`
	// State in the service.
	// +optional
	State string `json:"state,omitempty"`
	// StateInfo says why.
	// +optional
	StateInfo string `json:"stateInfo,omitempty"`
}

// AgentDeprovisionInfo is the cluster that a host's node is removed from.
type AgentDeprovisionInfo struct {
	// ClusterName of the cluster.
	// +optional
	ClusterName string `json:"cluster_name,omitempty"`
	// ClusterNamespace of the cluster.
	// +optional
	ClusterNamespace string `json:"cluster_namespace,omitempty"`
	// NodeName of the node.
	// +optional
	NodeName string `json:"node_name,omitempty"`
	// Message says what keeps the node.
	// +optional
	Message string `json:"message,omitempty"`
}

// CSRStatus has the certificate requests of a node that were approved.
type CSRStatus struct {
	// LastApprovalAttempt is when requests were last looked at.
	// +optional
	LastApprovalAttempt *metav1.Time `json:"lastApprovalAttempt,omitempty"`
	// ApprovedCSRs are the requests that were approved.
	// +optional
	ApprovedCSRs []CSRInfo `json:"approvedCSRs,omitempty"`
}

// CSRInfo is a certificate request that was approved.
type CSRInfo struct {
	// Name of the request.
	Name string `json:"name"`
	// Type is client or serving.
	Type string `json:"type"`
	// ApprovedAt is when it was approved.
	ApprovedAt metav1.Time `json:"approvedAt"`
}

// HostProgress is how far the installation of a host is.
type HostProgress struct {
	// CurrentStage of the installation.
	// +optional
	CurrentStage string `json:"currentStage,omitempty"`
	// ProgressInfo says more, such as the share of the image that is written.
	// +optional
	ProgressInfo string `json:"progressInfo,omitempty"`
	// InstallationPercentage of all stages.
	// +optional
	InstallationPercentage int64 `json:"installationPercentage,omitempty"`
	// StageStartTime is when the stage began.
	// +optional
	StageStartTime *metav1.Time `json:"stageStartTime,omitempty"`
	// StageUpdateTime is when progress was last reported.
	// +optional
	StageUpdateTime *metav1.Time `json:"stageUpdateTime,omitempty"`
	// ProgressStages are all stages of the host's role in their order.
	// +optional
	ProgressStages []string `json:"progressStages,omitempty"`
}

// HostNTPSource is a time source of a host.
type HostNTPSource struct {
	// SourceName is a name or an address.
	// +optional
	SourceName string `json:"sourceName,omitempty"`
	// SourceState as chrony says it, such as synced.
	// +optional
	SourceState string `json:"sourceState,omitempty"`
}
