package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/await"
)

// takingTemporal answers results and heartbeats by the id of their activity; with the errors of Temporal's frontend
// (go.temporal.io/server, service/frontend and common/rpc/interceptor).
type takingTemporal struct {
	*answeringTemporal
	errors map[string]error
	before func(activity string)

	mu    sync.Mutex
	taken []string
}

func (f *takingTemporal) take(namespace, workflow, run, activity string) error {
	if namespace != "slipway" || workflow != "cluster:x" || run != "run-1" {
		return fmt.Errorf("%s of %s is in no run %s of %s", activity, workflow, run, namespace)
	}
	if f.before != nil {
		f.before(activity)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken = append(f.taken, activity)
	return f.errors[activity]
}

func (f *takingTemporal) CompleteActivityByID(_ context.Context, namespace, workflow, run, activity string, _ any, _ error) error {
	return f.take(namespace, workflow, run, activity)
}

func (f *takingTemporal) RecordActivityHeartbeatByID(_ context.Context, namespace, workflow, run, activity string, _ ...any) error {
	return f.take(namespace, workflow, run, activity)
}

func (f *takingTemporal) activities() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(slices.Values(f.taken))
}

func newTaking(t *testing.T, errors map[string]error, activities ...string) (bench, *takingTemporal) {
	t.Helper()
	b := newBench(t)
	f := &takingTemporal{answeringTemporal: b.temporal, errors: errors}
	b.Temporal, b.Namespace = f, "slipway"
	for _, activity := range activities {
		_, err := b.store.ArmActivity(t.Context(), model.PendingActivity{
			ID: activity, Kind: model.ActivityMilestone, ClusterID: b.cluster, Type: activity, WorkflowID: "cluster:x", RunID: "run-1",
			ActivityID: activity, TaskToken: []byte("5 in the history"),
		})
		require.NoError(t, err)
	}
	return b, f
}

func (b bench) report(t *testing.T, milestones ...model.Milestone) {
	t.Helper()
	_, err := b.store.UpdateCluster(t.Context(), b.cluster, func(c *model.Cluster, tx *store.Tx) error {
		tx.MilestonesReached(c.ID, milestones)
		return nil
	})
	require.NoError(t, err)
}

func (b bench) states(t *testing.T) map[string]model.ActivityState {
	t.Helper()
	rows, err := b.store.PendingActivities(t.Context(), b.cluster)
	require.NoError(t, err)
	states := map[string]model.ActivityState{}
	for _, row := range rows {
		states[row.ID] = row.State
	}
	return states
}

func TestResultsThatNoWorkflowWaitsForEnd(t *testing.T) {
	t.Parallel()
	b, _ := newTaking(t, map[string]error{
		"ended":      serviceerror.NewNotFound("workflow execution already completed"),
		"unknown":    serviceerror.NewNotFound("invalid activityID or activity already timed out or invoking workflow is completed"),
		"unreadable": serviceerror.NewInvalidArgument("Invalid RunId."),
		"not-set-up": serviceerror.NewNamespaceNotFound("slipway"),
		"away":       serviceerror.NewUnavailable("connection refused"),
	}, "ended", "unknown", "unreadable", "not-set-up", "away", "right")
	b.report(t, "ended", "unknown", "unreadable", "not-set-up", "away", "right")
	for range 10 {
		_ = b.Forward(t.Context()) // a failed result makes room for the others
	}
	require.Equal(t, map[string]model.ActivityState{
		"ended": "done", "unknown": "done", "unreadable": "done", "not-set-up": "reported", "away": "reported", "right": "done",
	}, b.states(t))
}

func TestResultIsForwardedWithoutHoldingItsRow(t *testing.T) {
	t.Parallel()
	b, f := newTaking(t, nil, "slow")
	b.report(t, "slow")
	asked, over := make(chan struct{}), make(chan struct{})
	f.before = func(string) {
		close(asked)
		<-over
	}
	done := make(chan error, 1)
	go func() { done <- b.Forward(t.Context()) }()
	<-asked // Temporal hangs
	ctx := await.Context(t)
	require.NoError(t, b.store.ActivityDone(ctx, "slow"), "the row can be written")
	require.NoError(t, b.Forward(ctx), "another process takes no result twice")
	close(over)
	require.NoError(t, <-done)
	require.Equal(t, []string{"slow"}, f.activities())
}

func TestResultOfAProcessThatEndedIsForwardedByAnother(t *testing.T) {
	t.Parallel()
	b, f := newTaking(t, nil, "lost")
	b.report(t, "lost")
	found, err := b.store.ForwardReported(t.Context(), 0, func(model.PendingActivity) error { return errors.New("killed") })
	require.True(t, found)
	require.Error(t, err)
	require.NoError(t, b.Forward(t.Context()))
	require.Equal(t, []string{"lost"}, f.activities())
}

func TestHeartbeatsDoNotWaitForOneThatFails(t *testing.T) {
	t.Parallel()
	b, f := newTaking(t, map[string]error{
		"a-unreadable": serviceerror.NewInvalidArgument("Invalid RunId."),
		"b-away":       serviceerror.NewUnavailable("connection refused"),
	}, "a-unreadable", "b-away", "c-right", "d-right")
	var together sync.WaitGroup
	together.Add(4)
	f.before = func(string) { // all four are under way at once
		together.Done()
		together.Wait()
	}
	limit := time.AfterFunc(await.Limit(t), func() { panic("heartbeats are sent one by one") })
	defer limit.Stop()
	require.ErrorContains(t, b.Beat(t.Context()), "heartbeat of b-away")
	require.Equal(t, []string{"a-unreadable", "b-away", "c-right", "d-right"}, f.activities())
	require.Equal(t, model.ActivityPending, b.states(t)["a-unreadable"], "another Temporal may take it over")
}
