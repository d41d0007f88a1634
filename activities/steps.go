package activities

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/reports"
	"slipway/internal/wire"
)

// Steps hands steps to hosts and waits for what they report. Its activities end with
// ErrResultPending: the result comes from outside, when their row of pending_activities
// is reported.
type Steps struct {
	Store    *store.Store
	Reports  reports.Clusters
	Progress Progress
	Builder  ArgsBuilder
}

// ArgsBuilder makes the arguments of a step from the present state of a host; the cluster is nil for a host that has left it. It
// returns nil arguments when there is nothing to ask.
type ArgsBuilder interface {
	StepArgs(ctx context.Context, stepType string, c *model.Cluster, h *model.Host) ([]string, error)
}

// RunStep asks a host to run a step, and shows the stage it belongs to. The step's id
// is made of the workflow, run and activity ids, so that a second try of this activity
// asks for the same step and the host answers from memory.
func (a *Steps) RunStep(ctx context.Context, r StepRequest) (StepResult, error) {
	h, err := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
	if err != nil {
		return StepResult{}, nonRetryable(err)
	}
	if !commands(r.ClusterID, h) {
		return StepResult{}, temporal.NewNonRetryableApplicationError("the host has left the cluster", FailureRefused, nil)
	}
	row, _ := steps.Of(wire.StepType(r.Type))
	if h.Status == model.HostError || row.Check && h.Status == model.HostPreparingFailed {
		return StepResult{}, temporal.NewNonRetryableApplicationError(h.StatusInfo, FailureStep, nil)
	}
	var c *model.Cluster
	if h.ClusterID != nil {
		if c, err = a.Store.Cluster(ctx, *h.ClusterID); err != nil {
			return StepResult{}, nonRetryable(err)
		}
	}
	if err := r.sameInstallation(c, h); err != nil {
		return StepResult{}, err
	}
	if passed(c, h, r.Stage) {
		return StepResult{Skipped: true}, nil
	}
	if r.Stage != "" {
		if err := a.Progress.WorkflowStage(ctx, r.InfraEnvID, r.HostID, r.Stage, r.sameInstallation); err != nil {
			return StepResult{}, nonRetryable(err)
		}
	}
	args, err := a.Builder.StepArgs(ctx, r.Type, c, h)
	if err != nil {
		return StepResult{}, nonRetryable(err)
	}
	if args == nil {
		return StepResult{Skipped: true}, nil
	}
	if beginsBootstrap(wire.StepType(r.Type), c, h) {
		if err := a.noteBootstrap(ctx, r.HostRef); err != nil {
			return StepResult{}, nonRetryable(err)
		}
	}
	pending := pendingActivity(ctx, r.ClusterID, model.ActivityStep, r.Type)
	pending.InfraEnvID, pending.HostID, pending.Args = &r.InfraEnvID, &r.HostID, args
	pending.Fence = r.fence(wire.StepType(r.Type), h)
	before := h
	return a.await(ctx, pending, r.HostRef, func(c *model.Cluster, h *model.Host) (bool, error) {
		if passed(c, h, r.Stage) {
			return true, nil
		}
		return a.answeredEarly(ctx, wire.StepType(r.Type), c, before, h)
	})
}

// reached reports whether the host already has what an activity waits for, or why it failed.
type reached func(*model.Cluster, *model.Host) (bool, error)

// await arms a wait for a host. Earlier reports of the host found no row to end: reached finds them, and a failure, in the host's
// state.
func (a *Steps) await(ctx context.Context, row model.PendingActivity, r HostRef, reached reached) (StepResult, error) {
	result, err := a.arm(ctx, row)
	if !errors.Is(err, activity.ErrResultPending) {
		return result, err
	}
	h, herr := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
	if herr != nil {
		return StepResult{}, nonRetryable(herr)
	}
	var c *model.Cluster
	if h.ClusterID != nil {
		if c, herr = a.Store.Cluster(ctx, *h.ClusterID); herr != nil {
			return StepResult{}, nonRetryable(herr)
		}
	}
	var is bool
	var failure error
	switch {
	case h.Status == model.HostError:
		failure = temporal.NewNonRetryableApplicationError(h.StatusInfo, FailureStep, nil)
	case c != nil:
		is, failure = reached(c, h)
	}
	if !is && failure == nil {
		return result, err // reports from now on find the row
	}
	result, err = StepResult{StepID: row.ID}, failure
	if derr := a.Store.ActivityDone(ctx, row.ID); derr != nil {
		return StepResult{}, derr
	}
	return result, err
}

// commands reports whether workflows of a cluster may still command a host: one that
// belongs to it, or is on its way back from it.
func commands(clusterID uuid.UUID, h *model.Host) bool {
	if h.ClusterID == nil {
		return lifecycle.Reclaimed.Has(h.Status)
	}
	return *h.ClusterID == clusterID
}

// AwaitStage waits until a host has reported a stage or a later one. It fails with FailureStep for a host that has failed.
func (a *Steps) AwaitStage(ctx context.Context, r StageRequest) (StepResult, error) {
	row := pendingActivity(ctx, r.ClusterID, model.ActivityStage, string(r.Stage))
	row.InfraEnvID, row.HostID = &r.InfraEnvID, &r.HostID
	return a.await(ctx, row, r.HostRef, func(c *model.Cluster, h *model.Host) (bool, error) {
		stages := steps.StagesFor(h.EffectiveRole(), h.Bootstrap, c.SingleNode())
		at, want := slices.Index(stages, h.Stage), slices.Index(stages, r.Stage)
		return at >= 0 && at >= want, nil
	})
}

