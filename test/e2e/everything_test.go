package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
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

// everyTask is how many workflow tasks lie between two points that a Reset is tried at. Where buttons meet depends on the machine, and
// the test still finds what is not handled: it is run on request.
var everyTask = flag.Int("every-task", 0, "points of each run that buttons are pressed at: every n-th workflow task; 0: none")

// everyCommand are the signals that users and services send.
var everyCommand = []string{
	workflows.CommandCancel, workflows.CommandReset, workflows.CommandExtend, workflows.CommandPause, workflows.CommandResume,
	workflows.CommandRetry, workflows.CommandRetryStep, workflows.CommandEvict,
	workflows.SignalInstall, workflows.SignalControlPlane, "no-such-command",
}

// Every button of Temporal is pressed at every run while hosts are installed, two at once and with a kill of the service, and then at
// every run that has ended. Each run ends, no host is asked for anything, and each disk is written once, and once more for each retry.
func TestEverythingIsPressedEverywhere(t *testing.T) {
	t.Parallel()
	if *everyTask == 0 {
		t.Skip("SKIP: every button of Temporal is pressed by make press-everything")
	}
	f := newFleet(t)
	f.beginAt(t, 20) // slow enough for the test to see its moments
	allowed := f.pressRunning(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.endsButControl(t)
	writes := f.imageWrites(t)
	for name, n := range writes {
		require.LessOrEqual(t, n, allowed[name], "writes of %s", name)
	}
	f.pressEnded(t)
	f.batch(t)
	f.endsButControl(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	require.Equal(t, writes, f.imageWrites(t), "a disk is written again")
	f.nothingLost(t, false)
}

// button is a button on the page of a run that is under way.
type button struct {
	name  string
	press func(context.Context, client.Client, *commonpb.WorkflowExecution, []int64) error
}

func resetTo(choose func(tasks []int64) int64) func(context.Context, client.Client, *commonpb.WorkflowExecution, []int64) error {
	return func(ctx context.Context, temporal client.Client, run *commonpb.WorkflowExecution, tasks []int64) error {
		_, err := tryReset(ctx, temporal, run, choose(tasks))
		return err
	}
}

var (
	buttonsOfRuns = []button{
		{"Reset to the first task", resetTo(func(tasks []int64) int64 { return tasks[0] })},
		{"Reset to a task in the middle", resetTo(func(tasks []int64) int64 { return tasks[len(tasks)/2] })},
		{"Reset to the last task", resetTo(func(tasks []int64) int64 { return tasks[len(tasks)-1] })},
		{"Terminate", func(ctx context.Context, temporal client.Client, run *commonpb.WorkflowExecution, _ []int64) error {
			return temporal.TerminateWorkflow(ctx, run.GetWorkflowId(), run.GetRunId(), "a test")
		}},
	}
	// cancelButton is the command cancel for a cluster.
	cancelButton = button{"Request Cancellation", func(
		ctx context.Context, temporal client.Client, run *commonpb.WorkflowExecution, _ []int64,
	) error {
		return temporal.CancelWorkflow(ctx, run.GetWorkflowId(), run.GetRunId())
	}}
)

// pressed is a workflow whose buttons are pressed in turn.
type pressed struct {
	name    string // of its host; empty for the cluster
	id      string
	buttons []button
	run     string // that had a button pressed, or was found since
	next    int    // how many tasks it has when the next one is pressed
	waited  bool   // it waited for its user when the last one was pressed
}

// pressRunning presses every button at each run that is under way, each time it has advanced by some tasks: of the cluster and of
// a host at once, with a kill of the service after each round. Hosts that wait for their user are retried. It returns how often
// each disk may be written.
func (f *fleet) pressRunning(t *testing.T) (allowed map[string]int) {
	t.Helper()
	temporal := f.temporal(t)
	targets := []*pressed{{id: f.clusterWorkflow(), buttons: buttonsOfRuns}}
	allowed = map[string]int{}
	for name := range f.machines {
		allowed[name] = 1
		targets = append(targets, &pressed{
			name: name, id: hostWorkflow(f.host(t, name)), buttons: append(slices.Clone(buttonsOfRuns), cancelButton),
		})
	}
	presses := 0
	f.await(t, "the end of an installation whose buttons are pressed", func(c *wire.Cluster) bool {
		kill := false
		for _, p := range targets {
			if f.pressNext(t, temporal, p) {
				presses++
				kill = kill || len(p.buttons) == 0
				if p.waited { // a Reset of a host that has failed is its retry
					allowed[p.name]++
				}
			}
		}
		if kill {
			f.service.signal(syscall.SIGKILL)
			built.WaitReady(t, f.url)
		}
		for i := range c.Hosts {
			name := c.Hosts[i].RequestedHostname
			if c.Hosts[i].Status == wire.HostStatusError && f.try(t, "host", "retry-step", name, "--url", f.url) {
				allowed[name]++
			}
		}
		return c.Status == wire.ClusterStatusInstalled
	})
	t.Logf("%d buttons pressed while hosts were installed", presses)
	require.Greater(t, presses, len(targets), "each run, and some more than once")
	return allowed
}

// pressNext presses the next button of a workflow when its run has advanced since the one before, and starts a copy of its
// first run. It reports whether it pressed one.
func (f *fleet) pressNext(t *testing.T, temporal client.Client, p *pressed) bool {
	t.Helper()
	d, err := temporal.DescribeWorkflowExecution(t.Context(), p.id, "")
	info := d.GetWorkflowExecutionInfo()
	if err != nil || info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || len(p.buttons) == 0 {
		return false
	}
	run := info.GetExecution()
	tasks := f.tasks(t, run)
	if run.GetRunId() != p.run { // another one has begun, or was found
		if p.run == "" {
			f.startCopy(t, run, uuid.NewString())
		}
		p.run, p.next = run.GetRunId(), len(tasks)+min(*everyTask, tasksOfShortRuns)
	}
	if len(tasks) < max(p.next, 1) {
		return false
	}
	b := p.buttons[0]
	if b.press(t.Context(), temporal, run, tasks) != nil {
		return false // it has just ended
	}
	p.buttons, p.waited = p.buttons[1:], info.GetSearchAttributes().GetIndexedFields()["WaitingFor"] != nil
	t.Logf("%s at %s, task %d", b.name, p.id, len(tasks))
	return true
}

// tasksOfShortRuns are a few tasks of runs that have some thirty.
const tasksOfShortRuns = 5

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

// points lists the workflow tasks that a Reset is tried at.
func points(tasks int) []int {
	var all []int
	for i := 0; i < tasks-1; i += *everyTask {
		all = append(all, i)
	}
	if tasks > 0 {
		all = append(all, tasks-1)
	}
	return all
}

// batch resets all workflows of the cluster with one batch operation of the web UI, except the workflow that takes commands.
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

// executions lists all runs of workflows.
func (f *fleet) executions(t *testing.T) (all []*workflowpb.WorkflowExecutionInfo) {
	t.Helper()
	list, err := f.temporal(t).ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: "slipway", Query: "ClusterID = '" + f.id.String() + "'", PageSize: 1000,
	})
	require.NoError(t, err)
	require.Empty(t, list.GetNextPageToken())
	return list.GetExecutions()
}

// tasks lists the events with which the workflow tasks of a run completed.
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
	return tasks
}

// press resets a run to one of its workflow tasks. It returns the run that this begins.
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

// startCopy does as "Start Workflow Like This One": another id, and the input as it is. The copy fails.
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

// endsButControl waits until no workflow of the cluster runs except ClusterControl, which takes its commands.
// None that was not terminated looks as if it waited for somebody.
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
