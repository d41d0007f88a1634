package installation

import (
	"context"
	"time"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// FinalizingStage says which stage the controller reported last (empty before the first
// one), how long ago, and how long the cluster's OLM operators may take.
func (s *Service) FinalizingStage(ctx context.Context, id uuid.UUID) (stage model.FinalizingStage, age, operators time.Duration, err error) {
	c, err := s.store.Cluster(ctx, id)
	if err != nil {
		return "", 0, 0, err
	}
	list, err := s.store.MonitoredOperators(ctx, id)
	if err != nil {
		return "", 0, 0, err
	}
	for _, o := range list {
		if o.Type == lifecycle.OperatorTypeOLM {
			operators = max(operators, o.Timeout)
		}
	}
	if started := c.Progress.FinalizingStageStartedAt; !started.IsZero() {
		age = max(s.store.Now().Sub(started), 0)
	}
	return c.Progress.FinalizingStage, age, operators, nil
}

// JudgeFinalizing evaluates rows 18 and 19 of the cluster table for a stage that took
// longer than its limit. The failure is why the cluster stops; when it is empty the stage
// was reported, once, and goes on.
func (s *Service) JudgeFinalizing(ctx context.Context, id uuid.UUID, stage model.FinalizingStage, limit time.Duration, soft bool) (failure string, err error) {
	err = s.update(ctx, id, func(c *model.Cluster, _ []*model.Host, tx *store.Tx) error {
		failure = ""
		if c.Progress.FinalizingStage != stage {
			return nil // it was left in this moment
		}
		next, err := lifecycle.NextCluster(lifecycle.RefreshCluster, model.ClusterFinalizing, lifecycle.ClusterFacts{
			Now: tx.Now(), Timeouts: lifecycle.Timeouts{Soft: soft, OtherFinalizing: limit, Installation: limit, Finalizing: limit},
			FinalizingStage: stage, FinalizingStageSince: tx.Now().Add(-limit - time.Second),
			FinalizingStageTimedOut: c.Progress.FinalizingStageTimedOut,
		})
		if err != nil {
			return err
		}
		if next.To == model.ClusterError {
			failure = next.StatusInfo
		}
		if next.Effect == lifecycle.EffectStageTimedOut {
			c.Progress.FinalizingStageTimedOut = true
			tx.Event(events.New(events.FinalizingStageTimedOut, about(c), events.Props{
				"stage": string(stage), "minutes": int64(limit / time.Minute),
			}, tx.Now()))
		}
		return nil
	})
	return failure, err
}

// JudgeStage evaluates rows 49 to 56 of the host table for a host that has been in its
// stage for longer than its limit: failure is why it stops, again says that it gets its
// time once more; else it was reported, once, and goes on.
func (s *Service) JudgeStage(ctx context.Context, infraEnvID, id uuid.UUID, limit time.Duration, soft bool) (failure string, again bool, err error) {
	h, err := s.store.Host(ctx, infraEnvID, id)
	if err != nil {
		return "", false, err
	}
	status := model.ClusterStatus("")
	if h.ClusterID != nil {
		c, err := s.store.Cluster(ctx, *h.ClusterID)
		if err != nil {
			return "", false, err
		}
		status = c.Status
	}
	err = s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		failure, again = "", false
		if h.Status == model.HostError {
			failure = h.StatusInfo
			return nil
		}
		facts := lifecycle.HostFacts{
			Now: tx.Now(), Timeouts: lifecycle.Timeouts{Soft: soft, OtherStages: limit, SingleNodeReboot: limit},
			DayTwo: h.DayTwo(), Role: h.Role, Stage: h.Stage, StageSince: tx.Now().Add(-limit - time.Second),
			Conditions: lifecycle.HostConditionsOf(nil), StageTimedOut: h.Progress.StageTimedOut, ClusterStatus: status,
			AwaitingRetry: status == model.ClusterError,
		}
		next, err := lifecycle.NextHost(lifecycle.RefreshHost, model.HostInstallingInProgress, facts)
		if err != nil {
			return err
		}
		switch {
		case next.Effect == lifecycle.EffectStageClockRestarted:
			again, h.Progress.StageUpdatedAt = true, tx.Now()
		case next.Effect == lifecycle.EffectStageTimedOut:
			h.Progress.StageTimedOut = true
			setHost(tx, h, h.Status, next.StatusInfo)
			tx.Event(events.New(events.HostStageTimedOut, aboutHost(h), events.Props{
				"stage": string(h.Stage), "minutes": int64(limit / time.Minute),
			}, tx.Now()))
		case next.To != model.HostInstallingInProgress:
			failure = next.StatusInfo
		}
		return nil
	})
	return failure, again, err
}

// Resume takes a cluster that stopped at a time-out back to where it was, and hosts that
// were marked with it back to installed. The stage it is in gets its time once more.
func (s *Service) Resume(ctx context.Context, id uuid.UUID) error {
	return s.update(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		c.DecisionOpen = false
		if c.Status != model.ClusterError {
			return nil
		}
		for _, h := range hosts {
			if h.Status == model.HostError && h.Stage == model.StageDone {
				setHost(tx, h, model.HostInstalled, "Host is installed")
			}
		}
		if !lifecycle.Finalizable(c, hosts) {
			setCluster(tx, c, model.ClusterInstalling, "The installation goes on")
			return nil
		}
		if c.Completion != nil && !c.Completion.Success {
			c.Completion = nil // the controller reports again
		}
		c.Progress.FinalizingStageTimedOut = false
		if !c.Progress.FinalizingStageStartedAt.IsZero() {
			c.Progress.FinalizingStageStartedAt = tx.Now()
		}
		setCluster(tx, c, model.ClusterFinalizing, "Finalizing goes on")
		return nil
	})
}
