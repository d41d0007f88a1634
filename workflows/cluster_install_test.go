package workflows_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/workflows"

	enumspb "go.temporal.io/api/enums/v1"
)

func TestClusterIsInstalledInOrder(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	for _, h := range w.plan.Hosts {
		require.Equal(t, 1, count(lines, h.Name+" image-write"), "each disk is written once")
		require.Less(t, indexOf(t, lines, "conclude true "), indexOf(t, lines, h.Name+" disk-clean"),
			"no disk is touched before the preparation is over")
		require.Less(t, indexOf(t, lines, h.Name+" reached Done"), indexOf(t, lines, "milestone completion"))
	}
	for _, worker := range []string{"worker-0", "worker-1"} {
		before := lines[:indexOf(t, lines, worker+" reboot")]
		done := 0
		for _, master := range []string{"master-0", "master-1", "master-2"} {
			done += count(before, master+" reached Done")
		}
		require.GreaterOrEqual(t, done, 2, "a worker reboots once two masters are done")
	}
	require.Less(t, indexOf(t, lines, "master-0 bootstrap-start"), indexOf(t, lines, "master-0 image-write"))
	require.Less(t, indexOf(t, lines, "master-0 controller-wait"), indexOf(t, lines, "master-0 reboot"))
	require.Equal(t, "complete", lines[len(lines)-1])
}

func TestSingleNodeHasItsOwnPath(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Less(t, indexOf(t, lines, "master-0 bootkube-wait"), indexOf(t, lines, "master-0 image-write"))
	require.Equal(t, 0, count(lines, "master-0 control-plane-wait"))
	require.Equal(t, 0, count(lines, "master-0 reached Configuring"))
}

func TestV2AgentGetsOneStepAndIsFollowedByItsStages(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.plan.Hosts = hosts(3, 2, model.InstallStep)
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	for _, h := range w.plan.Hosts {
		require.Equal(t, 1, count(lines, h.Name+" install"))
		require.Equal(t, 0, count(lines, h.Name+" image-write"))
		require.Less(t, indexOf(t, lines, h.Name+" reached Writing image to disk"), indexOf(t, lines, h.Name+" reached Rebooting"))
	}
}

func TestV2AgentThatFailsStopsTheWaitForItsStages(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.plan.Hosts = hosts(1, 0, model.InstallStep)
	w.fails["master-0 install"] = []error{stepFailed("no disk")}
	env := environment(t, w)
	decideOnFailure(env, w, 0, workflows.CommandRetry)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 2, count(w.lines(), "master-0 install"))
}

func TestFailureOfAV2AgentNamesTheStageItHappenedIn(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.plan.Hosts = hosts(1, 0, model.InstallStep)
	w.fails["master-0 Rebooting"] = []error{stepFailed("I/O error")} // no report of the reboot: the host was writing
	env := environment(t, w)
	decideOnFailure(env, w, 0, workflows.CommandRetry)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	indexOf(t, w.lines(), "master-0 failed: Writing image to disk: I/O error")
}

func TestFailureThatNamesItsStageIsBelieved(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.plan.Hosts = hosts(1, 0, model.InstallStep)
	w.fails["master-0 Installing"] = []error{stepFailed("Writing image to disk: I/O error")} // overtook the report of that stage
	env := environment(t, w)
	decideOnFailure(env, w, 0, workflows.CommandRetry)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	indexOf(t, w.lines(), "master-0 failed: Writing image to disk: I/O error")
}

// decideOnFailure sends a command to a host a minute after the start of the test.
func decideOnFailure(env *environ, w *recorder, host int, command string) {
	h := w.plan.Hosts[host]
	env.RegisterDelayedCallback(func() {
		_ = env.SignalWorkflowByID(workflows.HostWorkflowID(h.InfraEnvID, h.ID), command, nil)
	}, time.Minute)
}

func TestRetryOfOneFailedHostLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["worker-1 image-write"] = []error{stepFailed("I/O error")}
	env := environment(t, w)
	decideOnFailure(env, w, 4, workflows.CommandRetry)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	indexOf(t, lines, "worker-1 failed: Writing image to disk: I/O error")
	require.Equal(t, 2, count(lines, "worker-1 image-write"))
	require.Equal(t, 2, count(lines, "worker-1 disk-clean"))
	for _, other := range []string{"master-0", "master-1", "master-2", "worker-0"} {
		require.Equal(t, 1, count(lines, other+" image-write"))
		require.Equal(t, 1, count(lines, other+" disk-clean"))
	}
	require.Equal(t, "complete", lines[len(lines)-1])
}

