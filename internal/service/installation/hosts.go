package installation

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// BeginAttempt puts a host to work, from the start or from the stage that failed.
func (s *Service) BeginAttempt(ctx context.Context, infraEnvID, id uuid.UUID, attempt int, fromStart bool) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if h.Attempt == attempt && !h.DecisionOpen {
			return nil // this ran already
		}
		event := lifecycle.BeginAttempt
		if !fromStart {
			event = lifecycle.RepeatStage
		}
		facts := hostFacts(h, nil, tx)
		facts.Attempt = attempt
		_, err := lifecycle.ApplyHost(h, event, facts, tx)
		return err
	})
}

// Fail marks a host as failed while its workflow waits for a decision. One that has left
// its cluster stays what it is.
func (s *Service) Fail(ctx context.Context, infraEnvID, id uuid.UUID, why string) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if h.ClusterID == nil {
			return nil
		}
		facts := hostFacts(h, nil, tx)
		facts.Reason = why
		if _, err := lifecycle.ApplyHost(h, lifecycle.FailHost, facts, tx); err != nil {
			return ifPossible(err)
		}
		tx.SupersedeHost(h)
		return nil
	})
}

// GiveUp ends the wait for a decision: the host stays failed, and the cluster is
// judged without it. Done again, or for a host that has left its cluster, it does nothing.
func (s *Service) GiveUp(ctx context.Context, infraEnvID, id uuid.UUID) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if !h.DecisionOpen {
			return nil
		}
		tx.SupersedeHost(h)
		_, err := lifecycle.ApplyHost(h, lifecycle.GiveUpHost, hostFacts(h, nil, tx), tx)
		return ifPossible(err)
	})
}

// AwaitLiveImage asks the user to boot a host from the discovery image again.
func (s *Service) AwaitLiveImage(ctx context.Context, infraEnvID, id uuid.UUID) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		_, err := lifecycle.ApplyHost(h, lifecycle.RetryHost, hostFacts(h, nil, tx), tx)
		return ifPossible(err)
	})
}

// RebootTimedOut tells the user that a host does not come up from its disk.
func (s *Service) RebootTimedOut(ctx context.Context, infraEnvID, id uuid.UUID) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		_, err := lifecycle.ApplyHost(h, lifecycle.RebootTimedOut, hostFacts(h, nil, tx), tx)
		return ifPossible(err)
	})
}

func (s *Service) updateHost(ctx context.Context, infraEnvID, id uuid.UUID, fn func(*model.Host, *store.Tx) error) error {
	_, err := s.store.UpdateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if err := fn(h, tx); err != nil {
			return err
		}
		tx.Refresh(h.ClusterID, h.InfraEnvID)
		return nil
	})
	return err
}
