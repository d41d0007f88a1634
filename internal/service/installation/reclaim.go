package installation

import (
	"context"

	"github.com/google/uuid"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// AcceptReclaim takes a host out of its cluster and back to its InfraEnv. An installed host fetches the discovery image
// itself: then attempt is the number of the workflow that will be started, else zero. An
// ErrConflict says why not.
func (s *Service) AcceptReclaim(ctx context.Context, infraEnvID, id uuid.UUID) (attempt int, err error) {
	env, err := s.store.InfraEnv(ctx, infraEnvID)
	if err != nil {
		return 0, err
	}
	if env.ClusterID != nil {
		return 0, model.Conflictf("infra-env %s belongs to cluster %s: require one without a cluster to take hosts back", env.Name, env.ClusterID)
	}
	h, err := s.store.Host(ctx, infraEnvID, id)
	if err != nil {
		return 0, err
	}
	err = s.store.UpdateHostOf(ctx, h.ClusterID, infraEnvID, id, func(c *model.Cluster, h *model.Host, tx *store.Tx) error {
		if c == nil || h.ClusterID == nil || *h.ClusterID != c.ID {
			return model.Conflictf("host %s cannot be reclaimed: require a host of a cluster, found status %s", h.Hostname(), h.Status)
		}
		if c.InstallationRuns() {
			return model.Conflictf("host %s cannot be reclaimed while cluster %s is %s: cancel the installation first", h.Hostname(), c.Name, c.Status)
		}
		next, err := lifecycle.ApplyHost(h, lifecycle.ReclaimHost, hostFacts(h, nil, tx), tx)
		if err != nil {
			return model.Conflictf("host %s cannot be reclaimed: require one that is installed, failed or not yet in an installation, found status %s",
				h.Hostname(), h.Status)
		}
		tx.SupersedeHost(h)
		tx.HostsChanged(c.ID)
		attempt = 0
		if next.To == model.HostReclaiming {
			h.WorkflowAttempt++
			h.PendingWorkflow, attempt = model.WorkflowReclaim, h.WorkflowAttempt
		}
		h.FormerClusterID = &c.ID
		tx.Refresh(nil, infraEnvID)
		return nil
	})
	return attempt, err
}

// RebootForReclaim shows that a host has the discovery image and reboots into it.
// It returns an ErrNotFound for one that is not being reclaimed any more.
func (s *Service) RebootForReclaim(ctx context.Context, infraEnvID, id uuid.UUID) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if !lifecycle.Reclaimed.Has(h.Status) {
			return model.NotFoundf("the reclaim of host %s is over: it is %s", h.Hostname(), h.Status)
		}
		return reclaimStep(tx, h, lifecycle.RebootingForReclaim, "")
	})
}

// FailReclaim leaves a host that could not be reclaimed to its user; one
// that is in another attempt by now stays what it is.
func (s *Service) FailReclaim(ctx context.Context, infraEnvID, id uuid.UUID, attempt int, why string) error {
	return s.updateHost(ctx, infraEnvID, id, func(h *model.Host, tx *store.Tx) error {
		if h.WorkflowAttempt != attempt {
			return nil
		}
		return reclaimStep(tx, h, lifecycle.ReclaimFailed, why)
	})
}

// reclaimStep moves a host on its way; one that has left it stays what it is, because
// the activity may run twice and a host may be booted by hand.
func reclaimStep(tx *store.Tx, h *model.Host, event lifecycle.HostEvent, why string) error {
	facts := hostFacts(h, nil, tx)
	facts.Reason = why
	if _, err := lifecycle.ApplyHost(h, event, facts, tx); err != nil {
		return ifPossible(err)
	}
	if why != "" {
		tx.SupersedeHost(h)
	}
	return nil
}
