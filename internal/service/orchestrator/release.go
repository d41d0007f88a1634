package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"go.temporal.io/api/serviceerror"

	"slipway/workflows"
)

// ReleaseHost ends the workflow that installs a host into an existing cluster, once the
// host was deleted or has left: it would wait for a decision that can no longer be
// taken. One that cannot be notified now ends with the wait.
func (o *Orchestrator) ReleaseHost(ctx context.Context, infraEnvID, hostID uuid.UUID) {
	if err := o.release(ctx, workflows.HostWorkflowID(infraEnvID, hostID)); err != nil {
		o.Log.Warn("workflow was not ended", "host_id", hostID, "error", err)
	}
}

// ReleaseCluster does the same as ReleaseHost for the installation of a deleted cluster, and for the workflow that takes its commands.
func (o *Orchestrator) ReleaseCluster(ctx context.Context, id uuid.UUID) {
	err := errors.Join(o.release(ctx, workflows.ClusterWorkflowID(id)), o.release(ctx, workflows.ControlWorkflowID(id)))
	if err != nil {
		o.Log.Warn("workflow was not ended", "cluster_id", id, "error", err)
	}
}

func (o *Orchestrator) release(ctx context.Context, workflowID string) error {
	err := o.Temporal.CancelWorkflow(ctx, workflowID, "")
	var notFound *serviceerror.NotFound
	if err == nil || errors.As(err, &notFound) {
		return nil
	}
	return fmt.Errorf("cancel workflow %s: %w", workflowID, err)
}
