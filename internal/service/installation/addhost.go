package installation

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// AcceptHost takes the command to install a host into its existing cluster: the host is
// installing from here on, and its workflow will be started, by this process or by
// another one after a crash. It returns the number of the attempt, or an ErrConflict
// that says why not.
func (s *Service) AcceptHost(ctx context.Context, infraEnvID, id uuid.UUID) (attempt int, err error) {
	h, err := s.store.Host(ctx, infraEnvID, id)
	if err != nil {
		return 0, err
	}
	if h.ClusterID == nil || !h.DayTwo() {
		return 0, model.Conflictf("host %s cannot be installed by itself: require a host added to an existing cluster, found one of kind %s and status %s",
			h.Hostname(), h.Kind, h.Status)
	}
	if err := s.discovery.RefreshCluster(ctx, *h.ClusterID); err != nil {
		return 0, err
	}
	err = s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if _, err := lifecycle.ApplyHost(h, lifecycle.InstallHost, hostFacts(h, nil, tx), tx); err != nil {
			return model.Conflictf("host %s cannot be installed: require status known, found %s (%s)", h.Hostname(), h.Status, h.StatusInfo)
		}
		if h.Role == model.RoleAutoAssign {
			h.Role, h.AutoRole = h.EffectiveRole(), true
		}
		if h.Role == model.RoleAutoAssign {
			h.Role = model.RoleWorker
		}
		h.Images, h.Stage, h.Progress = nil, "", model.HostProgress{}
		h.Attempt, h.DecisionOpen = 0, false
		h.WorkflowAttempt++
		h.PendingWorkflow = model.WorkflowAdd
		attempt = h.WorkflowAttempt
		tx.Event(events.New(events.HostInstallationStarted, lifecycle.AboutHost(h), nil, tx.Now()))
		return nil
	})
	return attempt, err
}

// BeginAddition reads the host of an accepted attempt. It returns an ErrNotFound when
// the attempt is not the newest one, or the host has left its cluster.
func (s *Service) BeginAddition(ctx context.Context, infraEnvID, id uuid.UUID, attempt int) (*model.Host, error) {
	h, err := s.store.Host(ctx, infraEnvID, id)
	if err != nil {
		return nil, err
	}
	if err := sameAttempt(h, attempt); err != nil {
		return nil, err
	}
	if !lifecycle.BeingAdded.Has(h.Status) {
		return nil, model.NotFoundf("attempt %d of host %s is over: it is %s", attempt, h.Hostname(), h.Status)
	}
	return h, nil
}

// judged are the checks that run before a disk is written.
var judged = []string{
	string(wire.HostValidationIDSufficientInstallationDiskSpeed), string(wire.HostValidationIDContainerImagesAvailable),
}

// JudgeChecks evaluates what the checks of a host found, and says what is wrong; empty
// when it can be installed. A validation that is ignored holds nothing up.
func (s *Service) JudgeChecks(ctx context.Context, infraEnvID, id uuid.UUID) (problem string, err error) {
	h, err := s.store.Host(ctx, infraEnvID, id)
	if err != nil {
		return "", err
	}
	if h.ClusterID == nil {
		return "the host has left its cluster", nil
	}
	if err := s.discovery.RefreshCluster(ctx, *h.ClusterID); err != nil {
		return "", err
	}
	if h, err = s.store.Host(ctx, infraEnvID, id); err != nil {
		return "", err
	}
	if h.Status == model.HostError {
		return h.StatusInfo, nil
	}
	for _, v := range h.Validations {
		if v.Status == model.ValidationFailure && slices.Contains(judged, v.ID) {
			return v.Message, nil
		}
	}
	return "", nil
}

// CancelHost stops an attempt to install a single host in the database; one
// that is not being installed, or in another attempt, stays what it is.
func (s *Service) CancelHost(ctx context.Context, infraEnvID, id uuid.UUID, attempt int) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if h.ClusterID == nil || h.WorkflowAttempt != attempt {
			return nil
		}
		tx.SupersedeHost(h)
		h.DecisionOpen, h.PendingWorkflow = false, model.WorkflowNone
		_, err := lifecycle.ApplyHost(h, lifecycle.CancelHost, hostFacts(h, nil, tx), tx)
		return ifPossible(err)
	})
}

// CheckHostReset says whether a host of an existing cluster can be reset; an ErrConflict
// says why not.
func (s *Service) CheckHostReset(h *model.Host) error {
	_, err := lifecycle.NextHost(lifecycle.ResetHost, h.Status, lifecycle.NewHostFacts(lifecycle.HostInput{Host: h}))
	if err != nil {
		return model.Conflictf("host %s cannot be reset: require a host of a cluster, found status %s", h.Hostname(), h.Status)
	}
	return nil
}

// BeginHostReset voids what a host of an existing cluster was told in an attempt. stop
// says that its agent may still be at work. It returns an ErrNotFound when another attempt
// was accepted meanwhile, or the host has left its cluster.
func (s *Service) BeginHostReset(ctx context.Context, infraEnvID, id uuid.UUID, attempt int) (stop bool, err error) {
	err = s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if err := sameAttempt(h, attempt); err != nil {
			return err
		}
		tx.SupersedeHost(h)
		h.PendingWorkflow = model.WorkflowNone
		var err error
		stop, err = beginReset(tx, h)
		return err
	})
	return stop, err
}

// FinishHostReset takes a host back to discovery. Its errors are those of BeginHostReset.
func (s *Service) FinishHostReset(ctx context.Context, infraEnvID, id uuid.UUID, attempt int) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if err := sameAttempt(h, attempt); err != nil {
			return err
		}
		tx.SupersedeHost(h)
		return finishReset(tx, h)
	})
}

// sameAttempt refuses when another workflow has the host in its hands by now.
func sameAttempt(h *model.Host, attempt int) error {
	if h.ClusterID == nil || h.WorkflowAttempt != attempt {
		return model.NotFoundf("attempt %d of host %s is over: it is %s and in attempt %d", attempt, h.Hostname(), h.Status, h.WorkflowAttempt)
	}
	return nil
}
