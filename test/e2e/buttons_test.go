package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"slipway/internal/model"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"

	commonpb "go.temporal.io/api/common/v1"
)

// temporal returns a client of the fleet's Temporal, as its UI is one.
func (f *fleet) temporal(t *testing.T) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), built.Temporal(t, f.dataDir))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// reset does as the button "Reset" of Temporal's UI, and `temporal workflow reset --type FirstWorkflowTask`: the
// workflow begins once more after its first task, in another run, and its signals are given to it again.
func (f *fleet) reset(t *testing.T, workflow string) client.WorkflowRun {
	t.Helper()
	return f.resetAt(t, workflow, func(tasks []int64) int64 { return tasks[0] })
}

// resetToLast does as `temporal workflow reset --type LastWorkflowTask`.
func (f *fleet) resetToLast(t *testing.T, workflow string) client.WorkflowRun {
	t.Helper()
	return f.resetAt(t, workflow, func(tasks []int64) int64 { return tasks[len(tasks)-1] })
}

func (f *fleet) resetAt(t *testing.T, workflow string, choose func(tasks []int64) int64) client.WorkflowRun {
	t.Helper()
	c := f.temporal(t)
	var tasks []int64
	events := c.GetWorkflowHistory(t.Context(), workflow, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			tasks = append(tasks, event.GetEventId())
		}
	}
	require.NotEmpty(t, tasks)
	answer, err := c.WorkflowService().ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "slipway", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflow}, Reason: "a test",
		WorkflowTaskFinishEventId: choose(tasks), RequestId: uuid.NewString(),
	})
	require.NoError(t, err)
	return c.GetWorkflow(t.Context(), workflow, answer.GetRunId())
}

// found waits until one workflow is found by its search attributes.
func (f *fleet) found(t *testing.T, query, id string) {
	t.Helper()
	c := f.temporal(t)
	var ids []string
	for watch := await.Begin(t); !watch.Over(); time.Sleep(200 * time.Millisecond) {
		list, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: "slipway", Query: query})
		require.NoError(t, err)
		ids = nil
		for _, e := range list.GetExecutions() {
			ids = append(ids, e.GetExecution().GetWorkflowId())
		}
		if len(ids) == 1 && ids[0] == id {
			return
		}
	}
	require.Equal(t, []string{id}, ids, query)
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

// Terminate and Request Cancellation of the workflow of one host: it waits for a decision like a host that failed, and the
// others are installed meanwhile.
func TestHostWhoseWorkflowIsEndedInTheUIIsRetriedAlone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := shape{masters: 3, workers: 2, speed: 200}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	writing := map[string]bool{}
	f.await(t, "both workers to write their disks", func(c *wire.Cluster) bool {
		for i := range c.Hosts {
			if c.Hosts[i].Progress.CurrentStage == wire.HostStageWritingImageToDisk {
				writing[c.Hosts[i].RequestedHostname] = true
			}
		}
		return writing["worker-0"] && writing["worker-1"]
	})
	temporal := f.temporal(t)
	require.NoError(t, temporal.TerminateWorkflow(t.Context(), hostWorkflow(f.host(t, "worker-0")), "", "a test"))
	require.NoError(t, temporal.CancelWorkflow(t.Context(), hostWorkflow(f.host(t, "worker-1")), ""))
	ended := map[string]string{"worker-0": "terminated", "worker-1": "cancelled"}
	for name, how := range ended {
		f.await(t, name+" to wait for a decision", func(*wire.Cluster) bool {
			h := f.host(t, name)
			return h.Status == wire.HostStatusError && strings.Contains(h.StatusInfo, "its workflow was "+how+" in Temporal")
		})
	}
	for name := range ended {
		f.found(t, "ClusterName = 'e2e' AND HostName = '"+name+"' AND WaitingFor = 'retry, retry-step or evict' AND "+
			"ExecutionStatus = 'Running'", hostWorkflow(f.host(t, name)))
	}
	for name := range ended {
		f.typed(t, "host", "retry", name, "--url", f.url)
	}
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.found(t, "ClusterName = 'e2e' AND Phase = 'done' AND State = 'installed'", f.clusterWorkflow())
	f.nothingLost(t, false)
	for name, a := range f.accounts(t) {
		commands := 1
		if ended[name] != "" {
			commands = 2
		}
		require.LessOrEqual(t, a.commanded["image-write"], commands, name)
		require.LessOrEqual(t, a.writes, commands, name)
	}
	f.record(t, "ended-hosts")
}
