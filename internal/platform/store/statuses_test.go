package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// awaiting makes a row that waits for a status of a host.
func awaiting(t *testing.T, s *store.Store, c *model.Cluster, h *model.Host, id, how string, statuses ...string) {
	t.Helper()
	_, err := s.ArmActivity(t.Context(), model.PendingActivity{
		ID: id, Kind: model.ActivityStatus, ClusterID: c.ID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID, Type: how, Awaited: statuses,
		WorkflowID: "host:" + id, RunID: "run-1", ActivityID: id, TaskToken: []byte("t"), HeartbeatEvery: time.Minute,
	})
	require.NoError(t, err)
}

// Evaluations write many hosts at once, without their rows of other columns.
func TestEvaluationCompletesWaitsForAStatus(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	awaiting(t, s, c, h, "reached", "reached", "known", "installing")
	awaiting(t, s, c, h, "left", "left", "discovering")
	awaiting(t, s, c, h, "not-yet", "reached", "installing")
	evaluate := func(status model.HostStatus) {
		err := s.EvaluateCluster(t.Context(), c.ID, func(_ *model.Cluster, hosts []*model.Host, _ *store.Tx) (store.Decision, error) {
			changed := *hosts[0]
			changed.Status = status
			return store.Decision{Hosts: []store.HostChange{{Host: &changed}}}, nil
		})
		require.NoError(t, err)
	}
	evaluate("discovering")
	require.Equal(t, model.ActivityPending, stateOf(t, s, c, "left").State)
	evaluate("known")
	require.Equal(t, model.ActivityReported, stateOf(t, s, c, "reached").State)
	require.Equal(t, model.ActivityReported, stateOf(t, s, c, "left").State)
	require.Equal(t, model.ActivityPending, stateOf(t, s, c, "not-yet").State)
}

func TestStatusThatAnEarlierVersionWroteIsNoticed(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	awaiting(t, s, c, h, "waits", "reached", "known")
	require.NoError(t, s.CompleteStatuses(t.Context()))
	require.Equal(t, model.ActivityPending, stateOf(t, s, c, "waits").State)
	require.NoError(t, s.Exec(t.Context(), "update hosts set status = 'known'"))
	require.NoError(t, s.CompleteStatuses(t.Context()))
	require.Equal(t, model.ActivityReported, stateOf(t, s, c, "waits").State)
}

// What ends the steps of a host is no answer to where it is.
func TestFailedStepsLeaveWaitsForAStatusOpen(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	awaiting(t, s, c, h, "waits", "reached", "known")
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, tx *store.Tx) error {
		tx.FailSteps(h, 75, "booted again")
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, model.ActivityPending, stateOf(t, s, c, "waits").State)
}

// A status that changes while a wait begins is seen by one of both.
func TestWaitAndStatusAtTheSameTimeMeet(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	for i := range 50 {
		setHost(t, s, h, func(h *model.Host) { h.Status = model.HostDiscovering })
		id := fmt.Sprint("waits-", i)
		var both sync.WaitGroup
		both.Go(func() { awaiting(t, s, c, h, id, "reached", "known") })
		both.Go(func() { setHost(t, s, h, func(h *model.Host) { h.Status = model.HostKnown }) })
		both.Wait()
		require.Equal(t, model.ActivityReported, stateOf(t, s, c, id).State, "it would wait for another change")
	}
}
