package workflows

import (
	"time"

	"github.com/google/uuid"

	"slipway/activities"
	"slipway/internal/model"
)

// Names of commands (updates) and signals. Each command also exists as a signal of the
// same name, for scripts, the command line and the web UI of Temporal.
const (
	CommandCancel      = "cancel"              // cluster: stop the installation
	CommandReset       = "reset"               // cluster, day-2 host: stop and go back to discovery
	CommandExtend      = "extend"              // cluster: wait for a timed-out phase once more
	CommandPause       = "pause"               // cluster: hosts finish their step and wait
	CommandResume      = "resume"              // cluster: paused hosts continue
	CommandRetry       = "retry"               // host: begin its installation again
	CommandRetryStep   = "retry-step"          // host: only the failed stage again
	CommandEvict       = "evict"               // host: give it up
	CommandReclaim     = "reclaim"             // installed host: back to its InfraEnv, by a workflow of its own
	SignalHostNews     = "host-news"           // host to cluster
	SignalInstall      = "install"             // cluster to host: preparation is over
	SignalControlPlane = "control-plane-ready" // cluster to host: two masters are done
	SignalHold         = "hold"                // cluster to host: pause (true) or resume (false)
	SignalHostLost     = "host-lost"           // service to cluster: the workflow of a host is gone
	QueryState         = "state"
)

// ClusterRequest starts the workflow that installs a cluster.
type ClusterRequest struct {
	activities.InstallRequest
	// Continued is set when an earlier run of the same workflow has installed part of the cluster.
	Continued *Continuation `json:",omitempty"`
}

// Continuation is the state that a run of a cluster's workflow hands to the next.
type Continuation struct {
	Phase    Phase
	Hosts    map[uuid.UUID]HostNews
	GateOpen bool // the control plane is up
	// Untold lists the workers that do not know that yet.
	Untold []uuid.UUID `json:",omitempty"`
	// InstallationEnds and FinalizingEnds are when the time of both is over; zero while it is not measured.
	InstallationEnds, FinalizingEnds time.Time
}

// HostInstallRequest starts the workflow of one host.
type HostInstallRequest struct {
	ClusterID  uuid.UUID
	Attempt    int // of the cluster's installation; zero in workflows that an earlier version began
	SingleNode bool
	DayTwo     bool // the host joins a cluster that exists already
	Host       activities.HostPlan
	Timeouts   activities.Timeouts
	// Lost is why another workflow of this host ended without its word; the host then waits for a decision.
	// ControlPlane says whether the control plane is up already.
	Lost         string `json:",omitempty"`
	ControlPlane bool   `json:",omitempty"`
	// Continues is set when the cluster's workflow takes the place of another: the host continues where it stands.
	Continues bool `json:",omitempty"`
}

// HostState is where a host's workflow stands.
type HostState string

// The states of a host's workflow, as its cluster's workflow sees them.
const (
	HostPreparing HostState = "preparing"
	HostPrepared  HostState = "prepared"
	HostRunning   HostState = "running"
	HostWaiting   HostState = "waiting-for-decision"
	HostDone      HostState = "done"
	HostGone      HostState = "gone"
)

// HostNews is the signal of a host to its cluster's workflow: it reached a state.
type HostNews struct {
	HostID uuid.UUID
	State  HostState
	Reason string
	// Attempt is the attempt of the cluster's installation: a host of an earlier attempt, reset in Temporal's UI, must not speak for this
	// one. Zero is from a workflow that an earlier version began.
	Attempt int `json:",omitempty"`
}

// Phase is where a cluster's workflow stands.
type Phase string

// The phases of a cluster's workflow, in order; a command ends them early.
const (
	PhasePreparing  Phase = "preparing"
	PhaseInstalling Phase = "installing"
	PhaseFinalizing Phase = "finalizing"
	PhaseCancelling Phase = "cancelling"
	PhaseResetting  Phase = "resetting"
	PhaseDone       Phase = "done"
)

// ClusterState answers the state query of a cluster's workflow.
type ClusterState struct {
	Phase    Phase
	Paused   bool
	TimedOut bool // the phase waits for extend
	Hosts    map[uuid.UUID]HostNews
}

// HostView answers the state query of a host's workflow.
type HostView struct {
	State   HostState
	Stage   model.Stage
	Attempt int
	Reason  string
}

// clusterCommand is why a running installation was stopped.
type clusterCommand string

const (
	stopNone   clusterCommand = ""
	stopCancel clusterCommand = CommandCancel
	stopReset  clusterCommand = CommandReset
)
