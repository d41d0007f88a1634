package lifecycle

// HostEvent is something that happens to a host.
type HostEvent string

// The host events. RetryHost and ResetHost are ours, the others the contract's.
const (
	RegisterHost               HostEvent = "RegisterHost"
	HostProgressed             HostEvent = "HostProgress"
	HostInstallationFailed     HostEvent = "HostInstallationFailed"
	CancelHost                 HostEvent = "CancelInstallation"
	InstallHost                HostEvent = "InstallHost"
	ResettingPendingUserAction HostEvent = "ResettingPendingUserAction"
	BindHost                   HostEvent = "BindHost"
	UnbindHost                 HostEvent = "UnbindHost"
	ReclaimHost                HostEvent = "ReclaimHost"
	RebootingForReclaim        HostEvent = "RebootingForReclaim"
	ReclaimFailed              HostEvent = "ReclaimFailed"
	MediaDisconnect            HostEvent = "MediaDisconnect"
	RefreshHost                HostEvent = "Refresh"
	// RetryHost installs one failed day-1 host of a running installation again.
	RetryHost HostEvent = "RetryHost"
	// ResetHost returns a host to discovery.
	ResetHost HostEvent = "ResetHost"
)

// ClusterEvent is something that happens to a cluster.
type ClusterEvent string

// The cluster events. ResumeCluster is ours, the others the contract's.
const (
	CancelCluster  ClusterEvent = "CancelInstallation"
	ResetCluster   ClusterEvent = "ResetCluster"
	PrepareCluster ClusterEvent = "PrepareForInstallation"
	RefreshCluster ClusterEvent = "RefreshStatus"
	// ResumeCluster follows the retry of a host whose failure had failed the cluster.
	ResumeCluster ClusterEvent = "ResumeInstallation"
)

// Effect is what a transition asks its caller to do besides setting the status and its
// info; most ask for nothing.
type Effect string

// The effects.
const (
	EffectNone Effect = ""
	// EffectRegistered: forget the last installation (stage, progress, logs, inventory-dependent choices).
	EffectRegistered Effect = "registered"
	// EffectWrongBootOrder: the host came back from the discovery image; keep its stage.
	EffectWrongBootOrder Effect = "wrong-boot-order"
	// EffectLogsTimedOut: set logs_info to timeout.
	EffectLogsTimedOut Effect = "logs-timed-out"
	// EffectStageTimedOut: mark the stage as timed out and tell so in an event, once.
	EffectStageTimedOut Effect = "stage-timed-out"
	// EffectStageClockRestarted: set stage_updated_at to now.
	EffectStageClockRestarted Effect = "stage-clock-restarted"
	// EffectConnectionLost and EffectConnectionBack set and clear connection_timed_out.
	EffectConnectionLost Effect = "connection-lost"
	EffectConnectionBack Effect = "connection-back"
	// EffectPreparationFailed: note the outcome of the preparation; tell so in an event.
	EffectPreparationFailed Effect = "preparation-failed"
	// EffectFailed: the installation failed; tell so in an event.
	EffectFailed Effect = "failed"
	// EffectCompleted: set install_completed_at and the progress to 100 %.
	EffectCompleted Effect = "completed"
	// EffectCancelled: set install_completed_at.
	EffectCancelled Effect = "cancelled"
	// EffectReset: forget roles suggested, bootstrap, progress, logs of the last attempt.
	EffectReset Effect = "reset"
	// EffectUnbound: take the host out of its cluster.
	EffectUnbound Effect = "unbound"
	// EffectPrepared: forget the outcome of the last preparation; of a cluster, set install_started_at too.
	EffectPrepared Effect = "prepared"
)
