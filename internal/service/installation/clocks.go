package installation

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

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
	operators = lifecycle.OperatorTimeout(list)
	if started := c.Progress.FinalizingStageStartedAt; !started.IsZero() {
		age = max(s.store.Now().Sub(started), 0)
	}
	return c.Progress.FinalizingStage, age, operators, nil
}

// JudgeFinalizing says what becomes of a cluster whose finalizing stage took longer than
// its limit. The failure is why the cluster stops; when it is empty the stage was reported,
// once, and goes on.
func (s *Service) JudgeFinalizing(ctx context.Context, id uuid.UUID, stage model.FinalizingStage, limit time.Duration, soft bool) (failure string, err error) {
	err = s.update(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		failure = ""
		if c.Progress.FinalizingStage != stage {
			return nil // it was left in this moment
		}
		facts := clusterFacts(c, hosts, tx)
		facts.Timeouts.Soft, facts.Limit = soft, limit
		next, err := lifecycle.NextCluster(lifecycle.FinalizingStageTimeout, c.Status, facts)
		if err == nil && next.To == model.ClusterError {
			failure = next.StatusInfo // the workflow stops the cluster with it
			return nil
		}
		_, err = lifecycle.ApplyCluster(c, lifecycle.FinalizingStageTimeout, facts, tx)
		return ifPossible(err)
	})
	return failure, err
}

// JudgeStage says what becomes of a host that has been in its stage for longer than its
// limit: failure is why it stops, again says that it gets its time once more; else it was
// reported, once, and goes on.
func (s *Service) JudgeStage(ctx context.Context, infraEnvID, id uuid.UUID, limit time.Duration, soft bool) (failure string, again bool, err error) {
	h, err := s.store.Host(ctx, infraEnvID, id)
	if err != nil {
		return "", false, err
	}
	var c *model.Cluster
	if h.ClusterID != nil {
		if c, err = s.store.Cluster(ctx, *h.ClusterID); err != nil {
			return "", false, err
		}
	}
	err = s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		failure, again = "", false
		if h.Status == model.HostError {
			failure = h.StatusInfo
			return nil
		}
		facts := hostFacts(h, c, tx)
		facts.Timeouts.Soft, facts.Limit = soft, limit
		next, err := lifecycle.NextHost(lifecycle.StageTimedOut, h.Status, facts)
		switch {
		case err != nil:
			failure = fmt.Sprintf("the host is %s", h.Status)
			return nil //nolint:nilerr // it left the installation, and its workflow ends
		case next.To == model.HostError:
			failure = next.StatusInfo // the workflow stops the host with it
			return nil
		}
		again = next.Effect == lifecycle.EffectStageClockRestarted
		_, err = lifecycle.ApplyHost(h, lifecycle.StageTimedOut, facts, tx)
		return err
	})
	return failure, again, err
}

// Resume returns a cluster that stopped at a time-out to where it was, and hosts that
// were marked with it to installed. The stage it is in gets its time once more.
func (s *Service) Resume(ctx context.Context, id uuid.UUID) error {
	return s.update(ctx, id, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		awaited := c.DecisionOpen
		c.DecisionOpen = false
		if c.Status != model.ClusterError {
			return nil
		}
		for _, h := range hosts {
			if _, err := lifecycle.ApplyHost(h, lifecycle.ResumeHost, hostFacts(h, c, tx), tx); ifPossible(err) != nil {
				return err
			}
		}
		facts := clusterFacts(c, hosts, tx)
		facts.AwaitingRetry = facts.AwaitingRetry || awaited
		_, err := lifecycle.ApplyCluster(c, lifecycle.ResumeCluster, facts, tx)
		return ifPossible(err)
	})
}
