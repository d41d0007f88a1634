package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/cluster/steps"
	"slipway/internal/wire"
)

// TaskQueue is where workflows and activities wait for workers.
const TaskQueue = "slipway"

// Search attributes, created with the namespace; Phase changes with the phase only. Those for people are in view.go.
var (
	AttributeClusterID = temporal.NewSearchAttributeKeyKeyword("ClusterID")
	AttributeHostID    = temporal.NewSearchAttributeKeyKeyword("HostID")
	AttributePhase     = temporal.NewSearchAttributeKeyKeyword("Phase")
)

// retryForever suits activities that only fail while something they need is down;
// refusals are final at once.
var retryForever = &temporal.RetryPolicy{
	InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second,
	NonRetryableErrorTypes: []string{activities.FailureRefused, activities.FailureStep, activities.FailureInterrupted},
}

// endless is the limit of work that is bounded from outside: by a soft time-out, a clock of the whole installation, or a command.
const endless = 10 * 365 * 24 * time.Hour

// record runs a short write to the database and waits for its result; result may be nil.
func record(ctx workflow.Context, summary string, activity, request, result any) error {
	return workflow.ExecuteActivity(withRecordOptions(ctx, summary), activity, request).Get(ctx, result)
}

// withRecordOptions sets the options of short writes to the database.
func withRecordOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, RetryPolicy: retryForever, Summary: summary,
	})
}

// withInstallerOptions sets the options of the installer, which may load a large release first. A failure of the installer itself is
// final; the user has to change something.
func withInstallerOptions(ctx workflow.Context, t activities.Timeouts, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: t.PrepareCluster, StartToCloseTimeout: t.PrepareCluster, HeartbeatTimeout: 30 * time.Second,
		RetryPolicy: retryForever, Summary: summary,
	})
}

// withStepOnceOptions sets the options of steps that write to a disk. A failure of the service itself, such as a database that is away,
// is tried again under the same step id, which a host runs once only; a time-out is not tried again: the workflow decides.
func withStepOnceOptions(ctx workflow.Context, limit, heartbeat time.Duration, what label) workflow.Context {
	once := *retryForever
	once.NonRetryableErrorTypes = slices.Concat(retryForever.NonRetryableErrorTypes, []string{
		// Names of time-outs in the server's retry policy (go.temporal.io/server/common/retrypolicy).
		"TemporalTimeout:Heartbeat", "TemporalTimeout:StartToClose",
	})
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: limit, StartToCloseTimeout: limit, HeartbeatTimeout: heartbeat, RetryPolicy: &once,
		ActivityID: what.id(), Summary: what.summary(),
	})
}

// withStepOptions sets the options of steps that may be asked again: the step id stays the same, so that a host which has run it
// answers from memory.
func withStepOptions(ctx workflow.Context, limit, heartbeat time.Duration, what label) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: limit, StartToCloseTimeout: limit, HeartbeatTimeout: heartbeat, RetryPolicy: retryForever,
		ActivityID: what.id(), Summary: what.summary(),
	})
}

// withHousekeepingOptions sets the options of housekeeping batches: a failed batch is tried a few times, and left to the next run of
// its schedule.
func withHousekeepingOptions(ctx workflow.Context, summary string) workflow.Context {
	patient := *retryForever
	patient.MaximumAttempts = 10
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute, HeartbeatTimeout: time.Minute, RetryPolicy: &patient, Summary: summary,
	})
}

// label names an activity that waits for a host or a cluster. Its text is the activity's
// id in the history, so that a replay detects a changed order: it compares ids, not
// arguments.
type label struct {
	text   string
	number int // counts the labels of a workflow: ids are unique
}

// summary returns the label for people: for a step what it does on the host.
func (l label) summary() string {
	if step, ok := steps.Of(wire.StepType(l.text)); ok {
		return l.text + ": " + step.Does
	}
	return l.text
}

func (l label) id() string {
	return fmt.Sprintf("%s %d", l.text, l.number)
}
