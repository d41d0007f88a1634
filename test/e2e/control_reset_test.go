package e2e_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"slipway/internal/testing/await"
	"slipway/internal/wire"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
)

// runsOfWorkflow lists the ids of all runs of a workflow, the first one first.
func (f *fleet) runsOfWorkflow(t *testing.T, id string) (runs []string) {
	t.Helper()
	list, err := f.temporal(t).ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: "slipway", Query: "WorkflowId = '" + id + "'",
	})
	require.NoError(t, err)
	executions := list.GetExecutions()
	slices.SortFunc(executions, func(a, b *workflowpb.WorkflowExecutionInfo) int {
		return a.GetStartTime().AsTime().Compare(b.GetStartTime().AsTime())
	})
	for _, e := range executions {
		runs = append(runs, e.GetExecution().GetRunId())
	}
	return runs
}

// firstTaskCompleted is the event of a run's first completed task: started, scheduled, started, completed.
const firstTaskCompleted = 4

// resetRun presses "Reset" of one run, to its first task, and waits until the run that it begins has given way to the next one. A run
// that another Reset ended before its first task has none to go back to.
func (f *fleet) resetRun(t *testing.T, workflow, run string) {
	t.Helper()
	temporal := f.temporal(t)
	ended := false
	await.True(t, func() bool {
		d, err := temporal.DescribeWorkflowExecution(t.Context(), workflow, run)
		require.NoError(t, err)
		info := d.GetWorkflowExecutionInfo()
		ended = info.GetHistoryLength() < firstTaskCompleted && info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
		return ended || info.GetHistoryLength() >= firstTaskCompleted
	}, "the first task of the run that is reset")
	if ended {
		return
	}
	answer, err := temporal.WorkflowService().ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "slipway", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflow, RunId: run}, Reason: "a test",
		WorkflowTaskFinishEventId: firstTaskCompleted, RequestId: uuid.NewString(),
	})
	require.NoError(t, err)
	await.True(t, func() bool {
		d, err := temporal.DescribeWorkflowExecution(t.Context(), workflow, answer.GetRunId())
		require.NoError(t, err)
		return d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW
	}, "the run that was reset to continue as new")
}

// Temporal gives a workflow that is reset its signals and updates again, of the runs after it as well. None is carried out twice,
// and none that was refused is carried out because it would be accepted by now.
func TestResetOfControlRepeatsNoCommand(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := shape{masters: 3, workers: 2, speed: 0, flags: map[string][]string{"worker-1": {"--fail", "image-write"}}}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	temporal, control := f.temporal(t), "control:"+f.id.String()
	update := func(name string, args ...any) error {
		handle, err := temporal.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
			WorkflowID: control, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			return err
		}
		return handle.Get(t.Context(), nil)
	}
	require.NoError(t, temporal.SignalWorkflow(t.Context(), control, "", "evict", "worker-1")) // refused: it has not failed yet
	f.awaitDecision(t, "worker-1")
	require.NoError(t, temporal.SignalWorkflow(t.Context(), control, "", "pause", nil))
	paused := func() bool {
		state, err := f.client.Workflow(t.Context(), f.id)
		return err == nil && state.Paused
	}
	await.True(t, paused, "the installation to be paused")
	require.NoError(t, f.client.ResumeCluster(t.Context(), f.id))
	require.Error(t, update("resume"), "it is not paused")

	runs := f.runsOfWorkflow(t, control)
	require.GreaterOrEqual(t, len(runs), 3, "each command ends a run")
	for _, run := range []string{runs[0], runs[len(runs)/2], runs[len(runs)-1]} {
		f.resetRun(t, control, run)
		require.False(t, paused(), "the pause of before is carried out again")
		require.Equal(t, wire.HostStatusError, f.host(t, "worker-1").Status)
		state, err := f.client.Workflow(t.Context(), f.id)
		require.NoError(t, err)
		require.Equal(t, "installing", state.Phase, "the refused eviction is carried out")
	}
	require.NoError(t, update("pause"), "a command after the reset is carried out")
	require.NoError(t, update("resume"))
	require.NoError(t, update("retry", "worker-1"))
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, false)
	for name, a := range f.accounts(t) {
		writes := 1
		if name == "worker-1" {
			writes = 2 // the failed write, and its retry
		}
		require.LessOrEqual(t, a.writes, writes, name)
	}
}
