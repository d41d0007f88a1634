package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/workflows"
)

// pending returns the result of an activity whose answer comes from outside, by release.
func (w *recorder) pending(ctx context.Context, key string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.blocked[key]; !ok {
		return nil
	}
	w.tokens[key] = activity.GetInfo(ctx).TaskToken
	w.limits[key] = activity.GetInfo(ctx).ScheduleToCloseTimeout
	return activity.ErrResultPending
}

// late is how a server ends an activity at its limit.
var late = temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, nil)

// timeOut ends a pending activity as a server does at its limit, late or with the failure of a try that has no time for another
// (go.temporal.io/server/service/history/workflow/retry.go): the test environment leaves pending activities open. It returns the limit.
func (w *recorder) timeOut(t *testing.T, env *environ, key string, with error) time.Duration {
	t.Helper()
	w.mu.Lock()
	token, limit := w.tokens[key], w.limits[key]
	delete(w.tokens, key)
	w.mu.Unlock()
	require.NotNil(t, token, "no activity waits for %s; done was %q", key, w.lines())
	require.NoError(t, env.CompleteActivity(token, nil, with))
	return limit
}

// release answers a pending activity.
func (w *recorder) release(t *testing.T, env *environ, key string) {
	t.Helper()
	w.mu.Lock()
	token := w.tokens[key]
	delete(w.blocked, key)
	w.mu.Unlock()
	require.NotNil(t, token, "no activity waits for %s; done was %q", key, w.lines())
	require.NoError(t, env.CompleteActivity(token, activities.StepResult{}, nil))
	for _, h := range w.plan.Hosts { // the test environment does not wake children for this
		_ = env.SignalWorkflowByID(workflows.HostWorkflowID(h.InfraEnvID, h.ID), workflows.SignalHold, false)
	}
}
