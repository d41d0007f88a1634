package workflows_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"

	"slipway/activities"
	slipway "slipway/worker"
	"slipway/workflows"
)

// A later run keeps the pause, asks no host twice to begin, and keeps the time at which the installation ends.
func TestLaterRunsKeepWhatTheEarlierOnesKnew(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 117)
	w.blocked["milestone operators-available"] = true
	middle := environment(t, w)
	signals := takeSignals(middle, w)
	middle.RegisterDelayedCallback(func() {
		require.Equal(t, 120, signals.of("install"))
		require.Zero(t, signals.of("control-plane-ready"))
		news(middle, w, workflows.HostDone, w.plan.Hosts[:5]...)
	}, time.Minute)
	middle.RegisterDelayedCallback(func() {
		news(middle, w, workflows.HostWaiting, w.plan.Hosts[5])
		middle.UpdateWorkflow(workflows.CommandPause, "p", &testsuite.TestUpdateCallback{
			OnReject: func(err error) { require.NoError(t, err) }, OnAccept: func() {}, OnComplete: func(any, error) {},
		})
	}, 2*time.Minute)
	middle.RegisterDelayedCallback(func() { middle.SetContinueAsNewSuggested(true) }, 30*time.Minute)
	middle.RegisterDelayedCallback(func() { news(middle, w, workflows.HostDone, w.plan.Hosts[6]) }, 20*time.Minute)
	middle.ExecuteWorkflow(workflows.ClusterInstall, prepared(w))
	last := continuation(t, middle)
	require.True(t, last.Paused)
	require.True(t, last.Continued.GateOpen)
	require.Equal(t, workflows.PhaseFinalizing, last.Continued.Phase)
	require.Equal(t, workflows.HostWaiting, last.Continued.Hosts[w.plan.Hosts[5].ID].State)
	require.Equal(t, workflows.HostDone, last.Continued.Hosts[w.plan.Hosts[6].ID].State)
	require.Equal(t, 115, signals.of("hold"), "but the five that are done")

	end := environment(t, w)
	ends := end.Now().Add(90 * time.Minute)
	last.Continued.FinalizingEnds, last.Continued.InstallationEnds = ends, ends
	signals = takeSignals(end, w)
	failed := time.Time{}
	end.OnActivity("FailInstallation", mock.Anything, mock.Anything).Run(func(mock.Arguments) { failed = end.Now() }).Return(nil)
	end.RegisterDelayedCallback(func() { end.SignalWorkflow(workflows.CommandCancel, nil) }, 3*time.Hour)
	end.ExecuteWorkflow(workflows.ClusterInstall, last)
	require.Error(t, end.GetWorkflowError())
	require.Zero(t, signals.of("install"))
	require.Zero(t, signals.of("control-plane-ready"))
	require.WithinDuration(t, ends, failed, time.Minute, "the time of finalizing is not begun again")
}

// 250 hosts are signalled in three parts, and a run may end after each: hosts that answer at once fill a history while others are
// signalled.
func TestARunEndsBetweenTwoPartsOfItsSignals(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 247)
	request, parts := prepared(w), map[string][]int{}
	signalled := map[string]map[string]int{"install": {}, "control-plane-ready": {}}
	for run := 1; ; run++ {
		require.Less(t, run, 10)
		env := environment(t, w)
		before := map[string]int{"install": len(signalled["install"]), "control-plane-ready": len(signalled["control-plane-ready"])}
		var mu sync.Mutex
		for _, h := range w.plan.Hosts {
			id := workflows.HostWorkflowID(h.InfraEnvID, h.ID)
			env.OnSignalExternalWorkflow(mock.Anything, id, "", mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
				mu.Lock()
				defer mu.Unlock()
				signalled[args.String(3)][id]++
				env.RegisterDelayedCallback(func() { env.SetContinueAsNewSuggested(true) }, 0) // where workflows run
			}).Return(nil)
		}
		env.RegisterDelayedCallback(func() { // all hosts began
			env.SetContinueAsNewSuggested(false)
			news(env, w, workflows.HostDone, w.plan.Hosts[:3]...)
		}, time.Minute)
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandCancel, nil) }, time.Hour)
		env.ExecuteWorkflow(workflows.ClusterInstall, request)
		for name, n := range before {
			if n := len(signalled[name]) - n; n > 0 {
				parts[name] = append(parts[name], n)
			}
		}
		var again *workflow.ContinueAsNewError
		if !errors.As(env.GetWorkflowError(), &again) {
			break // everyone knows
		}
		request = continuation(t, env)
	}
	require.Len(t, signalled["install"], 250)
	require.Len(t, signalled["control-plane-ready"], 247)
	for name, of := range signalled {
		require.Greater(t, len(parts[name]), 1, name)
		for _, n := range parts[name][:len(parts[name])-1] {
			require.Zero(t, n%100, "%s: a run may do two parts, when something else is under way between them", name)
		}
		for host, times := range of {
			require.Equal(t, 1, times, "%s to %s", name, host)
		}
	}
}

// A cluster can be finalized with its control plane alone, while workers are still signalled.
func TestALaterRunSignalsWorkersOfAClusterThatIsFinalized(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 117)
	w.blocked["milestone operators-available"] = true
	request := prepared(w)
	request.Continued.Phase, request.Continued.GateOpen = workflows.PhaseFinalizing, true
	for _, h := range w.plan.Hosts[100:] {
		request.Continued.Untold = append(request.Continued.Untold, h.ID)
	}
	env := environment(t, w)
	signals := takeSignals(env, w)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandCancel, nil) }, time.Hour)
	env.ExecuteWorkflow(workflows.ClusterInstall, request)
	require.Error(t, env.GetWorkflowError())
	require.Equal(t, 20, signals.of("control-plane-ready"))
}

