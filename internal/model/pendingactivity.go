package model

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ActivityKind is the kind of event that completes a pending activity.
type ActivityKind string

// A step is run by an agent and completed by its reply; a stage is completed when the
// host reports it (or has passed it); a milestone is completed by a fact of the cluster; a status is completed when the
// host, or the cluster of a row without a host, has reached or left some statuses.
const (
	ActivityStep      ActivityKind = "step"
	ActivityStage     ActivityKind = "stage"
	ActivityMilestone ActivityKind = "milestone"
	ActivityStatus    ActivityKind = "status"
)

// The types of rows of kind ActivityStatus.
const (
	StatusReached = "reached" // one of the awaited statuses
	StatusLeft    = "left"    // all of them
)

// ActivityState is where a pending activity is between the workflow and the host.
type ActivityState string

// pending -> sent -> reported -> done; superseded when another run of the workflow,
// a cancel or a reset made it void.
const (
	ActivityPending    ActivityState = "pending"
	ActivitySent       ActivityState = "sent"
	ActivityReported   ActivityState = "reported"
	ActivityDone       ActivityState = "done"
	ActivitySuperseded ActivityState = "superseded"
)

// PendingActivity is the row of one activity: a result that a workflow waits for.
type PendingActivity struct {
	// ID is the step_id the agent sees: the type and eight hex digits made of the
	// workflow, run and activity ids, so that a retried activity keeps it.
	ID         string        `db:"id"`
	Kind       ActivityKind  `db:"kind"`
	State      ActivityState `db:"state"`
	ClusterID  uuid.UUID     `db:"cluster_id"`
	InfraEnvID *uuid.UUID    `db:"infra_env_id"`
	HostID     *uuid.UUID    `db:"host_id"` // nil for milestones, and statuses of clusters
	// Type is the step type, the stage, the milestone, StatusReached or StatusLeft.
	Type string `db:"type"`
	Args []string
	// Fence holds back a step; other kinds of rows have no fence.
	Fence Fence
	// Awaited are the statuses a row of kind ActivityStatus is about.
	Awaited []string `db:"awaited"`

	WorkflowID string `db:"workflow_id"`
	RunID      string `db:"run_id"`
	ActivityID string `db:"activity_id"`
	// TaskToken names the activity for earlier services on the same database. It is a number in the history of the workflow: another
	// activity after Temporal's tables were restored from a backup.
	TaskToken []byte `db:"task_token"`
	Attempt   int    `db:"attempt"`
	// HeartbeatEvery is the interval at which the service sends Temporal a heartbeat for the activity.
	HeartbeatEvery time.Duration

	// ExitCode, Output and Error are the reply; Output over 32 KiB is cut, the whole is in the blob store.
	ExitCode int    `db:"exit_code"`
	Output   string `db:"output"`
	Error    string `db:"error"`

	CreatedAt  time.Time `db:"created_at"`
	SentAt     time.Time `db:"sent_at"`
	ReportedAt time.Time `db:"reported_at"`
	DoneAt     time.Time `db:"done_at"`
}

// Fence holds the conditions of a step, checked when it is written and again each time it is handed out, so that an outdated workflow
// cannot reach a host that is past it.
type Fence struct {
	// Takes are the statuses of the host in which it takes the step; nil for rows of earlier versions: all.
	Takes HostStatuses
	// ClusterAttempt is the attempt of the cluster (InstallAttempt), HostAttempt the host's (WorkflowAttempt), for which the step is
	// commanded; zero when the step belongs to none.
	ClusterAttempt, HostAttempt int
	// HostTry counts the tries of the host in that attempt (Attempt). It holds no step back: a workflow that was begun again takes over
	// the steps that its predecessor commanded in the same try. Zero is no try: checks before it, and rows of earlier versions.
	HostTry int
	// Boot is the boot of the host for which the step is commanded; empty when any will do.
	Boot string
}

// Open reports whether the pending activity still waits for its host.
func (i *PendingActivity) Open() bool {
	return i.State == ActivityPending || i.State == ActivitySent
}

// Reached reports whether a status ends the wait of a row of kind ActivityStatus.
func (i *PendingActivity) Reached(status string) bool {
	return (i.Type == StatusLeft) != slices.Contains(i.Awaited, status)
}

// Milestone is a fact of a cluster that its workflow waits for.
type Milestone string

// The milestones of finalizing, in order.
const (
	MilestoneOperatorsAvailable Milestone = "operators-available"
	MilestoneIngressCertificate Milestone = "ingress-certificate"
	MilestoneCompletion         Milestone = "completion"
)

// MilestoneLeft returns the milestone that is reached when the controller reports a later finalizing stage than the given one; the
// empty stage comes before the first report.
func MilestoneLeft(stage FinalizingStage) Milestone { return Milestone(leftPrefix + string(stage)) }

// IsLeft reports whether a milestone was made by MilestoneLeft.
func (m Milestone) IsLeft() bool { return strings.HasPrefix(string(m), leftPrefix) }

const leftPrefix = "left "
