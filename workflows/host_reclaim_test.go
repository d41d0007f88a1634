package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/workflows"
)

func TestInstalledHostIsReclaimed(t *testing.T) {
	t.Parallel()
	w, _ := newAddition(model.FineSteps)
	w.blocked["worker-0 reboot-for-reclaim"] = true // the reply is lost in the reboot
	w.blocked["worker-0 pool"] = true
	env := environment(t, w)
	env.RegisterDelayedCallback(func() { w.release(t, env, "worker-0 pool") }, 10*time.Minute)
	env.ExecuteWorkflow(workflows.HostReclaim, activities.ReclaimRequest{HostRef: w.ref(), Attempt: 1})
	require.NoError(t, env.GetWorkflowError())
	lines := w.lines()
	require.Less(t, indexOf(t, lines, "worker-0 download-boot-artifacts"), indexOf(t, lines, "worker-0 reboots"))
	require.Less(t, indexOf(t, lines, "worker-0 reboots"), indexOf(t, lines, "worker-0 reboot-for-reclaim"))
}

func TestHostThatCannotBeReclaimedIsLeftToItsUser(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fails map[string][]error
		says  string
	}{
		"when it cannot fetch the image": {
			map[string][]error{"worker-0 download-boot-artifacts": {stepFailed("no space left")}},
			"worker-0 is left to its user: no space left",
		},
		"when it does not answer": {
			map[string][]error{"worker-0 download-boot-artifacts": {late}}, "worker-0 is left to its user: time ran out",
		},
		"when it does not come back": {
			map[string][]error{"worker-0 pool": {late}},
			"worker-0 is left to its user: the host did not register from the discovery image in time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := newAddition(model.FineSteps)
			w.fails = tt.fails
			env := environment(t, w)
			env.ExecuteWorkflow(workflows.HostReclaim, activities.ReclaimRequest{HostRef: w.ref(), Attempt: 1})
			require.Error(t, env.GetWorkflowError())
			require.Equal(t, tt.says, w.lines()[len(w.lines())-1])
		})
	}
}
