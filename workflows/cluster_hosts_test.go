package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
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

func TestClusterIsReviewedUntilItsRowsAreAsFarAsItsHosts(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.behind = 3
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Equal(t, 3, count(lines, "rows are behind"))
	require.Equal(t, "complete", lines[len(lines)-1])
}

// A host that reports from its disk needs no decision: the boot order was repaired, or the service restored from an older backup.
func TestHostThatIsAheadOfItsWorkflowContinues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails  string
		stage  string
		done   bool
		writes int
	}{
		"a step whose answer was lost":     {"worker-1 image-write", "Writing image to disk", false, 2}, // the activity skips the second one
		"a boot that took too long":        {"worker-1 Configuring", "Configuring", false, 1},
		"a host that is installed already": {"worker-1 image-write", "Writing image to disk", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRecorder(3, 2)
			w.fails[c.fails] = []error{stepFailed("the host fell silent")}
			w.ahead = map[string]bool{"worker-1": true}
			w.done[w.plan.Hosts[4].ID] = c.done
			env := environment(t, w)
			env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
			require.NoError(t, env.GetWorkflowError())
			lines := w.lines()
			require.Equal(t, 1, count(lines, "worker-1 failed: "+c.stage+": the host fell silent"))
			require.Equal(t, c.writes, count(lines, "worker-1 image-write"))
			require.Zero(t, count(lines, "worker-1 given up"))
			require.Zero(t, count(lines, "worker-1 retried, left live image: true")+count(lines, "worker-1 retried, left live image: false"))
			require.Equal(t, "complete", lines[len(lines)-1])
		})
	}
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

// The workflow of a cluster that was terminated in Temporal's UI, or lost with its tables, is replaced by another one.
func TestInstallationThatContinuesGoesOnWhereItsHostsStand(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.plan.Continues, w.plan.Age, w.stands = true, 20*time.Minute, model.StageWritingImageToDisk
	w.done[w.plan.Hosts[1].ID] = true
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Zero(t, count(lines, "ignition"), "hosts have the files already")
	require.Zero(t, count(lines, "conclude true "))
	for _, name := range []string{"master-0", "master-2", "worker-0", "worker-1"} {
		require.Zero(t, count(lines, name+" disk-clean"), "a stage that is over")
		require.Equal(t, 1, count(lines, name+" image-write"), "the present one, which the host may have done")
		require.Equal(t, 1, count(lines, name+" begins attempt 1"), "the same one")
	}
	require.Zero(t, count(lines, "master-1 image-write"), "it is installed")
	require.Equal(t, "complete", lines[len(lines)-1])
}

func TestPausedInstallationThatContinuesStaysPaused(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.plan.Continues, w.stands = true, model.StageWritingImageToDisk
	env := environment(t, w)
	env.RegisterDelayedCallback(func() {
		require.True(t, clusterState(t, env).Paused)
		require.Zero(t, count(w.lines(), "master-0 reboot"))
		require.NoError(t, env.SignalWorkflowByID(workflows.ClusterWorkflowID(w.plan.ClusterID), workflows.CommandResume, nil))
	}, time.Minute)
	request := w.request()
	request.Paused = true
	env.ExecuteWorkflow(workflows.ClusterInstall, request)
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 1, count(w.lines(), "master-0 reboot"))
}

func TestInstallationThatWasStoppedAtATimeOutStaysStoppedWhenItContinues(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.plan.Continues, w.plan.Stalled, w.stands = true, "the installation took more than 1h", model.StageRebooting
	env := environment(t, w)
	env.RegisterDelayedCallback(func() {
		require.True(t, clusterState(t, env).TimedOut)
		require.NoError(t, env.SignalWorkflowByID(workflows.ClusterWorkflowID(w.plan.ClusterID), workflows.CommandExtend, nil))
	}, time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 1, count(w.lines(), "cluster failed: the installation took more than 1h"))
	require.Equal(t, 1, count(w.lines(), "resume"))
}

// Findings of a workflow whose attempt is over are not written to the present attempt.
func TestWorkflowOfAnInstallationThatIsOverWritesNothing(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 0)
	w.fails["freeze"] = []error{temporal.NewNonRetryableApplicationError("installation 1 is over", activities.FailureSuperseded, nil)}
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.ErrorContains(t, env.GetWorkflowError(), "installation 1 is over")
	require.Equal(t, []string{"freeze"}, w.lines())
}

// The list of workflows lags behind: a host that is said to be lost may run.
func TestHostThatRunsIsNotReplaced(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.blocked["worker-1 image-write"], w.stands = true, model.StageWritingImageToDisk
	env := environment(t, w)
	lost := workflows.HostNews{HostID: w.plan.Hosts[4].ID, Reason: "it is not in the list", Attempt: 1}
	env.RegisterDelayedCallback(func() {
		require.NoError(t, env.SignalWorkflowByID(workflows.ClusterWorkflowID(w.plan.ClusterID), workflows.SignalHostLost, lost))
	}, time.Minute)
	env.RegisterDelayedCallback(func() { w.release(t, env, "worker-1 image-write") }, 2*time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 1, count(w.lines(), "worker-1 image-write"))
	require.Zero(t, count(w.lines(), "worker-1 failed: Writing image to disk: it is not in the list"))
}

// The rows were lost, or the host was deleted: another child would find nothing either.
func TestHostThatTheRowsDoNotKnowIsNotReplacedAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	gone := temporal.NewNonRetryableApplicationError("no such host", activities.FailureRefused, nil)
	w.fails["worker-1 image-write"], w.fails["fail worker-1"] = []error{gone}, []error{gone}
	w.status = model.ClusterFinalizing
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 1, count(w.lines(), "worker-1 image-write"))
	require.Equal(t, 1, count(w.lines(), "worker-1 failed: Writing image to disk: no such host"))
}

// A client that reads in the host's row that it waits for a decision may be faster than its workflow.
func TestHostTakesADecisionAsSoonAsItsRowAsksForOne(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["worker-1 image-write"] = []error{stepFailed("no space left on device")}
	env := environment(t, w)
	w.failed = func(f activities.HostFailure) {
		_ = env.SignalWorkflowByID(workflows.HostWorkflowID(f.InfraEnvID, f.HostID), workflows.CommandRetryStep, nil)
	}
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Equal(t, 2, count(lines, "worker-1 image-write"), "%q", lines)
	require.NotContains(t, lines, "worker-1 given up")
}

// The workflow of a host was terminated and replaced; then an older run of it was reset in Temporal's UI, which ends the newer one
// without a word to the cluster, and terminated too. To the cluster the child runs, and Temporal starts no second one.
func TestHostThatIsLostBehindARunningChildIsFoundByAnotherRun(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.blocked["worker-1 image-write"] = true
	env := environment(t, w)
	lost := workflows.HostNews{HostID: w.plan.Hosts[4].ID, Reason: "its workflow was terminated in Temporal", Attempt: 1}
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandPause, nil) }, time.Minute)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.SignalHostLost, lost) }, 2*time.Minute)
	env.RegisterDelayedCallback(func() {
		require.False(t, env.IsWorkflowCompleted(), "the first announcement may be late")
		env.SignalWorkflow(workflows.SignalHostLost, lost)
	}, 3*time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, env.GetWorkflowError(), &again)
	var next workflows.ClusterRequest
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
	require.Nil(t, next.Continued, "it finds its hosts from their rows")
	require.True(t, next.Paused)
}
