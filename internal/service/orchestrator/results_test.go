package orchestrator_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/await"
)

// takingTemporal answers results and heartbeats by their task token; with the errors of Temporal's frontend (go.temporal.io/server,
// service/frontend and common/rpc/interceptor).
type takingTemporal struct {
	*answeringTemporal
	errors map[string]error
	before func(token string)

	mu    sync.Mutex
	taken []string
}

func (f *takingTemporal) take(token []byte) error {
	if f.before != nil {
		f.before(string(token))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken = append(f.taken, string(token))
	return f.errors[string(token)]
}

func (f *takingTemporal) CompleteActivity(_ context.Context, token []byte, _ any, _ error) error {
	return f.take(token)
}

func (f *takingTemporal) RecordActivityHeartbeat(_ context.Context, token []byte, _ ...any) error {
	return f.take(token)
}

func (f *takingTemporal) tokens() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(slices.Values(f.taken))
}

func newTaking(t *testing.T, errors map[string]error, tokens ...string) (bench, *takingTemporal) {
	t.Helper()
	b := newBench(t)
	f := &takingTemporal{answeringTemporal: b.temporal, errors: errors}
	b.Temporal = f
	for _, token := range tokens {
		_, err := b.store.ArmActivity(t.Context(), model.PendingActivity{
			ID: token, Kind: model.ActivityMilestone, ClusterID: b.cluster, Type: token, WorkflowID: "cluster:x", RunID: "run-1",
			ActivityID: token, TaskToken: []byte(token),
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
		"ended":             serviceerror.NewNotFound("workflow execution already completed"),
		"unreadable":        serviceerror.NewInvalidArgument("Error deserializing task token."),
		"another-namespace": serviceerror.NewInvalidArgument("Operation requested with a token from a different namespace."),
		"another-temporal":  serviceerror.NewNamespaceNotFound(uuid.NewString()),
		"not-set-up":        serviceerror.NewNamespaceNotFound("slipway"),
		"away":              serviceerror.NewUnavailable("connection refused"),
	}, "ended", "unreadable", "another-namespace", "another-temporal", "not-set-up", "away", "right")
	b.report(t, "ended", "unreadable", "another-namespace", "another-temporal", "not-set-up", "away", "right")
	for range 10 {
		_ = b.Forward(t.Context()) // a failed result makes room for the others
	}
	require.Equal(t, map[string]model.ActivityState{
		"ended": "done", "unreadable": "done", "another-namespace": "done", "another-temporal": "done",
		"not-set-up": "reported", "away": "reported", "right": "done",
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
	require.Equal(t, []string{"slow"}, f.tokens())
}

func TestResultOfAProcessThatEndedIsForwardedByAnother(t *testing.T) {
	t.Parallel()
	b, f := newTaking(t, nil, "lost")
	b.report(t, "lost")
	found, err := b.store.ForwardReported(t.Context(), 0, func(model.PendingActivity) error { return errors.New("killed") })
	require.True(t, found)
	require.Error(t, err)
	require.NoError(t, b.Forward(t.Context()))
	require.Equal(t, []string{"lost"}, f.tokens())
}

func TestHeartbeatsDoNotWaitForOneThatFails(t *testing.T) {
	t.Parallel()
	b, f := newTaking(t, map[string]error{
		"a-unreadable": serviceerror.NewInvalidArgument("Error deserializing task token."),
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
	require.Equal(t, []string{"a-unreadable", "b-away", "c-right", "d-right"}, f.tokens())
	require.Equal(t, model.ActivityPending, b.states(t)["a-unreadable"], "another Temporal may take it over")
}
