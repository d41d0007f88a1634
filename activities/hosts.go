package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// Hosts changes hosts for their workflow.
type Hosts struct {
	Store      *store.Store
	Evaluation Evaluation
	Progress   Progress
	Timeouts   Timeouts
}

// update changes a host for its workflow, unless the attempt of that is over.
func (a *Hosts) update(ctx context.Context, r HostRef, fn func(*model.Host, *store.Tx) error) error {
	var c *model.Cluster
	if r.ClusterAttempt != 0 {
		var err error
		if c, err = a.Store.Cluster(ctx, r.ClusterID); err != nil {
			return nonRetryable(err)
		}
	}
	return nonRetryable(transitions.UpdateHost(ctx, a.Store, r.InfraEnvID, r.HostID, func(h *model.Host, tx *store.Tx) error {
		if err := r.sameInstallation(c, h); err != nil {
			return err
		}
		return fn(h, tx)
	}))
}

// BeginAttempt lets a host be installed, from the start or from the stage that failed. It fails with FailureSuperseded
// for a host that is not being installed: its workflow was reset in Temporal's UI.
func (a *Hosts) BeginAttempt(ctx context.Context, r AttemptRequest) error {
	return a.update(ctx, r.HostRef, func(h *model.Host, tx *store.Tx) error {
		if h.Attempt >= r.Attempt && !h.DecisionOpen && lifecycle.Reportable.Has(h.Status) {
			return nil // this ran already, or its workflow was reset in Temporal's UI and counts anew
		}
		event := lifecycle.BeginAttempt
		if !r.FromStart {
			event = lifecycle.RepeatStage
		}
		facts := transitions.HostFacts(h, nil, tx)
		facts.Attempt = max(r.Attempt, h.Attempt+1)
		_, err := lifecycle.ApplyHost(h, event, facts, tx)
		if errors.Is(err, model.ErrConflict) {
			return superseded("host %s is %s: there is nothing to install", h.Hostname(), h.Status)
		}
		return err
	})
}

// Standing reads how far the installation of a host is.
func (a *Hosts) Standing(ctx context.Context, r HostRef) (HostStanding, error) {
	h, err := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
	if err != nil {
		return HostStanding{}, nonRetryable(err)
	}
	stands := HostStanding{Attempt: h.Attempt, Stage: h.Stage, Installed: lifecycle.InstalledHosts.Has(h.Status)}
	switch {
	case h.Status == model.HostError && h.DecisionOpen:
		stands.Failed = strings.TrimPrefix(h.StatusInfo, string(h.Stage)+": ")
	case h.Status == model.HostError:
		stands.GivenUp = true
	case !stands.Installed && !lifecycle.Reportable.Has(h.Status):
		stands.Elsewhere = true
	}
	return stands, nil
}

// FailHost marks the host as failed while its workflow waits for a decision. A host that has left its cluster is left unchanged. It
// fails with FailureSuperseded for a host that is installed: its workflow is behind it.
func (a *Hosts) FailHost(ctx context.Context, f HostFailure) error {
	return a.update(ctx, f.HostRef, func(h *model.Host, tx *store.Tx) error {
		if h.ClusterID == nil {
			return nil
		}
		if lifecycle.InstalledHosts.Has(h.Status) {
			return superseded("host %s is %s: what failed was done before", h.Hostname(), h.Status)
		}
		facts := transitions.HostFacts(h, nil, tx)
		facts.Reason = f.Reason
		if _, err := lifecycle.ApplyHost(h, lifecycle.FailHost, facts, tx); err != nil {
			return ifPossible(err)
		}
		tx.SupersedeHost(h)
		return nil
	})
}

// GiveUpHost ends the wait for a decision: the host stays failed, and the cluster is
// evaluated without it. Done again, or for a host that has left its cluster, it does nothing.
func (a *Hosts) GiveUpHost(ctx context.Context, f HostFailure) error {
	return a.update(ctx, f.HostRef, func(h *model.Host, tx *store.Tx) error {
		if !h.DecisionOpen {
			return nil
		}
		tx.SupersedeHost(h)
		_, err := lifecycle.ApplyHost(h, lifecycle.GiveUpHost, transitions.HostFacts(h, nil, tx), tx)
		return ifPossible(err)
	})
}

