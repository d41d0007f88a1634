package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"slipway/workflows"
)

// refusals returns the lines about signals that were refused.
func (w *recorder) refusals() (lines []string) {
	for _, line := range w.lines() {
		if strings.HasPrefix(line, "refuse ") {
			lines = append(lines, line)
		}
	}
	return lines
}

const (
	ofClusters = "of 00000000-0000-0000-0000-000000000000, which takes [cancel reset extend pause resume]"
	ofHosts    = "of worker-1, which takes [retry retry-step evict]"
)

// A signal that is not taken leaves a line, and changes nothing: `reset` of a host does not reset its cluster.
func TestSignalsThatAnInstallationDoesNotTakeAreRefusedVisibly(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	env := environment(t, w)
	w.blocked["worker-1 image-write"] = true
	host := w.plan.Hosts[4]
	id := workflows.HostWorkflowID(host.InfraEnvID, host.ID)
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow("cancle", nil)
		env.SignalWorkflow("retry", "worker-0")
		require.NoError(t, env.SignalWorkflowByID(id, "reset", nil))
		require.NoError(t, env.SignalWorkflowByID(id, "retyr", "now"))
	}, time.Minute)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow("cancle", nil) }, 2*time.Minute)
	env.RegisterDelayedCallback(func() { w.release(t, env, "worker-1 image-write") }, 3*time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.ElementsMatch(t, []string{
		"refuse cancle " + ofClusters, "refuse retry " + ofClusters, "refuse cancle " + ofClusters,
		"refuse reset " + ofHosts, "refuse retyr " + ofHosts,
	}, w.refusals())
	require.Equal(t, 0, count(w.lines(), "cancel installation"))
}

func TestSignalsThatAnAddedHostDoesNotTakeAreRefusedVisibly(t *testing.T) {
	t.Parallel()
	w, request := newAddition("fine")
	env := environment(t, w)
	w.blocked["worker-0 image-write"] = true
	env.RegisterDelayedCallback(func() { env.SignalWorkflow("rest", nil) }, time.Minute)
	env.RegisterDelayedCallback(func() { w.release(t, env, "worker-0 image-write") }, 2*time.Minute)
	env.ExecuteWorkflow(workflows.HostAdd, request)
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{"refuse rest of worker-0, which takes [reset retry retry-step evict]"}, w.refusals())
}

// The history of an installation that an earlier version ran has such a signal, and no activity after it.
func TestSignalsThatAnEarlierVersionIgnoredStayIgnored(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	env := environment(t, w)
	env.OnGetVersion("refuse-signals", workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
	w.blocked["worker-1 image-write"] = true
	env.RegisterDelayedCallback(func() { env.SignalWorkflow("cancle", nil) }, time.Minute)
	env.RegisterDelayedCallback(func() { w.release(t, env, "worker-1 image-write") }, 2*time.Minute)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Empty(t, w.refusals())
}
