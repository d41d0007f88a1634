package activities

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/installation"
)

// Clusters changes clusters for their workflow.
type Clusters struct {
	Store        *store.Store
	Installation *installation.Service
	Discovery    Discovery
	Timeouts     Timeouts
}

// Discovery evaluates the rules of a cluster.
type Discovery interface {
	RefreshCluster(ctx context.Context, id uuid.UUID) error
}

// Progress shows stages of hosts.
type Progress interface {
	Stage(ctx context.Context, infraEnvID, hostID uuid.UUID, stage model.Stage, info string) error
}

// BeginPreparation freezes the plan. It fails with FailureRefused when the cluster
// went back to discovery instead.
func (a *Clusters) BeginPreparation(ctx context.Context, r InstallRequest) (Plan, error) {
	c, hosts, refused, err := a.Installation.BeginPreparation(ctx, r.ClusterID, r.Attempt)
	if err != nil {
		return Plan{}, nonRetryable(err)
	}
	if refused != "" {
		return Plan{}, temporal.NewNonRetryableApplicationError(refused, FailureRefused, nil)
	}
	plan := Plan{ClusterID: c.ID, Attempt: r.Attempt, SingleNode: c.SingleNode(), Timeouts: a.Timeouts}
	plan.Timeouts.Timeouts = a.Timeouts.Of(c)
	for _, h := range hosts {
		plan.Hosts = append(plan.Hosts, HostPlan{
			ID: h.ID, InfraEnvID: h.InfraEnvID, Name: h.Hostname(), Role: h.Role, Bootstrap: h.Bootstrap, AgentSteps: h.AgentSteps,
		})
	}
	return plan, nil
}

// ConcludePreparation starts the installation or takes the cluster back.
func (a *Clusters) ConcludePreparation(ctx context.Context, r PreparationConclusion) (PreparationOutcome, error) {
	problem := r.Outcome.Reason
	if problem == "" && !r.Outcome.Ready {
		problem = "not every host was prepared"
	}
	problem, err := a.Installation.ConcludePreparation(ctx, r.ClusterID, r.Attempt, problem)
	return PreparationOutcome{Ready: problem == "", Reason: problem}, nonRetryable(err)
}

// ReviewInstallation evaluates the rules and says where the cluster stands.
func (a *Clusters) ReviewInstallation(ctx context.Context, r InstallRequest) (Review, error) {
	if err := a.Discovery.RefreshCluster(ctx, r.ClusterID); err != nil {
		return Review{}, nonRetryable(err)
	}
	c, err := a.Store.Cluster(ctx, r.ClusterID)
	if err != nil {
		return Review{}, nonRetryable(err)
	}
	return Review{Status: c.Status}, nil
}

// CompleteInstallation makes the cluster installed.
func (a *Clusters) CompleteInstallation(ctx context.Context, r InstallRequest) error {
	return a.Installation.Finish(ctx, r.ClusterID)
}

// FailInstallation marks the cluster as failed.
func (a *Clusters) FailInstallation(ctx context.Context, f ClusterFailure) error {
	return nonRetryable(a.Installation.FailCluster(ctx, f.ClusterID, f.Reason, f.Waiting))
}

// CancelInstallation writes what a cancelled installation leaves.
func (a *Clusters) CancelInstallation(ctx context.Context, r InstallRequest) error {
	return nonRetryable(a.Installation.Cancel(ctx, r.ClusterID))
}

// BeginReset voids what hosts were told and says which agents have to stop.
func (a *Clusters) BeginReset(ctx context.Context, id uuid.UUID) (ResetPlan, error) {
	hosts, err := a.Installation.BeginReset(ctx, id)
	if err != nil {
		return ResetPlan{}, nonRetryable(err)
	}
	var plan ResetPlan
	for _, h := range hosts {
		plan.Stop = append(plan.Stop, HostRef{ClusterID: id, InfraEnvID: h.InfraEnvID, HostID: h.ID})
	}
	return plan, nil
}

// FinishReset takes the cluster and its hosts back to discovery.
func (a *Clusters) FinishReset(ctx context.Context, id uuid.UUID) error {
	return nonRetryable(a.Installation.FinishReset(ctx, id))
}

// nonRetryable marks errors that retrying cannot fix as such: the object is gone or
// the input is wrong. A conflict may pass and is retried.
func nonRetryable(err error) error {
	if errors.Is(err, model.ErrNotFound) || errors.Is(err, model.ErrInvalid) {
		return temporal.NewNonRetryableApplicationError(err.Error(), FailureRefused, nil)
	}
	return err
}
