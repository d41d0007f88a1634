package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/workflows"
)

// "Request Cancellation" of Temporal's UI, on the workflow of a host that writes its disk.
func TestHostWhoseWorkflowIsCancelledWaitsForADecision(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.blocked["worker-1 image-write"], w.stands = true, model.StageWritingImageToDisk
	env := environment(t, w)
	id := workflows.HostWorkflowID(w.plan.Hosts[4].InfraEnvID, w.plan.Hosts[4].ID)
	env.RegisterDelayedCallback(func() { env.CancelWorkflowByID(id, "") }, time.Minute)
	env.RegisterDelayedCallback(func() {
		news := clusterState(t, env).Hosts[w.plan.Hosts[4].ID]
		require.Equal(t, workflows.HostWaiting, news.State)
		require.Equal(t, "Writing image to disk: its workflow was cancelled in Temporal", news.Reason)
		w.mu.Lock()
		delete(w.blocked, "worker-1 image-write")
		w.mu.Unlock()
		require.NoError(t, env.SignalWorkflowByID(id, workflows.CommandRetryStep, nil))
	}, 2*time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Equal(t, 2, count(lines, "worker-1 image-write"))
	require.Equal(t, 1, count(lines, "worker-1 disk-clean"), "only its stage is done once more")
	require.Equal(t, 1, count(lines, "worker-1 begins attempt 2"))
	require.Equal(t, "complete", lines[len(lines)-1])
}

func TestHostWhoseWorkflowIsCancelledBeforeTheInstallationIsCheckedAgain(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.blocked["master-0 container-image-availability"] = true
	env := environment(t, w)
	id := workflows.HostWorkflowID(w.plan.Hosts[0].InfraEnvID, w.plan.Hosts[0].ID)
	env.RegisterDelayedCallback(func() {
		w.mu.Lock()
		delete(w.blocked, "master-0 container-image-availability")
		w.mu.Unlock()
		env.CancelWorkflowByID(id, "")
	}, time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Equal(t, 2, count(lines, "master-0 container-image-availability"))
	require.Equal(t, 1, count(lines, "master-0 image-write"))
}

func TestHostThatWasDoneWhenItsWorkflowWasLostStaysDone(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.blocked["worker-1 reboot"] = true
	env := environment(t, w)
	id := workflows.HostWorkflowID(w.plan.Hosts[4].InfraEnvID, w.plan.Hosts[4].ID)
	env.RegisterDelayedCallback(func() {
		w.mu.Lock()
		w.done[w.plan.Hosts[4].ID] = true // it was reported meanwhile
		w.mu.Unlock()
		env.CancelWorkflowByID(id, "")
	}, time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Zero(t, count(w.lines(), "worker-1 failed: Rebooting: its workflow was cancelled in Temporal"))
}
