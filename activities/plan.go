// Package activities does the work workflows decide on: it reads and writes the
// database, runs the installer, and hands steps to hosts. Structs are named by noun
// and hold their dependencies; every activity may run twice for one decision.
package activities

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

// InstallRequest names one attempt to install a cluster.
type InstallRequest struct {
	ClusterID uuid.UUID
	Attempt   int
	// Paused is set when the workflow replaces a paused one.
	Paused bool `json:",omitempty"`
}

// ResetTarget names the attempt that is reset. In histories of earlier versions it is the id of the cluster alone: then
// Attempt is zero, and whichever attempt is the present one is reset.
type ResetTarget struct {
	ClusterID uuid.UUID
	Attempt   int
}

// UnmarshalJSON reads both forms.
func (r *ResetTarget) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &r.ClusterID) == nil {
		return nil
	}
	type target ResetTarget
	return json.Unmarshal(data, (*target)(r))
}

// Plan is an installation frozen at its start: what the workflow orders by. It holds
// no secrets.
type Plan struct {
	ClusterID  uuid.UUID
	Name       string `json:",omitempty"` // of the cluster
	Version    string `json:",omitempty"` // of OpenShift
	Attempt    int
	SingleNode bool
	Hosts      []HostPlan // the bootstrap host first, then masters and workers, each by name
	Timeouts   Timeouts
	// Continues is set when the attempt is past its preparation: the workflow before this one was ended or reset in
	// Temporal. Age is how long ago the installation began, and Stalled why it is stopped at a time-out, if it is.
	Continues bool          `json:",omitempty"`
	Age       time.Duration `json:",omitempty"`
	Stalled   string        `json:",omitempty"`
}

// HostPlan is one host of a plan.
type HostPlan struct {
	ID         uuid.UUID
	InfraEnvID uuid.UUID
	Name       string
	Role       model.Role
	Bootstrap  bool
	AgentSteps model.AgentSteps `json:"Dialect"`
}

// Timeouts are the limits a workflow keeps, frozen with the plan.
type Timeouts struct {
	lifecycle.Timeouts
	// Decision is how long a failed host or cluster waits for a command; 0: it does not.
	Decision time.Duration `json:"decision"`
	// Heartbeat is how long a pending activity may be open without a heartbeat.
	Heartbeat time.Duration `json:"heartbeat"`
}

// decision is Decision for a cluster that waits where the service does not: the default of --decision-timeout.
const decision = 24 * time.Hour

// of returns the time-outs of an installation of a cluster, by its failure policy.
func (t Timeouts) of(c *model.Cluster) Timeouts {
	t.Timeouts = t.Of(c)
	switch c.OnFailure {
	case model.OnFailureFail:
		t.Decision = 0
	case model.OnFailureWait:
		t.Decision = cmp.Or(t.Decision, decision)
	}
	return t
}

// HostRef names a host in the arguments of activities, and the attempt for which its workflow acts: a workflow of an earlier attempt
// changes and commands nothing.
type HostRef struct {
	ClusterID  uuid.UUID
	InfraEnvID uuid.UUID
	HostID     uuid.UUID
	// ClusterAttempt is the attempt of the cluster's installation, HostAttempt the attempt of a host that is added or reclaimed alone.
	// Both are zero in workflows that an earlier version began.
	ClusterAttempt int `json:",omitempty"`
	HostAttempt    int `json:",omitempty"`
}

// StepRequest asks a host to run one step.
type StepRequest struct {
	HostRef
	Type string // a wire.StepType
	// Stage is the stage the host shows while the step runs; empty leaves it as it is.
	Stage model.Stage
}

// StepResult is how a step ended.
type StepResult struct {
	StepID string
	// Skipped is set when there was nothing to ask, such as a disk tested already.
	Skipped bool
}

// StageRequest waits for a host to reach a stage or a later one.
type StageRequest struct {
	HostRef
	Stage model.Stage
}

// MilestoneRequest waits for a fact of the cluster.
type MilestoneRequest struct {
	ClusterID uuid.UUID
	Milestone model.Milestone
}

// HostFailure says why a host's installation stopped.
type HostFailure struct {
	HostRef
	Reason string
	// LeftLiveImage is set when the machine is no longer in the live image, so that a new
	// attempt needs the user to boot it there.
	LeftLiveImage bool
}

