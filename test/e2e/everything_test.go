package e2e_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	batchpb "go.temporal.io/api/batch/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
	"slipway/workflows"
)

// everyTask is how many workflow tasks lie between two points that a Reset is tried at. The test is skipped without it: a Reset of an
// ended run of ClusterInstall to a task between the start of its children and its end does not end yet.
var everyTask = flag.Int("every-task", 0, "points of each run that are reset: every n-th workflow task; 0: the test is skipped")

// everyCommand are the signals that users and services send.
var everyCommand = []string{
	workflows.CommandCancel, workflows.CommandReset, workflows.CommandExtend, workflows.CommandPause, workflows.CommandResume,
	workflows.CommandRetry, workflows.CommandRetryStep, workflows.CommandEvict,
	workflows.SignalInstall, workflows.SignalControlPlane, "no-such-command",
}

// Every button of Temporal is pressed while hosts are installed, two at once and with a kill of the service, and then at every
// run that has ended. Each run ends, no host is asked for anything, and each disk is written once, and once more for each retry.
func TestEverythingIsPressedEverywhere(t *testing.T) {
	t.Parallel()
	if *everyTask == 0 {
		t.Skip("SKIP: every button of Temporal is pressed by make press-everything")
	}
	f := newFleet(t)
	f.beginAt(t, 60) // slow enough for the test to see its moments
	f.await(t, "worker-1 to wait for the control plane", stageOf("worker-1", wire.HostStageWaitingForControlPlane))
	cluster, worker := f.clusterWorkflow(), hostWorkflow(f.host(t, "worker-1"))

	for _, id := range []string{cluster, worker} { // a copy beside the original
		f.startCopy(t, f.newest(t, id), uuid.NewString())
	}
	temporal := f.temporal(t)
	var both sync.WaitGroup // two buttons at once, and a kill
	runs := []*commonpb.WorkflowExecution{f.newest(t, cluster), f.newest(t, worker)}
	errs := make([]error, len(runs))
	for i, run := range runs {
		first := f.tasks(t, run)[0]
		both.Go(func() { _, errs[i] = tryReset(t.Context(), temporal, run, first) })
	}
	both.Wait()
	require.NoError(t, errors.Join(errs...))
	f.service.signal(syscall.SIGKILL)
	built.WaitReady(t, f.url)

	retried := f.cancelAndResetOlderRun(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.endsButControl(t)
	writes := f.imageWrites(t)
	for name, n := range writes {
		require.LessOrEqual(t, n, map[bool]int{true: 2, false: 1}[name == retried], "writes of %s", name)
	}
	f.pressEnded(t)
	f.batch(t)
	f.endsButControl(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	require.Equal(t, writes, f.imageWrites(t), "a disk is written again")
	f.nothingLost(t, false)
}

// cancelAndResetOlderRun ends the workflow of a host, and resets the run that was ended, when the host waits for its user: the
// present run ends with that, and its cluster is not notified. It returns the name of the host.
func (f *fleet) cancelAndResetOlderRun(t *testing.T) string {
	t.Helper()
	temporal, name := f.temporal(t), "worker-0"
	id := hostWorkflow(f.host(t, name))
	ended := f.newest(t, id)
	if temporal.CancelWorkflow(t.Context(), id, "") != nil {
		return "" // it is installed already
	}
	f.await(t, name+" to wait for a decision, or to be installed", func(*wire.Cluster) bool {
		h := f.host(t, name)
		return h.Status == wire.HostStatusError || h.Status == wire.HostStatusInstalled
	})
	f.press(t, ended, 0)
	return name
}

// pressEnded resets each run that has ended, starts copies of it, and sends it every signal.
func (f *fleet) pressEnded(t *testing.T) {
	t.Helper()
	temporal := f.temporal(t)
	steps, _ := f.steps(t)
	for _, run := range f.executions(t) {
		id := run.GetExecution().GetWorkflowId()
		if run.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || strings.HasPrefix(id, "housekeeping:") {
			continue
		}
		for _, task := range points(len(f.tasks(t, run.GetExecution()))) {
			reset := f.press(t, run.GetExecution(), task)
			f.ends(t, reset, fmt.Sprintf("task %d of %s, which was %s", task, id, run.GetStatus()))
		}
		if !strings.HasPrefix(id, "control:") {
			f.startCopy(t, run.GetExecution(), uuid.NewString())
			for _, name := range everyCommand {
				require.Error(t, temporal.SignalWorkflow(t.Context(), id, run.GetExecution().GetRunId(), name, nil), "it has ended")
			}
			require.Error(t, temporal.TerminateWorkflow(t.Context(), id, run.GetExecution().GetRunId(), "a test"), "it has ended")
		}
	}
	now, open := f.steps(t)
	require.Equal(t, steps, now, "a host is asked for something")
	require.Zero(t, open)
}

// points are the workflow tasks that a Reset is tried at.
func points(tasks int) []int {
	var all []int
	for i := 0; i < tasks; i += *everyTask {
		all = append(all, i)
	}
	return all
}

// batch resets all workflows of the cluster with one batch operation of the web UI, but for the one that takes commands.
func (f *fleet) batch(t *testing.T) {
	t.Helper()
	temporal, job := f.temporal(t), uuid.NewString()
	_, err := temporal.WorkflowService().StartBatchOperation(t.Context(), &workflowservice.StartBatchOperationRequest{
		Namespace: "slipway", JobId: job, Reason: "a test",
		VisibilityQuery: fmt.Sprintf("ClusterID = '%s' AND WorkflowType != 'ClusterControl' AND ExecutionStatus != 'Running'", f.id),
		Operation: &workflowservice.StartBatchOperationRequest_ResetOperation{ResetOperation: &batchpb.BatchOperationReset{
			Options: &commonpb.ResetOptions{Target: &commonpb.ResetOptions_FirstWorkflowTask{}},
		}},
	})
	require.NoError(t, err)
	await.True(t, func() bool {
		d, err := temporal.WorkflowService().DescribeBatchOperation(t.Context(), &workflowservice.DescribeBatchOperationRequest{
			Namespace: "slipway", JobId: job,
		})
		return err == nil && d.GetState() != enumspb.BATCH_OPERATION_STATE_RUNNING
	}, "the batch operation to end")
}

// executions are all runs of workflows.
func (f *fleet) executions(t *testing.T) (all []*workflowpb.WorkflowExecutionInfo) {
	t.Helper()
	list, err := f.temporal(t).ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: "slipway", Query: "ClusterID = '" + f.id.String() + "'", PageSize: 1000,
	})
	require.NoError(t, err)
	require.Empty(t, list.GetNextPageToken())
	return list.GetExecutions()
}

