package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

// BeginAddition freezes the role of a host that joins an existing cluster. It fails with
// FailureRefused when another attempt was accepted meanwhile, or the host has gone.
func (a *Hosts) BeginAddition(ctx context.Context, r AddRequest) (AddPlan, error) {
	h, err := a.Installation.BeginAddition(ctx, r.InfraEnvID, r.HostID, r.Attempt)
	if err != nil {
		return AddPlan{}, refuse(err)
	}
	c, err := a.Store.Cluster(ctx, *h.ClusterID)
	if err != nil {
		return AddPlan{}, nonRetryable(err)
	}
	plan := AddPlan{Timeouts: a.Timeouts}
	plan.Host = HostPlan{ID: h.ID, InfraEnvID: h.InfraEnvID, Name: h.Hostname(), Role: h.Role, AgentSteps: h.AgentSteps}
	plan.Timeouts.Timeouts = a.Timeouts.Of(c)
	return plan, nil
}

// JudgeChecks fails with FailureRefused and the reason when the disk or the images of a
// host that joins an existing cluster did not pass their checks.
func (a *Hosts) JudgeChecks(ctx context.Context, r HostRef) error {
	problem, err := a.Installation.JudgeChecks(ctx, r.InfraEnvID, r.HostID)
	if err == nil && problem != "" {
		return temporal.NewNonRetryableApplicationError(problem, FailureRefused, nil)
	}
	return nonRetryable(err)
}

// CancelHost writes what the cancelled installation of a single host leaves.
func (a *Hosts) CancelHost(ctx context.Context, r AddRequest) error {
	return nonRetryable(a.Installation.CancelHost(ctx, r.InfraEnvID, r.HostID, r.Attempt))
}

// BeginHostReset voids what a host was told and says whether its agent has to stop. It
// fails with FailureRefused when another attempt was accepted meanwhile.
func (a *Hosts) BeginHostReset(ctx context.Context, r AddRequest) (stop bool, err error) {
	stop, err = a.Installation.BeginHostReset(ctx, r.InfraEnvID, r.HostID, r.Attempt)
	return stop, nonRetryable(err)
}

// FinishHostReset takes a host back to discovery.
func (a *Hosts) FinishHostReset(ctx context.Context, r AddRequest) error {
	return nonRetryable(a.Installation.FinishHostReset(ctx, r.InfraEnvID, r.HostID, r.Attempt))
}

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

// RebootForReclaim shows that a host boots the discovery image it has fetched.
func (a *Hosts) RebootForReclaim(ctx context.Context, r HostRef) error {
	return nonRetryable(a.Installation.RebootForReclaim(ctx, r.InfraEnvID, r.HostID))
}

// FailReclaim leaves a host to its user.
func (a *Hosts) FailReclaim(ctx context.Context, f ReclaimFailure) error {
	return nonRetryable(a.Installation.FailReclaim(ctx, f.InfraEnvID, f.HostID, f.Attempt, f.Reason))
}

// AwaitPool returns when a reclaimed host has registered from the discovery image.
func (a *Hosts) AwaitPool(ctx context.Context, r HostRef) error {
	return a.await(ctx, r, func(s model.HostStatus) bool { return !lifecycle.Reclaimed.Has(s) })
}

// await looks at the status of a host until it is what is waited for.
func (a *Hosts) await(ctx context.Context, r HostRef, reached func(model.HostStatus) bool) error {
	ticker := time.NewTicker(rediscoveryEvery)
	defer ticker.Stop()
	for {
		h, err := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
		if err != nil {
			return nonRetryable(err)
		}
		if reached(h.Status) {
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
