package activities

import (
	"context"
	"time"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/platform/store"
	"slipway/internal/service/installation"
)

// Hosts changes hosts for their workflow.
type Hosts struct {
	Store        *store.Store
	Installation *installation.Service
	Progress     Progress
	Timeouts     Timeouts
}

// BeginAttempt puts the host to work.
func (a *Hosts) BeginAttempt(ctx context.Context, r AttemptRequest) error {
	return nonRetryable(a.Installation.BeginAttempt(ctx, r.InfraEnvID, r.HostID, r.Attempt, r.FromStart))
}

// FailHost marks the host as failed while its workflow waits for a decision.
func (a *Hosts) FailHost(ctx context.Context, f HostFailure) error {
	return nonRetryable(a.Installation.Fail(ctx, f.InfraEnvID, f.HostID, f.Reason))
}

// GiveUpHost ends the wait for a decision.
func (a *Hosts) GiveUpHost(ctx context.Context, f HostFailure) error {
	return nonRetryable(a.Installation.GiveUp(ctx, f.InfraEnvID, f.HostID))
}

// RetryHost prepares a failed host for another attempt: one that has left the live
// image has to be booted from it again first.
func (a *Hosts) RetryHost(ctx context.Context, r RetryRequest) error {
	if !r.LeftLiveImage {
		return nil // BeginAttempt does the rest
	}
	return nonRetryable(a.Installation.AwaitLiveImage(ctx, r.InfraEnvID, r.HostID))
}

// ShowStage shows a stage that has no step of its own.
func (a *Hosts) ShowStage(ctx context.Context, r StageRequest) error {
	return nonRetryable(a.Progress.Stage(ctx, r.InfraEnvID, r.HostID, r.Stage, ""))
}

// RebootTimedOut asks the user to look at the boot order.
func (a *Hosts) RebootTimedOut(ctx context.Context, r HostRef) error {
	return nonRetryable(a.Installation.RebootTimedOut(ctx, r.InfraEnvID, r.HostID))
}

// rediscoveryEvery is how often the status of an awaited host is looked at.
const rediscoveryEvery = time.Second

// AwaitRediscovery returns when the host runs the live image again and has passed its
// checks. It looks itself, because nothing else waits for it.
func (a *Hosts) AwaitRediscovery(ctx context.Context, r HostRef) error {
	return a.await(ctx, r, lifecycle.Rediscovered.Has)
}
