package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/activities"
	"slipway/workflows"
)

func TestFailedValidationHoldsTheInstallationUpBeforeAnyHostIsTouched(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.report = activities.ValidationReport{Passed: []string{"pull-secret-set"}, Failed: []activities.Finding{
		{ID: "ntp-server-configured", Message: "the clocks differ"}, {ID: "api-vips-valid", Message: "the address is in use"},
	}}
	env := environment(t, w)
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{
		"freeze", "conclude false api-vips-valid: the address is in use; ntp-server-configured: the clocks differ",
	}, w.lines())
}

// A timer of ten years in the timeline is of no use.
func TestNoTimerIsWithoutAnEnd(t *testing.T) {
	t.Parallel()
	w := newRecorder(3, 2)
	w.plan.Timeouts.Soft = true
	w.stages = []activities.FinalizingStage{{}}
	env := environment(t, w)
	env.SetOnTimerScheduledListener(func(_ string, d time.Duration) {
		require.Less(t, d, 365*24*time.Hour)
	})
	env.ExecuteWorkflow(workflows.ClusterInstall, w.request())
	require.NoError(t, env.GetWorkflowError())
}
