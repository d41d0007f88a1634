package workflows

import (
	"cmp"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/wire"
)

// ResetRequest resets a cluster that has no running installation.
type ResetRequest struct {
	ClusterID uuid.UUID
	Timeouts  activities.Timeouts
}

// ClusterReset takes a failed or cancelled cluster back to discovery.
func ClusterReset(ctx workflow.Context, request ResetRequest) error {
	return resetCluster(ctx, request.ClusterID, request.Timeouts)
}

// resetCluster stops the agents that may still run, then takes cluster and
// hosts back to discovery. Hosts that have left the live image wait for their user.
func resetCluster(ctx workflow.Context, cluster uuid.UUID, t activities.Timeouts) error {
	var clusters *activities.Clusters
	var plan activities.ResetPlan
	if err := record(ctx, "Begin reset", clusters.BeginReset, cluster, &plan); err != nil {
		return err
	}
	limit := cmp.Or(t.Reset, defaultReset)
	stop := string(wire.StepTypeStopInstallation)
	var steps *activities.Steps
	stops := make([]workflow.Future, len(plan.Stop))
	for i, host := range plan.Stop {
		options := withStepOptions(ctx, limit, limit, label{text: stop, number: i + 1})
		stops[i] = workflow.ExecuteActivity(options, steps.RunStep, activities.StepRequest{HostRef: host, Type: stop})
	}
	for _, f := range stops {
		_ = f.Get(ctx, nil) // a host that does not answer is reset all the same
	}
	return record(ctx, "Finish reset", clusters.FinishReset, cluster, nil)
}
