package installation

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// BeginAttempt puts a host to work, from the start or from the stage that failed.
func (s *Service) BeginAttempt(ctx context.Context, infraEnvID, id uuid.UUID, attempt int, fromStart bool) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if h.Attempt == attempt && !h.DecisionOpen {
			return nil // this ran already
		}
		h.Attempt, h.DecisionOpen = attempt, false
		if fromStart {
			h.Stage, h.Progress = "", model.HostProgress{}
		}
		status, info := model.HostInstalling, "Installation is starting"
		if !fromStart {
			status, info = model.HostInstallingInProgress, "The failed stage is tried again"
		} else if attempt > 1 {
			info = "The installation of this host is tried again"
		}
		setHost(tx, h, status, info)
		return nil
	})
}

// Fail marks a host as failed while its workflow waits for a decision. One that has left
// its cluster stays what it is.
func (s *Service) Fail(ctx context.Context, infraEnvID, id uuid.UUID, why string) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if h.ClusterID == nil {
			return nil
		}
		h.DecisionOpen = true
		h.Progress.Info = why
		tx.SupersedeHost(h)
		setHost(tx, h, model.HostError, why)
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
		h.DecisionOpen = false
		tx.SupersedeHost(h)
		setHost(tx, h, model.HostError, h.StatusInfo)
		return nil
	})
}

// AwaitLiveImage asks the user to boot a host from the discovery image again.
func (s *Service) AwaitLiveImage(ctx context.Context, infraEnvID, id uuid.UUID) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if h.Status != model.HostError {
			return nil
		}
		h.Stage, h.Progress, h.Facts, h.Inventory = "", model.HostProgress{}, nil, nil
		setHost(tx, h, model.HostResettingPendingUserAction, "Boot the host from the discovery image again to retry its installation")
		return nil
	})
}

// RebootTimedOut tells the user that a host does not come up from its disk.
func (s *Service) RebootTimedOut(ctx context.Context, infraEnvID, id uuid.UUID) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if h.Status == model.HostInstallingInProgress {
			h.Progress.StageTimedOut = true
			setHost(tx, h, model.HostInstallingPendingUserAction,
				"The host did not come up from its installation disk in time: check the boot order, and boot it from "+h.InstallationDiskPath)
		}
		return nil
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