func TestRetryOfOneStepGoesOnFromThere(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["worker-1 image-write"] = []error{stepFailed("I/O error")}
	env := environment(t, w)
	decideOnFailure(env, w, 4, workflows.CommandRetryStep)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 2, count(w.lines(), "worker-1 image-write"))
	require.Equal(t, 1, count(w.lines(), "worker-1 disk-clean"))
}

func TestInterruptedStepIsCommandedAgainByItself(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["master-1 image-write"] = []error{interrupted(), interrupted()}
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 3, count(w.lines(), "master-1 image-write"))
}

func TestInterruptedCheckIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["master-1 container-image-availability"] = []error{interrupted()}
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 2, count(w.lines(), "master-1 container-image-availability"))
}

func TestHostThatNeverComesBackFailsOnlyAfterTheUserHadTime(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["master-2 Configuring"] = []error{late}
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Less(t, indexOf(t, lines, "master-2 asks for the boot order"), indexOf(t, lines, "master-2 reached Configuring"))
}

// slowBoot is how long a server may take from the command to reboot until its kubelet asks for a certificate: a
// minute of shutdown, 15 of its firmware, 3 of Ignition, 12 for the operating system of the release over a slow line,
// the firmware again, and 4 of the node's services (openshift/machine-config-operator,
// machine-config-daemon-firstboot: it boots once more whenever the image is older than the release).
const slowBoot = (1 + 15 + 3 + 12 + 15 + 4) * time.Minute

func TestNoHostThatIsOnItsWayIsAskedForItsBootOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		takes time.Duration
		asked int
	}{
		{"two boots of a slow server", slowBoot, 0},
		{"twice as long", 2 * slowBoot, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newRecorder(3, 2)
			w.boots = map[string]time.Duration{"master-0 Configuring": c.takes, "worker-1 Configuring": c.takes}
			env := environment(t, w)
			env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
			require.NoError(t, env.GetWorkflowError())
			lines := w.lines()
			for _, host := range []string{"master-0", "worker-1"} {
				require.Equal(t, c.asked, count(lines, host+" asks for the boot order"))
				require.Equal(t, 1, count(lines, host+" reached Configuring"))
			}
		})
	}
}

func TestHostThatLeftTheLiveImageIsRediscoveredBeforeARetry(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["worker-0 Joined"] = []error{stepFailed("gone")}
	env := environment(t, w)
	decideOnFailure(env, w, 3, workflows.CommandRetry)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Less(t, indexOf(t, lines, "worker-0 is back in the live image"), indexOf(t, lines, "worker-0 begins attempt 2"))
	require.Equal(t, 2, count(lines, "worker-0 image-write"))
}

func TestHostThatIsLostAtTheGateWaitsForADecision(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["worker-0 Rebooting"] = []error{stepFailed("not heard of for 3 minutes")}
	for _, master := range []string{"master-1", "master-2"} { // with one master alone the gate stays shut
		w.fails[master+" image-write"] = []error{stepFailed("I/O error")}
	}
	env := environment(t, w)
	for _, host := range []int{3, 1, 2} {
		decideOnFailure(env, w, host, workflows.CommandRetry)
	}
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	indexOf(t, lines, "worker-0 failed: Waiting for control plane: not heard of for 3 minutes")
	require.Equal(t, 2, count(lines, "worker-0 disk-clean"))
	require.Equal(t, 1, count(lines, "worker-1 disk-clean"))
}

func TestFailedIgnitionTakesTheClusterBack(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["ignition"] = []error{stepFailed("bad override")}
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	indexOf(t, lines, "conclude false bad override")
	require.Equal(t, 0, count(lines, "master-0 disk-clean"))
}

// The first check of a host writes to its disk.
func TestAReleaseThatIsRefusedReachesNoHost(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["resolve"] = []error{refused("require a signature of release sha256:1")}
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{"freeze", "conclude false require a signature of release sha256:1"}, w.lines())
}

// An installation from before this version continues without.
func TestARunningInstallationResolvesNoRelease(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.fails["resolve"] = []error{refused("require a signature of release sha256:1")}
	env := environment(t, w)
	env.OnGetVersion("resolve-release", workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	indexOf(t, w.lines(), "conclude true ")
}

func TestUnansweredDecisionEndsTheHostAndTheCluster(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["worker-1 image-write"] = []error{stepFailed("I/O error")}
	env := environment(t, w)
	env.RegisterDelayedCallback(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.status = model.ClusterError
	}, 20*time.Hour)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.Error(t, env.GetWorkflowError())
	lines := w.lines()
	indexOf(t, lines, "worker-1 given up")
	indexOf(t, lines, "cluster failed: too many hosts failed for the cluster to come up")
}

