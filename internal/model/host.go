package model

import (
	"time"

	"github.com/google/uuid"

	"slipway/internal/wire"
)

// Host is one machine that runs, or ran, a discovery agent. A host is identified by its InfraEnv and its own id
// together. Fields tagged db are columns of the store, others tagged json:"-" are encoded or sealed in a column; the
// rest is its document.
type Host struct {
	ID              uuid.UUID  `json:"-" db:"id"`
	InfraEnvID      uuid.UUID  `json:"-" db:"infra_env_id"`
	ClusterID       *uuid.UUID `json:"-" db:"cluster_id"` // nil while unbound
	Kind            HostKind   `json:"-" db:"kind"`
	Status          HostStatus `json:"-" db:"status"`
	StatusInfo      string     `json:"-" db:"status_info"`
	StatusUpdatedAt time.Time  `json:"-" db:"status_updated_at"`
	Role            Role       `json:"-" db:"role"`
	SuggestedRole   Role       `json:"suggested_role,omitempty" db:"suggested_role"` // also in the document, for earlier versions
	Bootstrap       bool       `json:"-" db:"bootstrap"`
	AgentSteps      AgentSteps `json:"-" db:"dialect"`
	Boot            string     `json:"-" db:"boot"` // as its agent names it, else made by the service at each registration
	Stage           Stage      `json:"-" db:"stage"`
	CreatedAt       time.Time  `json:"-" db:"created_at"`
	UpdatedAt       time.Time  `json:"-" db:"updated_at"`
	DeletedAt       time.Time  `json:"-" db:"deleted_at"`
	// CheckedInAt and Timestamp (the host's clock, Unix seconds) are kept in a narrow
	// table of their own and written at most every ten seconds.
	CheckedInAt time.Time `json:"-" db:"checked_in_at"`
	Timestamp   int64     `json:"-" db:"host_timestamp"`
	// Connectivity has a column of its own as well: it is larger than all other fields together.
	Connectivity ConnectivityReport `json:"-" db:"connectivity"`
	// Facts records the questions the host was asked and their answers, by name of the fact.
	Facts Facts `json:"-"`

	// Fencing holds the credentials by which the cluster controls the machine's power; nil when not set.
	Fencing *FencingCredentials `json:"-"` // sealed
	// IgnitionEndpointToken and IgnitionEndpointHeaders are sent to the ignition endpoint
	// of the cluster a day-2 host joins.
	IgnitionEndpointToken   Secret            `json:"-"` // sealed
	IgnitionEndpointHeaders map[string]Secret `json:"-"` // sealed

	RegisteredAt          time.Time `json:"registered_at"`
	RequestedHostname     string    `json:"requested_hostname,omitempty"`
	DiscoveryAgentVersion string    `json:"discovery_agent_version,omitempty"`
	TokenGeneration       int       `json:"token_generation,omitempty"` // counts registrations: each ends the tokens before
	// UnprovenAt is when a machine that did not prove to be this host last registered; zero: never. ApprovedUntil is how long another
	// machine may take its place once; zero: none may.
	UnprovenAt    time.Time `json:"unproven_at,omitzero"`
	ApprovedUntil time.Time `json:"approved_until,omitzero"`

	UserName           string      `json:"user_name,omitempty"`
	MediaStatus        MediaStatus `json:"media_status,omitempty"`
	ConnectionTimedOut bool        `json:"connection_timed_out,omitempty"`

	Progress HostProgress `json:"progress"`
	// DecisionOpen is set while the host's workflow has failed a step and waits for a
	// command (retry, evict); the cluster then counts the host as pending user action.
	DecisionOpen bool `json:"decision_open,omitempty"`
	// AutoRole is set while Role was chosen by the service when the installation began.
	AutoRole bool `json:"auto_role,omitempty"`
	// OfSingleNode is set once the host got its role because its cluster is a single node.
	OfSingleNode bool `json:"of_single_node,omitempty"`
	// Attempt counts the times the host's installation was begun in this run.
	Attempt int `json:"attempt,omitempty"`
	// BootstrapBoot is the boot in which the host was last told to begin the bootstrap of a cluster; empty for never. The services of the
	// bootstrap run until the host is booted again.
	BootstrapBoot string `json:"bootstrap_boot,omitempty"`
	// PendingWorkflow is an accepted workflow of this host alone that is not started yet; the sweeper starts
	// it. WorkflowAttempt counts accepted workflows and never decreases.
	PendingWorkflow HostWorkflow `json:"pending_workflow,omitempty"`
	WorkflowAttempt int          `json:"workflow_attempt,omitempty"`
	// FormerClusterID is the cluster a reclaimed host was in.
	FormerClusterID *uuid.UUID `json:"former_cluster_id,omitempty"`

	Inventory        *wire.Inventory                `json:"inventory,omitempty"`
	FreeAddresses    wire.FreeNetworksAddresses     `json:"free_addresses,omitempty"`
	NTPSources       []wire.NtpSource               `json:"ntp_sources,omitempty"`
	DomainResolution *wire.DomainResolutionResponse `json:"domain_resolution,omitempty"`
	// Tang is whether the servers of disk encryption answered, TangError why not.
	Tang      *wire.TangConnectivityResponse `json:"tang,omitempty"`
	TangError string                         `json:"tang_error,omitempty"`
	// IgnitionDownload is the reply of the api-vip-connectivity-check of a day-2 host.
	IgnitionDownload *wire.APIVipConnectivityResponse  `json:"ignition_download,omitempty"`
	Images           []wire.ContainerImageAvailability `json:"images,omitempty"`
	// DiskSpeed maps a disk path to the outcome of its speed check.
	DiskSpeed map[string]DiskSpeed `json:"disk_speed,omitempty"`

	InstallationDiskID      string            `json:"installation_disk_id,omitempty"`
	InstallationDiskPath    string            `json:"installation_disk_path,omitempty"`
	SkipFormattingDisks     []string          `json:"skip_formatting_disks,omitempty"`
	InstallerArgs           []string          `json:"installer_args,omitempty"`
	IgnitionConfigOverrides string            `json:"ignition_config_overrides,omitempty"`
	MachineConfigPoolName   string            `json:"machine_config_pool_name,omitempty"`
	NodeLabels              map[string]string `json:"node_labels,omitempty"`

	Validations     []ValidationResult `json:"validations,omitempty"`
	LogsInfo        LogsState          `json:"logs_info,omitempty"`
	LogsStartedAt   time.Time          `json:"logs_started_at"`
	LogsCollectedAt time.Time          `json:"logs_collected_at"`
	LogsBytes       int64              `json:"-" db:"logs_bytes"` // of the archive that is kept
}

