package activities

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/service/transitions"
)

// Clusters changes clusters for their workflow.
type Clusters struct {
	Store      *store.Store
	Blob       *blob.Store
	Evaluation Evaluation
	Timeouts   Timeouts
	// CheckClusterVersion adds the operator cvo to what an installation waits for.
	CheckClusterVersion bool
}

// Evaluation evaluates the rules of a cluster.
type Evaluation interface {
	RefreshCluster(ctx context.Context, id uuid.UUID) error
}

// Progress shows stages of hosts.
type Progress interface {
	WorkflowStage(
		ctx context.Context, infraEnvID, hostID uuid.UUID, stage model.Stage, fence func(*model.Cluster, *model.Host) error,
	) error
}

// LookAtInstallation fails with FailureSuperseded when the attempt is over.
func (a *Clusters) LookAtInstallation(ctx context.Context, r InstallRequest) error {
	c, err := a.Store.Cluster(ctx, r.ClusterID)
	if err != nil {
		return nonRetryable(err)
	}
	return r.present(c)
}

// ReviewInstallation evaluates the rules and returns the status of the cluster. It fails with FailureSuperseded when the
// attempt is over.
func (a *Clusters) ReviewInstallation(ctx context.Context, r InstallRequest) (Review, error) {
	c, err := a.Store.Cluster(ctx, r.ClusterID)
	if err != nil {
		return Review{}, nonRetryable(err)
	}
	if err := r.sameAttempt(c); err != nil {
		return Review{}, err
	}
	if err := a.Evaluation.RefreshCluster(ctx, r.ClusterID); err != nil {
		return Review{}, nonRetryable(err)
	}
	if c, err = a.Store.Cluster(ctx, r.ClusterID); err != nil {
		return Review{}, nonRetryable(err)
	}
	if err := r.present(c); err != nil && c.Status != model.ClusterError {
		return Review{}, err
	}
	return Review{Status: c.Status}, nil
}

// CompleteInstallation makes a finalized cluster installed: every host is installed or failed, and the milestones are
// reached.
func (a *Clusters) CompleteInstallation(ctx context.Context, r InstallRequest) error {
	monitored, err := a.Store.MonitoredOperators(ctx, r.ClusterID)
	if err != nil {
		return err
	}
	return nonRetryable(transitions.UpdateAll(ctx, a.Store, r.ClusterID, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		if c.InstallAttempt == r.Attempt && c.Status == model.ClusterInstalled {
			return nil
		}
		if err := r.present(c); err != nil {
			return err
		}
		for _, h := range hosts {
			if h.Status != model.HostInstalled && h.Status != model.HostError {
				return model.Conflictf("cluster %s cannot be completed: require all hosts installed or failed, found %s %s",
					c.Name, h.Hostname(), h.Status)
			}
		}
		tx.SupersedeCluster(c.ID) // such as a wait for a stage that was not reported
		facts := lifecycle.NewClusterFacts(lifecycle.ClusterInput{Cluster: c, Hosts: hosts, Operators: monitored, Now: tx.Now()})
		if names := strings.Join(facts.FailedOperators, ", "); names != "" {
			about := lifecycle.AboutCluster(c)
			tx.Event(events.New(events.ClusterDegradedOLMOperatorsFailed, about, events.Props{"failed_operators": names}, tx.Now()))
		}
		_, err := lifecycle.ApplyCluster(c, lifecycle.FinishInstallation, facts, tx)
		return err
	}))
}

// FailInstallation marks the cluster as failed. While its workflow waits for a command the hosts keep their states.
func (a *Clusters) FailInstallation(ctx context.Context, f ClusterFailure) error {
	return nonRetryable(transitions.UpdateAll(ctx, a.Store, f.ClusterID, func(c *model.Cluster, hosts []*model.Host, tx *store.Tx) error {
		if err := (InstallRequest{Attempt: f.Attempt}).sameAttempt(c); err != nil {
			return err
		}
		c.DecisionOpen = f.Waiting && c.Status != model.ClusterInstalled && c.Status != model.ClusterCancelled
		if !f.Waiting {
			tx.SupersedeCluster(c.ID)
			for _, h := range hosts {
				h.DecisionOpen = false // its workflow ended with the cluster's
			}
		}
		facts := transitions.ClusterFacts(c, hosts, tx)
		facts.Reason = f.Reason
		_, err := lifecycle.ApplyCluster(c, lifecycle.InstallationFailed, facts, tx)
		return ifPossible(err)
	}))
}

// nonRetryable marks errors that retrying cannot fix as such: the object is gone or
// the input is wrong. A conflict may pass and is retried, for as long as Conflicts lets it.
func nonRetryable(err error) error {
	if errors.Is(err, model.ErrNotFound) || errors.Is(err, model.ErrInvalid) {
		return temporal.NewNonRetryableApplicationError(err.Error(), FailureRefused, nil)
	}
	return err
}

// ifPossible drops the refusal of an event that an object is past: an activity may run
// twice, and a host may be booted by hand.
func ifPossible(err error) error {
	if errors.Is(err, model.ErrConflict) {
		return nil
	}
	return err
}
