package activities

import (
	"context"
	"slices"

	"go.temporal.io/sdk/temporal"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
	"slipway/internal/wire"
)

// BeginAddition returns the plan of a host that joins an existing cluster. It fails with
// FailureRefused when another attempt was accepted meanwhile, or the host has left its cluster.
func (a *Hosts) BeginAddition(ctx context.Context, r AddRequest) (AddPlan, error) {
	h, err := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
	if err != nil {
		return AddPlan{}, refuse(err)
	}
	if err := sameAttempt(h, r.Attempt); err != nil {
		return AddPlan{}, refuse(err)
	}
	if !lifecycle.BeingAdded.Has(h.Status) && (r.Lost == "" || !lifecycle.Reportable.Has(h.Status)) {
		return AddPlan{}, refuse(model.NotFoundf("attempt %d of host %s is over: it is %s", r.Attempt, h.Hostname(), h.Status))
	}
	c, err := a.Store.Cluster(ctx, *h.ClusterID)
	if err != nil {
		return AddPlan{}, nonRetryable(err)
	}
	plan := AddPlan{Timeouts: a.Timeouts.of(c)}
	plan.Host = HostPlan{ID: h.ID, InfraEnvID: h.InfraEnvID, Name: h.Hostname(), Role: h.Role, AgentSteps: h.AgentSteps}
	return plan, nil
}

// diskChecks are the checks that run before a disk is written.
var diskChecks = []string{
	string(wire.HostValidationIDSufficientInstallationDiskSpeed), string(wire.HostValidationIDContainerImagesAvailable),
}

// JudgeChecks evaluates what the checks of a host found that joins an existing cluster. It fails with FailureRefused and
// the reason when its disk or the images did not pass. An ignored validation does not hold it up.
func (a *Hosts) JudgeChecks(ctx context.Context, r HostRef) error {
	h, err := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
	if err != nil {
		return nonRetryable(err)
	}
	if h.ClusterID == nil {
		return temporal.NewNonRetryableApplicationError("the host has left its cluster", FailureRefused, nil)
	}
	if err := a.Evaluation.RefreshCluster(ctx, *h.ClusterID); err != nil {
		return nonRetryable(err)
	}
	if h, err = a.Store.Host(ctx, r.InfraEnvID, r.HostID); err != nil {
		return nonRetryable(err)
	}
	if problem := failedCheck(h); problem != "" {
		return temporal.NewNonRetryableApplicationError(problem, FailureRefused, nil)
	}
	return nil
}

// failedCheck returns the reason why a host cannot be installed; empty when it can be installed.
func failedCheck(h *model.Host) string {
	if h.Status == model.HostError {
		return h.StatusInfo
	}
	for _, v := range h.Validations {
		if v.Fails() && slices.Contains(diskChecks, v.ID) {
			return v.Message
		}
	}
	return ""
}

// CancelHost stops an attempt to install a single host in the database; a host that is not being installed, or in another attempt, is
// left unchanged.
func (a *Hosts) CancelHost(ctx context.Context, r AddRequest) error {
	return a.update(ctx, r.HostRef, func(h *model.Host, tx *store.Tx) error {
		if h.ClusterID == nil || h.WorkflowAttempt != r.Attempt {
			return nil
		}
		tx.SupersedeHost(h)
		h.DecisionOpen, h.PendingWorkflow = false, model.WorkflowNone
		_, err := lifecycle.ApplyHost(h, lifecycle.CancelHost, transitions.HostFacts(h, nil, tx), tx)
		return ifPossible(err)
	})
}

// BeginHostReset voids the steps of a host in an attempt and reports whether its agent has to stop. It
// fails with FailureRefused when another attempt was accepted meanwhile, or the host has left its cluster.
func (a *Hosts) BeginHostReset(ctx context.Context, r AddRequest) (stop bool, err error) {
	err = a.update(ctx, r.HostRef, func(h *model.Host, tx *store.Tx) error {
		if err := sameAttempt(h, r.Attempt); err != nil {
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

// FinishHostReset returns a host to discovery. It returns the same errors as BeginHostReset.
func (a *Hosts) FinishHostReset(ctx context.Context, r AddRequest) error {
	return a.update(ctx, r.HostRef, func(h *model.Host, tx *store.Tx) error {
		if err := sameAttempt(h, r.Attempt); err != nil {
			return err
		}
		tx.SupersedeHost(h)
		return finishReset(tx, h)
	})
}

// sameAttempt refuses when another workflow installs the host now.
func sameAttempt(h *model.Host, attempt int) error {
	if h.ClusterID == nil || h.WorkflowAttempt != attempt {
		return model.NotFoundf("attempt %d of host %s is over: it is %s and in attempt %d", attempt, h.Hostname(), h.Status, h.WorkflowAttempt)
	}
	return nil
}
