package lifecycle

// HostEvent is something that happens to a host.
type HostEvent string

// The host events of the v2 API's state machine.
const (
	RegisterHost           HostEvent = "RegisterHost"
	HostProgressed         HostEvent = "HostProgress"
	HostInstallationFailed HostEvent = "HostInstallationFailed" // reported by the host's installer
	CancelHost             HostEvent = "CancelInstallation"
	InstallHost            HostEvent = "InstallHost" // a host that joins an existing cluster
	BindHost               HostEvent = "BindHost"
	UnbindHost             HostEvent = "UnbindHost"
	ReclaimHost            HostEvent = "ReclaimHost"
	RebootingForReclaim    HostEvent = "RebootingForReclaim"
	ReclaimFailed          HostEvent = "ReclaimFailed"
	MediaDisconnect        HostEvent = "MediaDisconnect"
	RefreshHost            HostEvent = "Refresh"
)

// The host events that workflows add: a workflow decides changes that v2 leaves to its refresh.
const (
	PrepareHost        HostEvent = "PrepareForInstallation" // its cluster begins its preparation
	PreparationStopped HostEvent = "PreparationStopped"     // its cluster ended its preparation without success
	InstallationBegins HostEvent = "InstallationBegins"     // its cluster is prepared
	BeginAttempt       HostEvent = "BeginAttempt"           // its installation runs from the first stage
	RepeatStage        HostEvent = "RepeatStage"            // its installation runs again from the stage that failed
	FailHost           HostEvent = "FailHost"               // its workflow failed and waits for a decision
	GiveUpHost         HostEvent = "GiveUpHost"             // no decision came, or it is to do without the host
	RetryHost          HostEvent = "RetryHost"              // a host that has left the live image is installed again
	StageTimedOut      HostEvent = "StageTimedOut"
	RebootTimedOut     HostEvent = "RebootTimedOut"
	ResumeHost         HostEvent = "ResumeInstallation" // its cluster resumes after a time-out
	ResetHost          HostEvent = "ResetHost"
	FinishHostReset    HostEvent = "FinishReset"
)

// ClusterEvent is something that happens to a cluster.
type ClusterEvent string

// The cluster events of the v2 API's state machine.
const (
	CancelCluster  ClusterEvent = "CancelInstallation"
	ResetCluster   ClusterEvent = "ResetCluster"
	PrepareCluster ClusterEvent = "PrepareForInstallation"
	RefreshCluster ClusterEvent = "RefreshStatus"
)

// The cluster events that commands and workflows add.
const (
	RegisterCluster        ClusterEvent = "RegisterCluster"
	OpenForHosts           ClusterEvent = "OpenForHosts"       // an installed cluster is to take more hosts
	PreparationEnded       ClusterEvent = "PreparationEnded"   // with success or without
	InstallationFailed     ClusterEvent = "InstallationFailed" // also by a time-out of the whole installation
	FinalizingStageTimeout ClusterEvent = "FinalizingStageTimedOut"
	ResumeCluster          ClusterEvent = "ResumeInstallation" // after a time-out that was extended
	FinishInstallation     ClusterEvent = "FinishInstallation"
	FinishClusterReset     ClusterEvent = "FinishReset" // its agents have stopped
)

// reports are the host events that come again and again: the history has a line of them
// when the status changes, of other events also when only the status info does.
var reports = []HostEvent{RegisterHost, HostProgressed, HostInstallationFailed, MediaDisconnect, RefreshHost}

// Effect names a change that a transition makes besides setting the status and its info; most make none. Apply carries effects out on
// the object and in its history.
type Effect string

// The effects.
const (
	EffectNone Effect = ""
	// EffectRegistered: forget the facts from before the host was booted.
	EffectRegistered Effect = "registered"
	// EffectWrongBootOrder: the host came back from the discovery image; keep its stage.
	EffectWrongBootOrder Effect = "wrong-boot-order"
	// EffectLogsTimedOut: set logs_info to timeout.
	EffectLogsTimedOut Effect = "logs-timed-out"
	// EffectStageTimedOut: mark the stage as timed out, with an event.
	EffectStageTimedOut Effect = "stage-timed-out"
	// EffectRebootTimedOut: mark the stage as timed out; the new status says so.
	EffectRebootTimedOut Effect = "reboot-timed-out"
	// EffectStageClockRestarted: set stage_updated_at to now.
	EffectStageClockRestarted Effect = "stage-clock-restarted"
	// EffectConnectionLost and EffectConnectionBack set and clear connection_timed_out.
	EffectConnectionLost Effect = "connection-lost"
	EffectConnectionBack Effect = "connection-back"
	// EffectPrepared: forget stage and progress of the last installation; of a cluster,
	// count the attempt and set install_started_at, with an event.
	EffectPrepared Effect = "prepared"
	// EffectPreparationFailed: note why the preparation failed, with an event.
	EffectPreparationFailed Effect = "preparation-failed"
	// EffectAttemptCounted: count the attempt.
	EffectAttemptCounted Effect = "attempt-counted"
	// EffectAttempt: count the attempt and forget the stage of the last one.
	EffectAttempt Effect = "attempt"
	// EffectStageRepeated: count the attempt, keep the stage.
	EffectStageRepeated Effect = "stage-repeated"
	// EffectContinued: count an attempt, which begins at the reported stage; no decision is awaited any more.
	EffectContinued Effect = "continued"
	// EffectFailed: the installation failed; of a cluster, with an event. Of a host the
	// caller ends the steps its workflow waits for.
	EffectFailed Effect = "failed"
	// EffectDecisionOpened: the workflow waits for a decision about the host, and its attempt counts.
	EffectDecisionOpened Effect = "decision-opened"
	// EffectGivenUp: it waits no longer.
	EffectGivenUp Effect = "given-up"
	// EffectRediscover: forget the facts that the host must report again from the live image.
	EffectRediscover Effect = "rediscover"
	// EffectCompleted: set install_completed_at and the progress to 100 %, with an event.
	EffectCompleted Effect = "completed"
	// EffectResumed: the finalizing stage gets its time once more.
	EffectResumed Effect = "resumed"
	// EffectCancelled: no decision is awaited any more, with an event.
	EffectCancelled Effect = "cancelled"
	// EffectResetBegun: no decision is awaited any more.
	EffectResetBegun Effect = "reset-begun"
	// EffectResetNeedsUser: so, and the user has to boot the host, with an event.
	EffectResetNeedsUser Effect = "reset-needs-user"
	// EffectReset: forget the results of the installation, with an event; of a cluster, until its agents have stopped.
	EffectReset Effect = "reset"
	// EffectForgotten: forget late reports of agents that had not stopped yet.
	EffectForgotten Effect = "forgotten"
	// EffectUnbound: take the host out of its cluster.
	EffectUnbound Effect = "unbound"
	// EffectOpened: the cluster accepts additional hosts.
	EffectOpened Effect = "opened"
)
