package activities

import (
	"context"

	"go.temporal.io/sdk/temporal"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// BeginReclaim checks that the host is still to be reclaimed. It fails with
// FailureRefused when it is not.
func (a *Hosts) BeginReclaim(ctx context.Context, r ReclaimRequest) (ReclaimPlan, error) {
	h, err := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
	if err != nil {
		return ReclaimPlan{}, nonRetryable(err)
	}
	if h.WorkflowAttempt != r.Attempt || !lifecycle.Reclaimed.Has(h.Status) {
		return ReclaimPlan{}, temporal.NewNonRetryableApplicationError("the host is "+string(h.Status), FailureRefused, nil)
	}
	return ReclaimPlan{Timeouts: a.Timeouts}, nil
}

// RebootForReclaim shows that a host has the discovery image and reboots into it.
// It fails with FailureRefused when the host is not being reclaimed any more.
func (a *Hosts) RebootForReclaim(ctx context.Context, r HostRef) error {
	return a.update(ctx, r, func(h *model.Host, tx *store.Tx) error {
		if !lifecycle.Reclaimed.Has(h.Status) {
			return model.NotFoundf("the reclaim of host %s is over: it is %s", h.Hostname(), h.Status)
		}
		return reclaimStep(tx, h, lifecycle.RebootingForReclaim, "")
	})
}

// FailReclaim leaves a host that could not be reclaimed to its user; a host that is in another attempt by now is left unchanged.
func (a *Hosts) FailReclaim(ctx context.Context, f ReclaimFailure) error {
	return a.update(ctx, f.HostRef, func(h *model.Host, tx *store.Tx) error {
		if h.WorkflowAttempt != f.Attempt {
			return nil
		}
		return reclaimStep(tx, h, lifecycle.ReclaimFailed, f.Reason)
	})
}

// reclaimStep moves a host on its way; a host in another state is left unchanged, because the activity may run twice and a host may be
// booted by hand.
func reclaimStep(tx *store.Tx, h *model.Host, event lifecycle.HostEvent, why string) error {
	facts := transitions.HostFacts(h, nil, tx)
	facts.Reason = why
	if _, err := lifecycle.ApplyHost(h, event, facts, tx); err != nil {
		return ifPossible(err)
	}
	if why != "" {
		tx.SupersedeHost(h)
	}
	return nil
}

// AwaitPool returns when a reclaimed host has registered from the discovery image.
func (a *Hosts) AwaitPool(ctx context.Context, r HostRef) error {
	return awaitHost(ctx, a.Store, r, model.StatusLeft, lifecycle.Reclaimed)
}
