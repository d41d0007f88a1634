package e2e_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// events lists the events of all runs of one workflow.
func (f *fleet) events(t *testing.T, workflow string) (all []*historypb.HistoryEvent) {
	t.Helper()
	for _, h := range histories(t, f.dataDir) {
		if h.id == workflow {
			all = append(all, h.opened.GetEvents()...)
		}
	}
	return all
}

// signalled reports whether a workflow got a signal.
func (f *fleet) signalled(t *testing.T, workflow, name string) bool {
	t.Helper()
	return slices.ContainsFunc(f.events(t, workflow), func(e *historypb.HistoryEvent) bool {
		return e.GetWorkflowExecutionSignaledEventAttributes().GetSignalName() == name
	})
}

// A host's workflow is terminated and reset in Temporal before its cluster has another one: what becomes of that run is
// announced by no child, and the service announces its end.
func TestHostWhoseEndIsNotAnnouncedIsReplaced(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.begin(t)
	f.await(t, "worker-0 to wait for the control plane", stageOf("worker-0", wire.HostStageWaitingForControlPlane))
	temporal, workflow := f.temporal(t), hostWorkflow(f.host(t, "worker-0"))
	described, err := temporal.DescribeWorkflowExecution(t.Context(), workflow, "")
	require.NoError(t, err)
	first := described.GetWorkflowExecutionInfo().GetExecution()
	require.NoError(t, temporal.TerminateWorkflow(t.Context(), workflow, first.GetRunId(), "a test"))
	_, err = temporal.WorkflowService().ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "slipway", WorkflowExecution: first, Reason: "a test", WorkflowTaskFinishEventId: 4, RequestId: uuid.NewString(),
	})
	require.NoError(t, err)
	refused := func(e *historypb.HistoryEvent) bool {
		return e.GetStartChildWorkflowExecutionFailedEventAttributes().GetWorkflowId() == workflow
	}
	starts := func(e *historypb.HistoryEvent) bool {
		return e.GetChildWorkflowExecutionStartedEventAttributes().GetWorkflowExecution().GetWorkflowId() == workflow
	}
	started := 0
	await.True(t, func() bool {
		events := f.events(t, f.clusterWorkflow())
		started = 0
		for _, e := range events {
			if starts(e) {
				started++
			}
		}
		return started > 1 || slices.ContainsFunc(events, refused)
	}, "the cluster to try another workflow")
	if started > 1 {
		t.Skip("SKIP: the cluster had another workflow before the reset; run it again")
	}
	if err := temporal.TerminateWorkflow(t.Context(), workflow, "", "a test"); err != nil {
		t.Logf("it ended by itself: %v", err)
	}
	await.True(t, func() bool { return f.signalled(t, f.clusterWorkflow(), "host-lost") }, "the service to announce it")
	f.await(t, "worker-0 to wait for a decision", func(*wire.Cluster) bool {
		return f.host(t, "worker-0").Status == wire.HostStatusError
	})
	f.typed(t, "host", "retry", "worker-0", "--url", f.url)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.record(t, "host-lost")
}

// Scripts command an installation, while it runs and after, through one workflow of its cluster.
func TestControlWorkflowTakesCommands(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := shape{masters: 3, workers: 2, speed: 0, flags: map[string][]string{"worker-1": {"--fail", "image-write"}}}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	temporal, control := f.temporal(t), "control:"+f.id.String()
	update := func(name string) error {
		handle, err := temporal.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
			WorkflowID: control, UpdateName: name, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			return err
		}
		return handle.Get(t.Context(), nil)
	}
	f.awaitDecision(t, "worker-1")
	require.NoError(t, update("pause"))
	require.Error(t, update("pause"), "it is paused already")
	require.NoError(t, update("resume"))
	require.NoError(t, temporal.SignalWorkflow(t.Context(), control, "", "retry-stepp", "worker-1"))
	require.NoError(t, temporal.SignalWorkflow(t.Context(), control, "", "retry-step", "worker-1"))
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	require.Error(t, update("reset"), "an installed cluster is not reset")
	require.True(t, f.signalled(t, control, "retry-stepp"))
	f.nothingLost(t, false)
	f.record(t, "control")
}

// A workflow that takes the place of one which was paused holds its hosts before the first of them begins.
func TestPausedInstallationIsContinuedPaused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := shape{masters: 3, workers: 2, speed: 200}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	await.True(t, func() bool { return f.client.PauseCluster(t.Context(), f.id) == nil }, "the installation to be paused")
	f.terminate(t)
	held := func(e *historypb.HistoryEvent) bool { return version(e) == `"hold-hosts-from-the-start"` }
	await.True(t, func() bool { return slices.ContainsFunc(f.events(t, f.clusterWorkflow()), held) }, "another workflow that is paused")
	await.True(t, func() bool {
		state, err := f.client.Workflow(t.Context(), f.id)
		return err == nil && state.Paused
	}, "the workflow to answer that it is paused")
	require.NoError(t, f.client.ResumeCluster(t.Context(), f.id))
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
	f.record(t, "pause-first")
}

// A cluster of more hosts than get signals at once (manyHosts in workflows). A machine here is a process: it is installed for its
// history only.
func TestHistoryOfManyHosts(t *testing.T) {
	t.Parallel()
	if *recordFor == "" {
		t.Skip("SKIP: this test needs the version that it records for (make record-histories)")
	}
	f := newFleet(t)
	s := shape{masters: 3, workers: 102, speed: 0}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
	f.record(t, "many")
}
