package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/workflows"
)

// newAddition makes a recorder with one worker that joins an existing cluster.
func newAddition(agentSteps model.AgentSteps) (*recorder, activities.AddRequest) {
	w := newRecorder(0, 1)
	w.plan.Hosts[0].AgentSteps = agentSteps
	return w, activities.AddRequest{HostRef: w.ref(), Attempt: 1}
}

func (w *recorder) ref() activities.HostRef {
	h := w.plan.Hosts[0]
	return activities.HostRef{ClusterID: w.plan.ClusterID, InfraEnvID: h.InfraEnvID, HostID: h.ID}
}

func TestHostIsAddedInOrder(t *testing.T) {
	t.Parallel()
	w, request := newAddition(model.FineSteps)
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.HostAdd, request)
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	order := []string{
		"worker-0 is judged", "worker-0 disk-clean", "worker-0 ignition-fetch", "worker-0 image-write", "worker-0 reboot", "worker-0 shows Done",
	}
	for i := range order[1:] {
		require.Less(t, indexOf(t, lines, order[i]), indexOf(t, lines, order[i+1]))
	}
	for _, check := range []string{"worker-0 ignition", "worker-0 installation-disk-speed-check", "worker-0 container-image-availability"} {
		require.Less(t, indexOf(t, lines, check), indexOf(t, lines, "worker-0 is judged"))
	}
	require.Equal(t, 1, count(lines, "worker-0 image-write"))
}

func TestV2AgentIsAddedWithOneStep(t *testing.T) {
	t.Parallel()
	w, request := newAddition(model.InstallStep)
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.HostAdd, request)
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Equal(t, 1, count(lines, "worker-0 install"))
	require.Equal(t, 0, count(lines, "worker-0 image-write"))
	require.Less(t, indexOf(t, lines, "worker-0 reached Rebooting"), indexOf(t, lines, "worker-0 shows Done"))
}

func TestAddedHostThatFailsWaitsForADecision(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fails   string
		err     error
		command string
		says    string
		again   map[string]int
	}{
		"slow disks, and is tried again from its checks": {
			fails: "judge", err: refused("the disk is slow"), command: workflows.CommandRetryStep,
			says: "worker-0 failed: Preparation: the disk is slow", again: map[string]int{"worker-0 is judged": 2, "worker-0 disk-clean": 1},
		},
		"bad overrides, and is tried again with better ones": {
			fails: "ignition", err: refused("bad override"), command: workflows.CommandRetry,
			says: "worker-0 failed: Preparation: bad override", again: map[string]int{"worker-0 ignition": 2, "worker-0 disk-clean": 1},
		},
		"a broken disk, and is tried again from the start": {
			fails: "worker-0 image-write", err: stepFailed("I/O error"), command: workflows.CommandRetry,
			says: "worker-0 failed: Writing image to disk: I/O error", again: map[string]int{"worker-0 disk-clean": 2, "worker-0 image-write": 2},
		},
		"a broken disk, and only the write is tried again": {
			fails: "worker-0 image-write", err: stepFailed("I/O error"), command: workflows.CommandRetryStep,
			says: "worker-0 failed: Writing image to disk: I/O error", again: map[string]int{"worker-0 disk-clean": 1, "worker-0 image-write": 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, request := newAddition(model.FineSteps)
			w.fails[tt.fails] = []error{tt.err}
			env := environment(t, w)
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(tt.command, nil) }, time.Hour)
			env.ExecuteWorkflow(workflows.HostAdd, request)
			require.NoError(t, env.GetWorkflowError())
			indexOf(t, w.lines(), tt.says)
			for line, times := range tt.again {
				require.Equal(t, times, count(w.lines(), line), line)
			}
			require.Equal(t, "worker-0 shows Done", w.lines()[len(w.lines())-1])
		})
	}
}

func refused(text string) error {
	return temporal.NewNonRetryableApplicationError(text, activities.FailureRefused, nil)
}

func TestAddedHostIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(*environ){
		"when it is evicted": func(env *environ) {
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandEvict, nil) }, time.Hour)
		},
		"when no decision comes": func(*environ) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, request := newAddition(model.FineSteps)
			w.fails["worker-0 image-write"] = []error{stepFailed("I/O error")}
			env := environment(t, w)
			decide(env)
			env.ExecuteWorkflow(workflows.HostAdd, request)
			require.ErrorContains(t, env.GetWorkflowError(), "I/O error")
			indexOf(t, w.lines(), "worker-0 given up")
		})
	}
}

func TestAddedHostIsResetWhereverItStands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fails   map[string][]error
		blocked string
	}{
		"while it writes its disk":      {blocked: "worker-0 image-write"},
		"while it waits for a decision": {fails: map[string][]error{"worker-0 image-write": {stepFailed("I/O error")}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, request := newAddition(model.FineSteps)
			if tt.fails != nil {
				w.fails = tt.fails
			}
			w.blocked[tt.blocked] = true
			env := environment(t, w)
			var first, second error
			env.RegisterDelayedCallback(func() {
				for _, into := range []*error{&first, &second} {
					env.UpdateWorkflow(workflows.CommandReset, "", &testsuite.TestUpdateCallback{
						OnAccept: func() {}, OnReject: func(err error) { *into = err }, OnComplete: func(any, error) {},
					})
				}
			}, time.Minute)
			env.ExecuteWorkflow(workflows.HostAdd, request)
			require.NoError(t, env.GetWorkflowError())
			require.NoError(t, first)
			require.ErrorContains(t, second, "being reset already")
			lines := w.lines()
			require.Less(t, indexOf(t, lines, "worker-0 begins its reset"), indexOf(t, lines, "worker-0 stop-installation"))
			require.Equal(t, "worker-0 is reset", lines[len(lines)-1])
		})
	}
}

func TestCancelledAdditionCleansUp(t *testing.T) {
	t.Parallel()
	w, request := newAddition(model.FineSteps)
	w.blocked["worker-0 image-write"] = true
	env := environment(t, w)
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
	env.ExecuteWorkflow(workflows.HostAdd, request)
	var cancelled *temporal.CanceledError
	require.True(t, errors.As(env.GetWorkflowError(), &cancelled), "%v", env.GetWorkflowError())
	require.Equal(t, "worker-0 cancelled", w.lines()[len(w.lines())-1])
}

func TestAdditionThatIsOverDoesNothing(t *testing.T) {
	t.Parallel()
	w, request := newAddition(model.FineSteps)
	w.fails["begin"] = []error{refused("the host has gone")}
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.HostAdd, request)
	require.ErrorContains(t, env.GetWorkflowError(), "the host has gone", "the run ends with the sentence")
	require.Equal(t, []string{"worker-0 is added"}, w.lines())
}

func TestHostWithoutAnInstallationIsReset(t *testing.T) {
	t.Parallel()
	w, _ := newAddition(model.FineSteps)
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.HostReset, workflows.HostResetRequest{AddRequest: activities.AddRequest{HostRef: w.ref()}})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{"worker-0 begins its reset", "worker-0 stop-installation", "worker-0 is reset"}, w.lines())
}
