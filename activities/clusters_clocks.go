package activities

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"slipway/internal/model"
)

// userNeededEvery is how often AwaitUserNeeded looks.
const userNeededEvery = 5 * time.Second

// AwaitUserNeeded returns when the cluster waits for its user. It looks itself, because
// nothing else waits for it.
func (a *Clusters) AwaitUserNeeded(ctx context.Context, r InstallRequest) error {
	ticker := time.NewTicker(userNeededEvery)
	defer ticker.Stop()
	for {
		c, err := a.Store.Cluster(ctx, r.ClusterID)
		if err != nil {
			return nonRetryable(err)
		}
		if c.Status == model.ClusterInstallingPendingUserAction {
			return nil
		}
		activity.RecordHeartbeat(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// FinalizingStage says which stage the controller reported last, and how long ago.
func (a *Clusters) FinalizingStage(ctx context.Context, id uuid.UUID) (FinalizingStage, error) {
	stage, age, operators, err := a.Installation.FinalizingStage(ctx, id)
	return FinalizingStage{Stage: stage, Age: age, Operators: operators}, nonRetryable(err)
}

// JudgeFinalizing says what becomes of a cluster whose finalizing stage takes too long.
func (a *Clusters) JudgeFinalizing(ctx context.Context, r FinalizingClock) (StageVerdict, error) {
	failure, err := a.Installation.JudgeFinalizing(ctx, r.ClusterID, r.Stage, r.Limit, r.Soft)
	return StageVerdict{Failure: failure}, nonRetryable(err)
}

// ResumeInstallation takes a cluster that stopped at a time-out back to where it was.
func (a *Clusters) ResumeInstallation(ctx context.Context, r InstallRequest) error {
	return nonRetryable(a.Installation.Resume(ctx, r.ClusterID))
}

// JudgeStage says what becomes of a host whose stage takes too long.
func (a *Hosts) JudgeStage(ctx context.Context, r StageClock) (StageVerdict, error) {
	failure, again, err := a.Installation.JudgeStage(ctx, r.InfraEnvID, r.HostID, r.Limit, r.Soft)
	return StageVerdict{Failure: failure, Again: again}, nonRetryable(err)
}

// AwaitFinalizingStage waits until the controller reports a later stage than the given one.
func (a *Steps) AwaitFinalizingStage(ctx context.Context, r FinalizingRequest) (StepResult, error) {
	row := pendingActivity(ctx, r.ClusterID, model.ActivityMilestone, string(model.MilestoneLeft(r.Stage)))
	result, err := a.arm(ctx, row)
	if !errors.Is(err, activity.ErrResultPending) {
		return result, err
	}
	stage, _, _, serr := a.Installation.FinalizingStage(ctx, r.ClusterID)
	if serr != nil {
		return StepResult{}, nonRetryable(serr)
	}
	if stage == r.Stage {
		return result, err // reports from now on find the row
	}
	return StepResult{StepID: row.ID}, a.Store.ActivityDone(ctx, row.ID)
}