// RetryHost prepares a failed host for another attempt: a host that has left the live image waits until its user boots it from there
// again.
func (a *Hosts) RetryHost(ctx context.Context, r RetryRequest) error {
	if !r.LeftLiveImage {
		return nil // BeginAttempt does the rest
	}
	return a.update(ctx, r.HostRef, func(h *model.Host, tx *store.Tx) error {
		_, err := lifecycle.ApplyHost(h, lifecycle.RetryHost, transitions.HostFacts(h, nil, tx), tx)
		return ifPossible(err)
	})
}

// ShowStage shows a stage that has no step of its own. It fails with FailureSuperseded when the attempt is over, or the host is
// installed.
func (a *Hosts) ShowStage(ctx context.Context, r StageRequest) error {
	return nonRetryable(a.Progress.WorkflowStage(ctx, r.InfraEnvID, r.HostID, r.Stage, func(c *model.Cluster, h *model.Host) error {
		if err := r.sameInstallation(c, h); err != nil {
			return err
		}
		if lifecycle.InstalledHosts.Has(h.Status) && h.Stage != r.Stage {
			return superseded("host %s is %s: there is nothing to install", h.Hostname(), h.Status)
		}
		return nil
	}))
}

// RebootTimedOut asks the user to check the boot order of a host that does not come up from its disk.
func (a *Hosts) RebootTimedOut(ctx context.Context, r HostRef) error {
	return a.update(ctx, r, func(h *model.Host, tx *store.Tx) error {
		_, err := lifecycle.ApplyHost(h, lifecycle.RebootTimedOut, transitions.HostFacts(h, nil, tx), tx)
		return ifPossible(err)
	})
}

// JudgeStage decides whether a host fails that has been in its stage for longer than its limit. Without a failure the stage was
// reported, once, and continues, or gets its time again.
func (a *Hosts) JudgeStage(ctx context.Context, r StageClock) (StageVerdict, error) {
	h, err := a.Store.Host(ctx, r.InfraEnvID, r.HostID)
	if err != nil {
		return StageVerdict{}, nonRetryable(err)
	}
	var c *model.Cluster
	if h.ClusterID != nil {
		if c, err = a.Store.Cluster(ctx, *h.ClusterID); err != nil {
			return StageVerdict{}, nonRetryable(err)
		}
	}
	var verdict StageVerdict
	err = a.update(ctx, r.HostRef, func(h *model.Host, tx *store.Tx) error {
		verdict = StageVerdict{}
		if h.Status == model.HostError {
			verdict.Failure = h.StatusInfo
			return nil
		}
		facts := transitions.HostFacts(h, c, tx)
		facts.Timeouts.Soft, facts.Limit = r.Soft, r.Limit
		next, err := lifecycle.NextHost(lifecycle.StageTimedOut, h.Status, facts)
		switch {
		case err != nil:
			verdict.Failure = fmt.Sprintf("the host is %s", h.Status)
			return nil //nolint:nilerr // it left the installation, and its workflow ends
		case next.To == model.HostError:
			verdict.Failure = next.StatusInfo // the workflow stops the host with it
			return nil
		}
		verdict.Again = next.Effect == lifecycle.EffectStageClockRestarted
		_, err = lifecycle.ApplyHost(h, lifecycle.StageTimedOut, facts, tx)
		return err
	})
	return verdict, err
}

// AwaitProgress returns when a failed host has reported that it runs from its disk, or is installed: its workflow needs no decision.
func (a *Hosts) AwaitProgress(ctx context.Context, r HostRef) error {
	return awaitHost(ctx, a.Store, r, model.StatusLeft, model.HostStatuses{model.HostError})
}

// AwaitRediscovery returns when the host runs the live image again and has passed its checks.
func (a *Hosts) AwaitRediscovery(ctx context.Context, r HostRef) error {
	return awaitHost(ctx, a.Store, r, model.StatusReached, lifecycle.Rediscovered)
}
