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
	Attempt   int `json:",omitempty"` // zero in workflows that an earlier version began
	Timeouts  activities.Timeouts
}

// ClusterReset takes a failed or cancelled cluster back to discovery. It cannot be cancelled.
func ClusterReset(ctx workflow.Context, request ResetRequest) error {
	if err := original(ctx, ResetWorkflowID(request.ClusterID)); err != nil {
		return err
	}
	return resetCluster(workflowDisconnected(ctx), request)
}

// resetCluster stops the agents that may still run, then takes cluster and
// hosts back to discovery. Hosts that have left the live image wait for their user.
func resetCluster(ctx workflow.Context, request ResetRequest) error {
	var clusters *activities.Clusters
	var plan activities.ResetPlan
	target := activities.ResetTarget{ClusterID: request.ClusterID, Attempt: request.Attempt}
	if err := record(ctx, "Begin reset", clusters.BeginReset, target, &plan); err != nil {
		return err
	}
	limit := cmp.Or(request.Timeouts.Reset, defaultReset)
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
	return record(ctx, "Finish reset", clusters.FinishReset, target, nil)
}