// HostProgress is the current stage of a host and its percentage.
type HostProgress struct {
	Percentage     int       `json:"percentage"` // of the whole installation of this host
	Info           string    `json:"info,omitempty"`
	StageStartedAt time.Time `json:"stage_started_at"`
	StageUpdatedAt time.Time `json:"stage_updated_at"`
	StageTimedOut  bool      `json:"stage_timed_out,omitempty"`
}

// FencingCredentials open a machine's management controller.
type FencingCredentials struct {
	Address                 string
	Username                string
	Password                Secret
	CertificateVerification string // Enabled or Disabled
	MACAddress              string // of the boot interface; empty when not reported
}

// DiskSpeed is the result of a speed check of an installation disk.
type DiskSpeed struct {
	Tested         bool  `json:"tested"`
	ExitCode       int   `json:"exit_code"`
	SyncDurationMS int64 `json:"sync_duration_ms"` // 99th percentile of fdatasync
}

// Hostname returns the name the host will have: the requested one, else its current one.
func (h *Host) Hostname() string {
	if h.RequestedHostname != "" {
		return h.RequestedHostname
	}
	if h.Inventory != nil {
		return h.Inventory.Hostname
	}
	return ""
}

// EffectiveRole returns the role set by the user, else the suggested one.
func (h *Host) EffectiveRole() Role {
	if h.Role == RoleAutoAssign && h.SuggestedRole != "" {
		return h.SuggestedRole
	}
	return h.Role
}

// BeganBootstrap reports whether the host runs since the boot in which it was asked to begin a bootstrap.
func (h *Host) BeganBootstrap() bool { return h.BootstrapBoot != "" && h.BootstrapBoot == h.Boot }

// DayTwo reports whether the host joins a cluster that exists already.
func (h *Host) DayTwo() bool { return h.Kind == KindAddToExistingClusterHost }

// HostWorkflow is the kind of a workflow that a host has for itself, without its cluster's.
type HostWorkflow string

// The workflows of single hosts.
const (
	WorkflowNone    HostWorkflow = ""
	WorkflowAdd     HostWorkflow = "add"     // it joins a cluster that exists
	WorkflowReclaim HostWorkflow = "reclaim" // it returns to its InfraEnv
)

// Fact is the name of a question that a host answers in discovery: the name of its step.
type Fact string

// FactRecord holds when a fact was last asked and answered, and for which generation of the cluster's settings.
type FactRecord struct {
	AskedAt    time.Time `json:"asked_at"`
	AnsweredAt time.Time `json:"answered_at"`
	// Generation is the cluster generation of the last question.
	Generation int64 `json:"generation,omitempty"`
	// StepID is the id of the last question; a reply with another id is still accepted.
	StepID string `json:"step_id,omitempty"`
	// Digest is of the reply that was read last, and of the process that read it; empty: any reply is read.
	Digest string `json:"digest,omitempty"`
}

// Facts are the records of one host.
type Facts map[Fact]FactRecord

// ValidationStatus is the outcome of one rule.
type ValidationStatus string

// The validation outcomes.
const (
	ValidationSuccess  ValidationStatus = "success"
	ValidationFailure  ValidationStatus = "failure"
	ValidationPending  ValidationStatus = "pending"
	ValidationError    ValidationStatus = "error"
	ValidationDisabled ValidationStatus = "disabled"
)

// ValidationResult is the result of one rule for one cluster or host.
type ValidationResult struct {
	ID       string           `json:"id"`
	Category string           `json:"category"`
	Status   ValidationStatus `json:"status"`
	Message  string           `json:"message"`
	// Ignored marks a rule that the cluster ignores, whatever its status.
	Ignored bool `json:"ignored,omitempty"`
}

// Passes reports whether the rule holds nothing up: it holds, is ignored or is disabled.
func (r ValidationResult) Passes() bool {
	return r.Ignored || r.Status == ValidationSuccess || r.Status == ValidationDisabled
}

// Fails reports whether the rule is broken, and not ignored.
func (r ValidationResult) Fails() bool { return r.Status == ValidationFailure && !r.Ignored }

// LeaveCluster clears everything about a host that belongs to its cluster; its inventory stays.
func (h *Host) LeaveCluster() {
	h.ClusterID, h.Kind = nil, KindHost
	h.Role, h.SuggestedRole, h.AutoRole, h.Bootstrap, h.OfSingleNode = RoleAutoAssign, "", false, false, false
	h.Stage, h.Progress, h.Attempt, h.DecisionOpen = "", HostProgress{}, 0, false
	h.Validations, h.Connectivity = nil, nil
	h.Tang, h.TangError, h.IgnitionDownload = nil, "", nil
}
