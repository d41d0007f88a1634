package e2e_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"slipway/internal/testing/await"
	"slipway/internal/wire"

	commonpb "go.temporal.io/api/common/v1"
)

// phases are moments of an installation at which a test presses buttons.
var phases = []struct {
	name string
	at   func(*wire.Cluster) bool
}{
	{"preparing", func(c *wire.Cluster) bool { return c.Status == wire.ClusterStatusPreparingForInstallation }},
	{"writing", stageOf("master-1", wire.HostStageWritingImageToDisk)},
	{"gate", stageOf("worker-1", wire.HostStageWaitingForControlPlane)},
	{"finalizing", func(c *wire.Cluster) bool { return c.Status == wire.ClusterStatusFinalizing }},
}

func stageOf(name string, stage wire.HostStage) func(*wire.Cluster) bool {
	return func(c *wire.Cluster) bool {
		for i := range c.Hosts {
			if c.Hosts[i].RequestedHostname == name && c.Hosts[i].Progress.CurrentStage == stage {
				return true
			}
		}
		return false
	}
}

// begin starts an installation of five hosts.
func (f *fleet) begin(t *testing.T) {
	t.Helper()
	f.beginAt(t, 60) // a busy machine looks at each phase while it lasts
}

func (f *fleet) beginAt(t *testing.T, speed float64) {
	t.Helper()
	s := shape{masters: 3, workers: 2, speed: speed}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
}

func (f *fleet) clusterWorkflow() string { return "cluster:" + f.id.String() }

// terminate presses the button "Terminate" of the cluster's workflow as soon as one runs: the service may still be
// about to replace the one before.
func (f *fleet) terminate(t *testing.T) {
	t.Helper()
	temporal := f.temporal(t)
	await.True(t, func() bool {
		return temporal.TerminateWorkflow(t.Context(), f.clusterWorkflow(), "", "a test") == nil
	}, "a workflow to terminate")
}

// Each button is pressed in some phases of one installation, and in every phase one is. It continues where its hosts are, and writes each
// disk once. make press-everything presses all of them everywhere.
func TestClusterWhoseWorkflowIsEndedOrResetInTheUIIsInstalled(t *testing.T) {
	t.Parallel()
	buttons := []struct {
		name  string
		press func(*testing.T, *fleet)
	}{
		{"Terminate", func(t *testing.T, f *fleet) { t.Helper(); f.terminate(t) }},
		{"Reset to the first task", func(t *testing.T, f *fleet) { t.Helper(); f.reset(t, f.clusterWorkflow()) }},
		{"Reset to the last task", func(t *testing.T, f *fleet) { t.Helper(); f.resetToLast(t, f.clusterWorkflow()) }},
	}
	f := newFleet(t)
	f.begin(t)
	for n, phase := range phases {
		f.await(t, phase.name, phase.at)
		button := buttons[n%len(buttons)]
		t.Logf("%s in phase %s", button.name, phase.name)
		button.press(t, f)
	}
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
	f.record(t, "buttons")
	_ = f.reset(t, f.clusterWorkflow()).Get(t.Context(), nil)
	_ = f.resetToLast(t, f.clusterWorkflow()).Get(t.Context(), nil)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
}

// What users command works after each button, and buttons on what has ended change nothing.
func TestCommandsWorkAfterButtonsInTheUI(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := shape{masters: 3, workers: 2, speed: 15} // as in TestCancelledInstallationIsResetAndInstalledAgain
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	temporal := f.temporal(t)
	first, err := temporal.DescribeWorkflowExecution(t.Context(), f.clusterWorkflow(), "")
	require.NoError(t, err)

	f.await(t, "a host that writes its disk", writesADisk)
	f.resetToLast(t, f.clusterWorkflow())
	f.resetCluster(t)
	f.awaitStatus(t, wire.ClusterStatusReady)

	f.install(t)
	f.await(t, "a host that writes its disk again", writesADisk)
	old := first.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	_, err = temporal.WorkflowService().ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "slipway", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: f.clusterWorkflow(), RunId: old},
		Reason: "a run of the installation before", WorkflowTaskFinishEventId: 4, RequestId: uuid.NewString(),
	})
	require.NoError(t, err)
	f.await(t, "the installation to continue with another workflow", func(*wire.Cluster) bool {
		state, err := f.client.Workflow(t.Context(), f.id)
		return err == nil && state.Phase == "installing"
	})
	f.terminate(t)
	_, err = f.client.CancelCluster(t.Context(), f.id)
	require.NoError(t, err)
	f.awaitStatus(t, wire.ClusterStatusCancelled)
	for _, write := range f.accounts(t) {
		require.LessOrEqual(t, write.commanded["image-write"], 2, "one in each installation")
	}
	f.resetCluster(t)
	f.awaitStatus(t, wire.ClusterStatusReady)

	f.install(t)
	f.await(t, "a host that writes its disk for the third time", writesADisk)
	require.NoError(t, temporal.CancelWorkflow(t.Context(), f.clusterWorkflow(), "")) // "Request Cancellation"
	f.awaitStatus(t, wire.ClusterStatusCancelled)
	f.reset(t, f.clusterWorkflow())
	require.Error(t, temporal.GetWorkflow(t.Context(), f.clusterWorkflow(), "").Get(t.Context(), nil), "there is nothing to install")
	f.awaitStatus(t, wire.ClusterStatusCancelled)
	_, open := f.steps(t)
	require.Zero(t, open)
}