// AwaitMilestone waits for a fact of the cluster.
func (a *Steps) AwaitMilestone(ctx context.Context, r MilestoneRequest) (StepResult, error) {
	row := pendingActivity(ctx, r.ClusterID, model.ActivityMilestone, string(r.Milestone))
	result, err := a.arm(ctx, row)
	if !errors.Is(err, activity.ErrResultPending) {
		return result, err
	}
	if cerr := a.Reports.CheckMilestones(ctx, r.ClusterID); cerr != nil {
		return StepResult{}, nonRetryable(cerr)
	}
	return result, err
}

// WasSent reports whether the newest step of a type was handed to the host. A step that was not handed out is made void: a host that
// comes back meanwhile must not take it beside the next step.
func (a *Steps) WasSent(ctx context.Context, r StepRequest) (bool, error) {
	info := activity.GetInfo(ctx)
	sent, err := a.Store.VoidUnsent(ctx, info.WorkflowExecution.ID, info.WorkflowExecution.RunID, r.Type)
	if errors.Is(err, model.ErrNotFound) {
		return false, nil // the service was killed before it wrote the row; a row that a restore has lost looks the same
	}
	return sent, err
}

// awaitHost waits until a host has reached or left some statuses. No slot of the worker is held meanwhile, however many
// hosts wait and however long.
func awaitHost(ctx context.Context, s *store.Store, r HostRef, how string, statuses model.HostStatuses) error {
	row := pendingActivity(ctx, r.ClusterID, model.ActivityStatus, how)
	row.InfraEnvID, row.HostID = &r.InfraEnvID, &r.HostID
	for _, status := range statuses {
		row.Awaited = append(row.Awaited, string(status))
	}
	_, err := arm(ctx, s, row)
	return nonRetryable(err)
}

func (a *Steps) arm(ctx context.Context, row model.PendingActivity) (StepResult, error) {
	return arm(ctx, a.Store, row)
}

// arm writes the row; a row that was reported before gives its result at once.
func arm(ctx context.Context, s *store.Store, row model.PendingActivity) (StepResult, error) {
	now, err := s.ArmActivity(ctx, row)
	if err != nil {
		return StepResult{}, nonRetryable(fenced(err))
	}
	switch now.State {
	case model.ActivityReported, model.ActivityDone:
		if err := s.ActivityDone(ctx, now.ID); err != nil {
			return StepResult{}, err
		}
		return Outcome(now)
	case model.ActivitySuperseded:
		return StepResult{}, temporal.NewNonRetryableApplicationError("the step was called off", FailureRefused, nil)
	}
	return StepResult{}, activity.ErrResultPending
}

// Result returns what a reported activity returns to its workflow: its result, of the type that the activity has, or its failure. The
// error is the database's.
func Result(ctx context.Context, s *store.Store, i model.PendingActivity) (result any, failure, err error) {
	outcome, failure := Outcome(i)
	switch {
	case i.Kind == model.ActivityStatus:
		return nil, failure, nil
	case failure == nil && i.Kind == model.ActivityMilestone && model.Milestone(i.Type).IsLeft():
		at, err := finalizingStage(ctx, s, i.ClusterID)
		if errors.Is(err, model.ErrNotFound) {
			return FinalizingLeft{}, nil, nil // the cluster was deleted
		}
		return FinalizingLeft{&at}, nil, err
	}
	return outcome, failure, nil
}

// Outcome returns the result of a reported activity: a failure carries the host's own words and one of the failure types.
func Outcome(i model.PendingActivity) (StepResult, error) {
	if i.ExitCode == 0 {
		return StepResult{StepID: i.ID}, nil
	}
	kind := FailureStep
	if i.ExitCode == wire.ExitInterrupted {
		kind = FailureInterrupted
	}
	text := i.Error
	if text == "" {
		text = fmt.Sprintf("%s ended with exit code %d", i.Type, i.ExitCode)
	}
	return StepResult{StepID: i.ID}, temporal.NewNonRetryableApplicationError(text, kind, nil)
}

// pendingActivity makes the row of the running activity.
func pendingActivity(ctx context.Context, cluster uuid.UUID, kind model.ActivityKind, what string) model.PendingActivity {
	info := activity.GetInfo(ctx)
	return model.PendingActivity{
		ID: stepID(kind, what, info), Kind: kind, ClusterID: cluster, Type: what,
		WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID, ActivityID: info.ActivityID,
		TaskToken: info.TaskToken, Attempt: int(info.Attempt), HeartbeatEvery: info.HeartbeatTimeout / 3,
	}
}

// stepID makes the type and eight hex digits of a digest (docs/reference/step-rules.md, "Step ids"), the same for every attempt of an
// activity.
func stepID(kind model.ActivityKind, what string, info activity.Info) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%s/%s", info.WorkflowExecution.ID, info.WorkflowExecution.RunID, info.ActivityID, kind))
	if kind != model.ActivityStep {
		return fmt.Sprintf("%s-%s-%x", kind, what, sum[:8])
	}
	return fmt.Sprintf("%s-%x", what, sum[:4])
}