func TestHostsThatFailAreGivenUpAtOnceWhereNoUserDecides(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.plan.Timeouts.Decision = 0
	w.fails["master-1 image-write"] = []error{stepFailed("I/O error")}
	w.needed = "master-1"
	env := environment(t, w)
	began := env.Now()
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.ErrorContains(t, env.GetWorkflowError(), "too many hosts failed")
	indexOf(t, w.lines(), "cluster failed: too many hosts failed for the cluster to come up")
	require.Less(t, env.Now().Sub(began), time.Hour, "nothing waits for a command")
}

// A cluster whose time is over does not wait for extend either.
func TestInstallationWhoseTimeIsOverFailsAtOnceWhereNoUserDecides(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.plan.Timeouts.Decision = 0
	w.fails["milestone completion"] = []error{stepFailed("operators are degraded")}
	env := environment(t, w)
	began := env.Now()
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.ErrorContains(t, env.GetWorkflowError(), "operators are degraded")
	indexOf(t, w.lines(), "cluster failed: finalizing stopped while waiting for completion: operators are degraded")
	require.Less(t, env.Now().Sub(began), time.Hour)
}

func TestCancelAndResetCleanUp(t *testing.T) {
	t.Parallel()
	for command, last := range map[string]string{workflows.CommandCancel: "cancelled", workflows.CommandReset: "finish reset"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			w := newRecorder(3, 2)
			w.fails["worker-1 image-write"] = []error{stepFailed("I/O error")} // keeps the installation waiting
			env := environment(t, w)
			var refused error
			env.RegisterDelayedCallback(func() {
				env.UpdateWorkflow(command, "first", &testsuite.TestUpdateCallback{
					OnAccept: func() {}, OnReject: func(err error) { refused = err }, OnComplete: func(any, error) {},
				})
			}, time.Hour)
			env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
			require.NoError(t, refused)
			lines := w.lines()
			require.Equal(t, last, lines[len(lines)-1])
			err := env.GetWorkflowError()
			if command == workflows.CommandCancel {
				var cancelled *temporal.CanceledError
				require.True(t, errors.As(err, &cancelled), "%v", err)
				return
			}
			require.NoError(t, err)
			indexOf(t, lines, "master-0 stop-installation")
		})
	}
}

func TestResetMayFollowACancelThatIsStillAtWork(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.fails["worker-1 image-write"] = []error{stepFailed("I/O error")} // keeps the installation waiting
	env := environment(t, w)
	var refused error
	env.RegisterDelayedCallback(func() {
		for _, command := range []string{workflows.CommandCancel, workflows.CommandReset} {
			env.UpdateWorkflow(command, command, &testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { refused = err }, OnComplete: func(any, error) {},
			})
		}
	}, time.Hour)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, refused)
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Equal(t, "finish reset", lines[len(lines)-1])
}

func TestTimedOutFinalizingWaitsForACommand(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.fails["milestone operators-available"] = []error{temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, nil)}
	env := environment(t, w)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandExtend, nil) }, time.Hour)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Less(t, indexOf(t, lines, "cluster failed: finalizing stopped while waiting for operators-available: time ran out"),
		indexOf(t, lines, "resume"))
	require.Equal(t, "complete", lines[len(lines)-1])
}

func TestPausedHostsWaitBeforeTheirNextStage(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.fails["master-0 image-write"] = []error{stepFailed("I/O error")}
	env := environment(t, w)
	decideOnFailure(env, w, 0, workflows.CommandRetry)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandPause, nil) }, 30*time.Second)
	env.RegisterDelayedCallback(func() {
		require.Equal(t, 1, count(w.lines(), "master-0 disk-clean"), "a paused host starts nothing")
		env.SignalWorkflow(workflows.CommandResume, nil)
	}, time.Hour)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 2, count(w.lines(), "master-0 disk-clean"))
}

