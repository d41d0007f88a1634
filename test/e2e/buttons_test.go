package e2e_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"slipway/internal/model"
	"slipway/internal/wire"

	commonpb "go.temporal.io/api/common/v1"
)

// reset is what the button "Reset" of Temporal's UI does, and `temporal workflow reset --type FirstWorkflowTask`: the
// workflow begins once more after its first task, in another run, and its signals are given to it again.
func (f *fleet) reset(t *testing.T, workflow string) client.WorkflowRun {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: f.temporalAddress(t), Namespace: "slipway"})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	first := int64(0)
	events := c.GetWorkflowHistory(t.Context(), workflow, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for first == 0 && events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			first = event.GetEventId()
		}
	}
	answer, err := c.WorkflowService().ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "slipway", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflow}, Reason: "a test",
		WorkflowTaskFinishEventId: first, RequestId: uuid.NewString(),
	})
	require.NoError(t, err)
	return c.GetWorkflow(t.Context(), workflow, answer.GetRunId())
}

func hostWorkflow(h *wire.Host) string { return "host:" + h.InfraEnvID.String() + ":" + h.ID.String() }

func TestResetOfHostsInTheUIWritesNoDiskTwice(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := shape{masters: 3, workers: 2, speed: 200}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.await(t, "worker-1 to wait for the control plane", func(c *wire.Cluster) bool {
		for i := range c.Hosts {
			h := &c.Hosts[i]
			if h.RequestedHostname == "worker-1" && h.Progress.CurrentStage == wire.HostStageWaitingForControlPlane {
				return true
			}
		}
		return false
	})
	f.reset(t, hostWorkflow(f.host(t, "worker-1"))) // it continues in the stage that its host is in
	f.awaitStatus(t, wire.ClusterStatusInstalled)

	for _, name := range []string{"master-1", "worker-0"} {
		err := f.reset(t, hostWorkflow(f.host(t, name))).Get(t.Context(), nil)
		require.ErrorContains(t, err, "type: Superseded", "%s is installed; the sentence is sealed", name)
	}
	require.Never(t, func() bool { _, open := f.steps(t); return open > 0 }, 3*time.Second, 100*time.Millisecond,
		"an installed host is asked for something")
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	for _, name := range []string{"master-1", "worker-0", "worker-1"} {
		require.Equal(t, wire.HostStatus(model.HostInstalled), f.host(t, name).Status, name)
	}
	f.nothingLost(t, true)
}