// PreparationOutcome is the outcome of a cluster's preparation.
type PreparationOutcome struct {
	Ready  bool
	Reason string // why not
}

// Review is the state of an installation after its rules ran again.
type Review struct {
	Status model.ClusterStatus
}

// ResetPlan lists the hosts whose agents have to stop first.
type ResetPlan struct {
	Stop []HostRef
}

// Failure types an activity can end with; workflows branch on them.
const (
	FailureStep        = "StepFailed"      // the host ran the step and it failed
	FailureInterrupted = "StepInterrupted" // the host does not know how far the step came
	FailureRefused     = "Refused"         // the state of the cluster or host does not allow it
	FailureConflict    = "StillConflict"   // as FailureRefused, and trying again for a while did not help
	FailureSuperseded  = "Superseded"      // the attempt is over: its workflow has nothing left to do
	FailureCopied      = "Copied"          // the workflow is a copy of another one: it was started in Temporal
)

// ClusterFailure says why a cluster's installation stopped.
type ClusterFailure struct {
	ClusterID uuid.UUID
	Attempt   int `json:",omitempty"` // zero in workflows that an earlier version began
	Reason    string
	// Waiting is set when the workflow waits for a command: the hosts keep their states.
	Waiting bool
}

// PreparationConclusion is the workflow's side of how a preparation went.
type PreparationConclusion struct {
	InstallRequest
	Outcome PreparationOutcome
}

// AttemptRequest begins an attempt of a host.
type AttemptRequest struct {
	HostRef
	Attempt   int
	FromStart bool // false: only the failed stage is done again
}

// RetryRequest prepares a failed host for another attempt.
type RetryRequest struct {
	HostRef
	LeftLiveImage bool
}

// HostStanding is how far the installation of a host is.
type HostStanding struct {
	Attempt   int
	Stage     model.Stage
	Installed bool
	Failed    string // why it waits for a decision
	GivenUp   bool   // it failed, and waits for none
	Elsewhere bool   // it is to be booted from the live image, to be installed again
}

// AddRequest names one attempt to install a host into a cluster that exists. A reset
// names the one it ends.
type AddRequest struct {
	HostRef
	Attempt int
	// Lost is why the workflow of this attempt before this one ended without its word.
	Lost string `json:",omitempty"`
}

// AddPlan is such an attempt frozen at its start.
type AddPlan struct {
	Host     HostPlan
	Timeouts Timeouts
}

// ReclaimRequest names one attempt to return a host to its InfraEnv.
// ClusterID is the cluster it was in.
type ReclaimRequest struct {
	HostRef
	Attempt int
}

// ReclaimPlan is such an attempt frozen at its start.
type ReclaimPlan struct {
	Timeouts Timeouts
}

// ReclaimFailure says why an attempt to return a host stopped.
type ReclaimFailure struct {
	ReclaimRequest
	Reason string
}

// StageClock says that a host has been in a stage for as long as it may.
type StageClock struct {
	HostRef
	Limit time.Duration
	Soft  bool
}

// StageVerdict is the decision of the rules for a stage that takes too long: Failure ends it, Again gives it its time once more,
// without both it continues without a limit.
type StageVerdict struct {
	Failure string
	Again   bool
}

// FinalizingStage is where a cluster is in its finalizing.
type FinalizingStage struct {
	Stage     model.FinalizingStage // empty before the first one was reported
	Age       time.Duration
	Operators time.Duration // the longest time-out of its OLM operators
}

// FinalizingLeft is how the wait for the end of a finalizing stage ended.
type FinalizingLeft struct {
	// Next is where the cluster is now; nil from a program that did not say.
	Next *FinalizingStage `json:",omitempty"`
}

// FinalizingClock says that a cluster has been in a stage for as long as it may.
type FinalizingClock struct {
	ClusterID uuid.UUID
	Attempt   int // zero in workflows that an earlier version began
	Stage     model.FinalizingStage
	Limit     time.Duration
	Soft      bool
}

// FinalizingRequest waits for a cluster to leave a finalizing stage.
type FinalizingRequest struct {
	ClusterID uuid.UUID
	Stage     model.FinalizingStage
}