func (f *fleet) newest(t *testing.T, id string) *commonpb.WorkflowExecution {
	t.Helper()
	d, err := f.temporal(t).DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	return d.GetWorkflowExecutionInfo().GetExecution()
}

// tasks are the events with which the workflow tasks of a run completed.
func (f *fleet) tasks(t *testing.T, run *commonpb.WorkflowExecution) (tasks []int64) {
	t.Helper()
	events := f.temporal(t).GetWorkflowHistory(t.Context(), run.GetWorkflowId(), run.GetRunId(), false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			tasks = append(tasks, event.GetEventId())
		}
	}
	require.NotEmpty(t, tasks, run)
	return tasks
}

// press is "Reset" of a run to one of its workflow tasks. It returns the run that this begins.
func (f *fleet) press(t *testing.T, run *commonpb.WorkflowExecution, task int) *commonpb.WorkflowExecution {
	t.Helper()
	reset, err := tryReset(t.Context(), f.temporal(t), run, f.tasks(t, run)[task])
	require.NoError(t, err)
	return reset
}

func tryReset(
	ctx context.Context, temporal client.Client, run *commonpb.WorkflowExecution, event int64,
) (*commonpb.WorkflowExecution, error) {
	answer, err := temporal.WorkflowService().ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "slipway", WorkflowExecution: run, Reason: "a test", WorkflowTaskFinishEventId: event, RequestId: uuid.NewString(),
	})
	return &commonpb.WorkflowExecution{WorkflowId: run.GetWorkflowId(), RunId: answer.GetRunId()}, err
}

// startCopy is "Start Workflow Like This One": another id, and the input as it is. The copy fails.
func (f *fleet) startCopy(t *testing.T, run *commonpb.WorkflowExecution, id string) {
	t.Helper()
	temporal := f.temporal(t)
	events := temporal.GetWorkflowHistory(t.Context(), run.GetWorkflowId(), run.GetRunId(), false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	require.NoError(t, err)
	started := first.GetWorkflowExecutionStartedEventAttributes()
	answer, err := temporal.WorkflowService().StartWorkflowExecution(t.Context(), &workflowservice.StartWorkflowExecutionRequest{
		Namespace: "slipway", WorkflowId: id, RequestId: uuid.NewString(), WorkflowType: started.GetWorkflowType(), Input: started.GetInput(),
		TaskQueue: &taskqueuepb.TaskQueue{Name: workflows.TaskQueue}, SearchAttributes: started.GetSearchAttributes(),
	})
	require.NoError(t, err)
	status := f.ends(t, &commonpb.WorkflowExecution{WorkflowId: id, RunId: answer.GetRunId()}, "a copy of "+run.GetWorkflowId())
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, status, "a copy of %s", run.GetWorkflowId())
}

// ends waits until a run has ended, and returns how.
func (f *fleet) ends(t *testing.T, run *commonpb.WorkflowExecution, what string) (status enumspb.WorkflowExecutionStatus) {
	t.Helper()
	temporal := f.temporal(t)
	await.True(t, func() bool {
		d, err := temporal.DescribeWorkflowExecution(t.Context(), run.GetWorkflowId(), run.GetRunId())
		status = d.GetWorkflowExecutionInfo().GetStatus()
		return err == nil && status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	}, "the end of "+what)
	return status
}

// endsButControl waits until no workflow of the cluster runs but the one that takes its commands. None that was not terminated
// looks as if it waited for somebody.
func (f *fleet) endsButControl(t *testing.T) {
	t.Helper()
	await.True(t, func() bool {
		for _, e := range f.executions(t) {
			running := e.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
			if running && !strings.HasPrefix(e.GetExecution().GetWorkflowId(), "control:") {
				return false
			}
		}
		return true
	}, "all workflows of the cluster to end")
	for _, e := range f.executions(t) {
		if s := e.GetStatus(); s != enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED && s != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			require.NotContains(t, e.GetSearchAttributes().GetIndexedFields(), "WaitingFor", "%s %s", e.GetExecution(), s)
		}
	}
}

// imageWrites counts the image writes that each machine began.
func (f *fleet) imageWrites(t *testing.T) map[string]int {
	t.Helper()
	writes := map[string]int{}
	for name, a := range f.accounts(t) {
		writes[name] = a.writes
	}
	return writes
}
