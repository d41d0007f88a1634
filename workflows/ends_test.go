package workflows_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/workflows"
)

// unannounced lets the child of one host say its last word and never end: the run that Temporal knows as the child was ended by the
// reset of an older one, which is not announced.
func (e *environ) unannounced(host string) {
	e.endless(func(name string, err error) bool { return name == host && err == nil })
}

// endless lets children not end that would end with err.
func (e *environ) endless(which func(host string, err error) bool) {
	e.SetDetachedChildWait(false)
	e.RegisterWorkflowWithOptions(func(ctx workflow.Context, request workflows.HostInstallRequest) error {
		err := workflows.HostInstall(ctx, request)
		if which(request.Host.Name, err) {
			clean, _ := workflow.NewDisconnectedContext(ctx)
			_ = workflow.Await(clean, func() bool { return false })
		}
		return err
	}, workflow.RegisterOptions{Name: "HostInstall", DisableAlreadyRegisteredCheck: true})
}

func TestInstallationEndsAlthoughTheEndOfAHostIsNotAnnounced(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	env := environment(t, w)
	env.unannounced("worker-1")
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Equal(t, "complete", lines[len(lines)-1])
}

// "Request Cancellation" of an installation that is complete, and whose workflow has yet to end, ends it, and stops no host.
func TestCancellationEndsAnInstallationThatIsComplete(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	env := environment(t, w)
	env.unannounced("worker-1")
	env.SetOnTimerScheduledListener(func(string, time.Duration) {
		if lines := w.lines(); len(lines) > 0 && lines[len(lines)-1] == "complete" {
			env.RegisterDelayedCallback(env.CancelWorkflow, 0)
		}
	})
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Zero(t, count(w.lines(), "cancelled"))
}

// The workflow waits for hosts that end late, and not without a limit.
func TestCancellationEndsAlthoughAHostDoesNot(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	env := environment(t, w)
	env.endless(func(host string, _ error) bool { return host == "worker-1" })
	w.blocked["master-0 image-write"] = true
	var cancelled time.Time
	env.RegisterDelayedCallback(func() {
		cancelled = env.Now()
		env.CancelWorkflow()
	}, time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()))
	require.Equal(t, 1, count(w.lines(), "cancelled"))
	require.Less(t, env.Now().Sub(cancelled), time.Hour)
}

// attributes are the newest search attributes that workflows have set.
type attributes struct {
	mu     sync.Mutex
	values map[string]string
}

func (a *attributes) of(key temporal.SearchAttributeKeyKeyword) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.values[key.GetName()]
}

func watchAttributes(env *environ) *attributes {
	a := &attributes{values: map[string]string{}}
	env.OnUpsertTypedSearchAttributes(mock.Anything).Run(func(args mock.Arguments) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for key, value := range args.Get(0).(temporal.SearchAttributes).GetUntypedValues() {
			text, _ := value.(string)
			a.values[key.GetName()] = text
		}
	}).Return(nil)
	return a
}

// A list of workflows shows what a run wrote last: a workflow that has ended must not look as if it waited for its user.
func TestEveryEndIsShown(t *testing.T) {
	t.Parallel()
	over := temporal.NewNonRetryableApplicationError("installation 1 is over", activities.FailureSuperseded, nil)
	for name, c := range map[string]struct {
		arrange func(*environ, *recorder)
		state   string
	}{
		"installed":  {func(*environ, *recorder) {}, "installed"},
		"superseded": {func(_ *environ, w *recorder) { w.fails["freeze"] = []error{over} }, "superseded"},
		"cancelled while it waits": {func(env *environ, w *recorder) {
			w.fails["worker-1 image-write"] = []error{stepFailed("no space left")}
			env.RegisterDelayedCallback(env.CancelWorkflow, 20*time.Hour)
		}, "cancelled"},
		"reset while it waits": {func(env *environ, w *recorder) {
			w.fails["worker-1 image-write"] = []error{stepFailed("no space left")}
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandReset, nil) }, 20*time.Hour)
		}, "reset"},
		"reset that is refused": {func(env *environ, w *recorder) {
			w.blocked["worker-1 image-write"], w.fails["begin reset"] = true, []error{over}
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandReset, nil) }, time.Hour)
		}, "superseded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRecorder(3, 2)
			env := environment(t, w)
			shown := watchAttributes(env)
			c.arrange(env, w)
			env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
			require.True(t, env.IsWorkflowCompleted())
			require.Equal(t, c.state, shown.of(workflows.AttributeState))
			require.Equal(t, "done", shown.of(workflows.AttributePhase))
		})
	}
}

func TestEndOfAHostThatWaitedIsShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arrange func(*testing.T, *environ, *recorder)
		state   string
	}{
		"cancelled": {func(_ *testing.T, env *environ, w *recorder) {
			w.fails["master-0 image-write"] = []error{stepFailed("no space left")}
			env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
		}, "cancelled"},
		"evicted": {func(_ *testing.T, env *environ, w *recorder) {
			w.fails["master-0 image-write"] = []error{stepFailed("no space left")}
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.CommandEvict, nil) }, time.Hour)
		}, "gone"},
		"reset": {func(t *testing.T, env *environ, w *recorder) {
			t.Helper()
			w.fails["master-0 image-write"] = []error{stepFailed("no space left")}
			env.RegisterDelayedCallback(func() {
				env.UpdateWorkflow(workflows.CommandReset, "r", &testsuite.TestUpdateCallback{
					OnReject: func(err error) { require.NoError(t, err) }, OnAccept: func() {}, OnComplete: func(any, error) {},
				})
			}, time.Hour)
		}, "reset"},
		"of an attempt that is over": {func(_ *testing.T, _ *environ, w *recorder) {
			w.fails["begin"] = []error{temporal.NewNonRetryableApplicationError("attempt 1 is over", activities.FailureRefused, nil)}
		}, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRecorder(1, 0)
			env := environment(t, w)
			shown := watchAttributes(env)
			c.arrange(t, env, w)
			env.ExecuteWorkflow(workflows.HostAdd, activities.AddRequest{HostRef: w.ref(), Attempt: 1})
			require.True(t, env.IsWorkflowCompleted())
			require.Equal(t, c.state, shown.of(workflows.AttributeState))
		})
	}
}

// "Reset" of a run that waited for the control plane, of a host that has booted since: the gate is not opened any more.
func TestHostThatIsPastTheGateDoesNotWaitForIt(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	env := environment(t, w)
	h := w.plan.Hosts[4]
	w.stands, w.rebooted = model.StageWaitingForControlPlane, true
	env.startHost(workflows.HostInstallRequest{
		ClusterID: w.plan.ClusterID, Attempt: 1, Host: h, Timeouts: w.plan.Timeouts, Continues: true,
	})
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, 1, count(w.lines(), "worker-1 shows Waiting for control plane"))
	require.Zero(t, count(w.lines(), "worker-1 takes more than 1h0m0s"))
}
