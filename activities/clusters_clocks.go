package activities

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// AwaitUserNeeded returns when the cluster waits for its user.
func (a *Clusters) AwaitUserNeeded(ctx context.Context, r InstallRequest) error {
	row := pendingActivity(ctx, r.ClusterID, model.ActivityStatus, model.StatusReached)
	row.Awaited = []string{string(model.ClusterInstallingPendingUserAction)}
	_, err := arm(ctx, a.Store, row)
	return nonRetryable(err)
}

// FinalizingStage returns which stage the controller reported last (empty before the first one), how long ago, and how
// long the cluster's OLM operators may take.
func (a *Clusters) FinalizingStage(ctx context.Context, id uuid.UUID) (FinalizingStage, error) {
	at, err := finalizingStage(ctx, a.Store, id)
	return at, nonRetryable(err)
}

func finalizingStage(ctx context.Context, s *store.Store, id uuid.UUID) (FinalizingStage, error) {
	c, err := s.Cluster(ctx, id)
	if err != nil {
		return FinalizingStage{}, err
	}
	list, err := s.MonitoredOperators(ctx, id)
	if err != nil {
		return FinalizingStage{}, err
	}
	at := FinalizingStage{Stage: c.Progress.FinalizingStage, Operators: lifecycle.OperatorTimeout(list)}
	if started := c.Progress.FinalizingStageStartedAt; !started.IsZero() {
		at.Age = max(s.Now().Sub(started), 0)
	}
	return at, nil
}

// JudgeFinalizing decides whether a cluster fails whose finalizing stage took longer than its limit. Without a failure the stage was
// reported, once, and continues.
func (a *Clusters) JudgeFinalizing(ctx context.Context, r FinalizingClock) (StageVerdict, error) {
	var verdict StageVerdict
	err := transitions.UpdateAll(ctx, a.Store, r.ClusterID, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		verdict = StageVerdict{}
		if err := (InstallRequest{Attempt: r.Attempt}).sameAttempt(c); err != nil {
			return err
		}
		if c.Progress.FinalizingStage != r.Stage {
			return nil // it was left in this moment
		}
		facts := transitions.ClusterFacts(c, hosts, tx)
		facts.Timeouts.Soft, facts.Limit = r.Soft, r.Limit
		next, err := lifecycle.NextCluster(lifecycle.FinalizingStageTimeout, c.Status, facts)
		if err == nil && next.To == model.ClusterError {
			verdict.Failure = next.StatusInfo // the workflow stops the cluster with it
			return nil
		}
		_, err = lifecycle.ApplyCluster(c, lifecycle.FinalizingStageTimeout, facts, tx)
		return ifPossible(err)
	})
	return verdict, nonRetryable(err)
}

// ResumeInstallation returns a cluster that stopped at a time-out to where it was, and hosts that were marked with it to
// installed. The stage it is in gets its time once more.
func (a *Clusters) ResumeInstallation(ctx context.Context, r InstallRequest) error {
	return nonRetryable(transitions.UpdateAll(ctx, a.Store, r.ClusterID, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		if err := r.sameAttempt(c); err != nil {
			return err
		}
		awaited := c.DecisionOpen
		c.DecisionOpen = false
		if c.Status != model.ClusterError {
			return nil
		}
		for _, h := range hosts {
			if _, err := lifecycle.ApplyHost(h, lifecycle.ResumeHost, transitions.HostFacts(h, c, tx), tx); ifPossible(err) != nil {
				return err
			}
		}
		facts := transitions.ClusterFacts(c, hosts, tx)
		facts.AwaitingRetry = facts.AwaitingRetry || awaited
		_, err := lifecycle.ApplyCluster(c, lifecycle.ResumeCluster, facts, tx)
		return ifPossible(err)
	}))
}

// AwaitFinalizingStage waits until the controller reports a later stage than the given one, and returns that.
func (a *Steps) AwaitFinalizingStage(ctx context.Context, r FinalizingRequest) (FinalizingLeft, error) {
	row := pendingActivity(ctx, r.ClusterID, model.ActivityMilestone, string(model.MilestoneLeft(r.Stage)))
	_, err := a.arm(ctx, row)
	if err != nil && !errors.Is(err, activity.ErrResultPending) {
		return FinalizingLeft{}, err
	}
	at, serr := finalizingStage(ctx, a.Store, r.ClusterID)
	if serr != nil {
		return FinalizingLeft{}, nonRetryable(serr)
	}
	if err == nil {
		return FinalizingLeft{&at}, nil // it was reported before
	}
	if at.Stage == r.Stage {
		return FinalizingLeft{}, err // reports from now on find the row
	}
	return FinalizingLeft{&at}, a.Store.ActivityDone(ctx, row.ID)
}