// The children of an earlier run are no children of this one: they are cancelled by their ids.
func TestCancelledLaterRunEndsTheHostsOfEarlierOnes(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 117)
	env := environment(t, w)
	takeSignals(env, w)
	env.RegisterDelayedCallback(func() { news(env, w, workflows.HostDone, w.plan.Hosts[0]) }, time.Minute)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandCancel, nil) }, 2*time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, prepared(w))
	require.Error(t, env.GetWorkflowError())
	lines := w.lines()
	require.Equal(t, []string{"end 119 hosts", "cancelled"}, lines[len(lines)-2:])
}

// A signal is given to the coroutine that waits for it before that coroutine runs: a run must not end in between. Temporal
// suggests another run in the task that brings the signal.
func TestNoSignalIsLostWithARun(t *testing.T) {
	t.Parallel()
	cluster := uuid.New()
	input, err := converter.GetDefaultDataConverter().ToPayloads(workflows.ControlRequest{ClusterID: cluster, Name: "prod"})
	require.NoError(t, err)
	history := &historypb.History{Events: []*historypb.HistoryEvent{
		{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				WorkflowType: &commonpb.WorkflowType{Name: "ClusterControl"}, TaskQueue: &taskqueuepb.TaskQueue{Name: "slipway"}, Input: input,
				OriginalExecutionRunId: uuid.NewString(), WorkflowTaskTimeout: durationpb.New(10 * time.Second),
			},
		}},
		scheduled(), started(2, false), completed(2),
		{Attributes: &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
			WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{SignalName: "pause"},
		}},
		scheduled(), started(6, true), completed(6),
		{Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
				ActivityId: "9", ActivityType: &commonpb.ActivityType{Name: "CommandCluster"}, TaskQueue: &taskqueuepb.TaskQueue{Name: "slipway"},
				WorkflowTaskCompletedEventId: 8,
			},
		}},
		scheduled(), started(10, true),
	}}
	types := map[int]enumspb.EventType{
		1: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, 5: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
		9: enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
		2: enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, 3: enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, 4: enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
		6: enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, 7: enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, 8: enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
		10: enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, 11: enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
	}
	for i, e := range history.GetEvents() {
		e.EventId, e.EventType, e.EventTime = int64(i+1), types[i+1], timestamppb.Now()
	}
	replayer := worker.NewWorkflowReplayer()
	slipway.RegisterWorkflows(replayer)
	require.NoError(t, replayer.ReplayWorkflowHistoryWithOptions(nil, history, worker.ReplayWorkflowHistoryOptions{
		OriginalExecution: workflow.Execution{ID: workflows.ControlWorkflowID(cluster)},
	}))
}

func scheduled() *historypb.HistoryEvent {
	return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowTaskScheduledEventAttributes{
		WorkflowTaskScheduledEventAttributes: &historypb.WorkflowTaskScheduledEventAttributes{TaskQueue: &taskqueuepb.TaskQueue{Name: "slipway"}},
	}}
}

func started(scheduled int64, suggested bool) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
		WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{
			ScheduledEventId: scheduled, SuggestContinueAsNew: suggested,
		},
	}}
}

func completed(scheduled int64) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
		WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{
			ScheduledEventId: scheduled, StartedEventId: scheduled + 1,
		},
	}}
}

// prepared begins the second run of an installation, whose first has prepared the hosts.
func prepared(w *recorder) workflows.ClusterRequest {
	request := w.request()
	request.Continued = &workflows.Continuation{Phase: workflows.PhaseInstalling, Hosts: map[uuid.UUID]workflows.HostNews{}}
	for _, h := range w.plan.Hosts {
		request.Continued.Hosts[h.ID] = workflows.HostNews{HostID: h.ID, State: workflows.HostPrepared, Attempt: 1}
	}
	return request
}

// continuation returns the input of the next run.
func continuation(t *testing.T, env *environ) workflows.ClusterRequest {
	t.Helper()
	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, env.GetWorkflowError(), &again)
	var next workflows.ClusterRequest
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
	require.NotNil(t, next.Continued)
	return next
}

// counted counts signals by their names.
type counted struct {
	mu sync.Mutex
	by map[string]int
}

func (c *counted) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[name]
}

// takeSignals counts the signals to hosts, whose workflows an earlier run has begun. The test environment sends them at once.
func takeSignals(env *environ, w *recorder) *counted {
	c := &counted{by: map[string]int{}}
	for _, h := range w.plan.Hosts {
		id := workflows.HostWorkflowID(h.InfraEnvID, h.ID)
		env.OnSignalExternalWorkflow(mock.Anything, id, "", mock.Anything, mock.Anything).Run(func(args mock.Arguments) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.by[args.String(3)]++
		}).Return(nil)
	}
	return c
}

// news comes from hosts.
func news(env *environ, w *recorder, state workflows.HostState, from ...activities.HostPlan) {
	for _, h := range from {
		if state == workflows.HostDone {
			w.mu.Lock()
			w.done[h.ID] = true
			w.mu.Unlock()
		}
		env.SignalWorkflow(workflows.SignalHostNews, workflows.HostNews{HostID: h.ID, State: state, Attempt: 1})
	}
}