func TestPauseBeforeThereAreHostsHoldsThemToo(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	env := environment(t, w)
	for range 9 { // tries that take three quarters of a minute
		w.fails["freeze"] = append(w.fails["freeze"], errors.New("the database is away"))
	}
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandPause, nil) }, 30*time.Second)
	looked := false
	env.RegisterDelayedCallback(func() {
		looked = true
		require.Equal(t, 0, count(w.lines(), "master-0 disk-clean"), "a paused host starts nothing")
		env.SignalWorkflow(workflows.CommandResume, nil)
	}, time.Hour)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.True(t, looked)
	require.Equal(t, 1, count(w.lines(), "master-0 disk-clean"))
}

func TestCommandsAreRefusedWhereTheyMakeNoSense(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.fails["master-0 image-write"] = []error{stepFailed("I/O error")}
	env := environment(t, w)
	rejections := map[string]error{}
	env.RegisterDelayedCallback(func() {
		for _, command := range []string{workflows.CommandResume, workflows.CommandExtend} {
			env.UpdateWorkflow(command, command, &testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { rejections[command] = err }, OnComplete: func(any, error) {},
			})
		}
	}, 30*time.Second)
	decideOnFailure(env, w, 0, workflows.CommandRetry)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.ErrorContains(t, rejections[workflows.CommandResume], "not paused")
	require.ErrorContains(t, rejections[workflows.CommandExtend], "timed out")
}

// What a caller may ask again in a moment differs from what was decided.
func TestDecisionsAreRefusedBeforeAFailureAndAfterADecision(t *testing.T) {
	t.Parallel()
	w := newRecorder(1, 0)
	w.fails["master-0 image-write"] = []error{stepFailed("I/O error")}
	env := environment(t, w)
	h := w.plan.Hosts[0]
	retry := func(id string, refused *error) {
		require.NoError(t, env.UpdateWorkflowByID(workflows.HostWorkflowID(h.InfraEnvID, h.ID), workflows.CommandRetry, id,
			&testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { *refused = err }, OnComplete: func(any, error) {},
			}))
	}
	var before, first, second error
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if before == nil && strings.HasPrefix(info.ActivityID, "image-write") {
			retry("before", &before)
		}
	})
	env.RegisterDelayedCallback(func() {
		retry("first", &first)
		retry("second", &second)
	}, time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.NoError(t, first)
	for wantType, err := range map[string]error{"Early": before, "Conflict": second} {
		var refused *temporal.ApplicationError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, wantType, refused.Type(), refused.Message())
	}
}

// A workflow of an attempt that is over ends: it marks no host as failed and waits for no decision.
func TestHostWhoseAttemptIsOverIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	over := temporal.NewNonRetryableApplicationError("installation 1 of cluster prod is over", activities.FailureSuperseded, nil)
	w.fails["worker-1 image-write"] = []error{over}
	env := environment(t, w)
	h := w.plan.Hosts[4]
	env.RegisterDelayedCallback(func() {
		require.NoError(t, env.SignalWorkflowByID(workflows.HostWorkflowID(h.InfraEnvID, h.ID), workflows.SignalInstall, nil))
	}, time.Minute)
	env.startHost(workflows.HostInstallRequest{ClusterID: w.plan.ClusterID, Attempt: 1, Host: h, Timeouts: w.plan.Timeouts})
	require.ErrorContains(t, env.GetWorkflowError(), "installation 1 of cluster prod is over")
	lines := w.lines()
	require.Equal(t, "worker-1 image-write", lines[len(lines)-1], "done was %q", lines)
}

// Only the hosts of this installation speak for it: a host of an earlier attempt, reset in Temporal's UI, signals the same workflow id.
func TestNewsOfAnEarlierInstallationDoNotCount(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.blocked["worker-1 image-write"] = true
	env := environment(t, w)
	env.RegisterDelayedCallback(func() {
		h := w.plan.Hosts[4]
		env.SignalWorkflow(workflows.SignalHostNews, workflows.HostNews{HostID: h.ID, State: workflows.HostGone, Attempt: 7})
	}, time.Minute)
	env.RegisterDelayedCallback(func() {
		state := clusterState(t, env)
		require.Equal(t, workflows.HostRunning, state.Hosts[w.plan.Hosts[4].ID].State)
		w.release(t, env, "worker-1 image-write")
	}, 2*time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 1, count(w.lines(), "worker-1 reached Done"))
}

func clusterState(t *testing.T, env *environ) workflows.ClusterState {
	t.Helper()
	value, err := env.QueryWorkflow(workflows.QueryState)
	require.NoError(t, err)
	var state workflows.ClusterState
	require.NoError(t, value.Get(&state))
	return state
}
