package e2e_test

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"

	"slipway/activities"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/frontend"
	"slipway/internal/service/orchestrator"
	"slipway/workflows"
)

// A program without the codec reads why a command is refused, as the dialog of Temporal's web UI does; one with it reads
// the same.
func TestTemporalAnswersARefusalInTheOpen(t *testing.T) {
	t.Parallel()
	plain := devServer(t)
	require.NoError(t, frontend.PrepareNamespace(t.Context(), plain, frontend.NamespaceOptions{
		Namespace: "default", External: true, Logger: slog.New(slog.DiscardHandler),
	}))
	sealer, err := encryption.New(make([]byte, encryption.KeySize))
	require.NoError(t, err)
	data, failures := orchestrator.Converters(sealer)
	c, err := client.NewClientFromExisting(plain, client.Options{
		DataConverter: data, FailureConverter: failures, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	w := sdk.New(c, workflows.TaskQueue, sdk.Options{LocalActivityWorkerOnly: true}) // the workflow waits for its first activity
	w.RegisterWorkflow(workflows.ClusterInstall)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	cluster := uuid.New()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: workflows.ClusterWorkflowID(cluster), TaskQueue: workflows.TaskQueue,
	}, workflows.ClusterInstall, workflows.ClusterRequest{InstallRequest: activities.InstallRequest{ClusterID: cluster, Attempt: 1}})
	require.NoError(t, err)

	answer, err := plain.WorkflowService().UpdateWorkflowExecution(t.Context(), &workflowservice.UpdateWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: run.GetID()},
		WaitPolicy: &updatepb.WaitPolicy{LifecycleStage: enumspb.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED},
		Request:    &updatepb.Request{Meta: &updatepb.Meta{UpdateId: uuid.NewString()}, Input: &updatepb.Input{Name: "extend"}},
	})
	require.NoError(t, err)
	refused := answer.GetOutcome().GetFailure()
	require.Equal(t, "no phase of the installation has timed out", refused.GetMessage())
	require.Empty(t, refused.GetStackTrace())
	var read *temporal.ApplicationError
	require.ErrorAs(t, failures.FailureToError(refused), &read)
	require.Equal(t, "no phase of the installation has timed out", read.Message())
}
