package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/pgtest"
)

// yard is a database that was used yesterday, and is looked at today.
type yard struct {
	before, today *store.Store
	since         time.Time
}

func newYard(t *testing.T) yard {
	t.Helper()
	url := pgtest.Migrated(t, store.Migrate)
	at := func(ago time.Duration) *store.Store {
		s, err := store.Open(
			t.Context(),
			store.Options{URL: url, Sealer: xorSealer{}, Now: func() time.Time { return time.Now().Add(-ago) }},
		)
		require.NoError(t, err)
		t.Cleanup(s.Close)
		return s
	}
	return yard{before: at(24 * time.Hour), today: at(0), since: time.Now().Add(-time.Hour)}
}

func TestOnlyClustersThatWereLeftAloneAreIdle(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(t *testing.T, y yard, c *model.Cluster, h *model.Host)
		idle   bool
	}{
		"no one came since":       {func(*testing.T, yard, *model.Cluster, *model.Host) {}, true},
		"its installation failed": {status(model.ClusterError), true},
		"it is installed":         {status(model.ClusterInstalled), false},
		"it is being installed":   {status(model.ClusterInstalling), false},
		"it takes hosts":          {status(model.ClusterAddingHosts), false},
		"a decision is open": {func(t *testing.T, y yard, c *model.Cluster, _ *model.Host) {
			t.Helper()
			_, err := y.before.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
				c.Status, c.DecisionOpen = model.ClusterError, true
				return nil
			})
			require.NoError(t, err)
		}, false},
		"somebody changed it": {func(t *testing.T, y yard, c *model.Cluster, _ *model.Host) {
			t.Helper()
			_, err := y.today.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error { c.Name = "mine"; return nil })
			require.NoError(t, err)
		}, false},
		"a host was heard of": {func(t *testing.T, y yard, _ *model.Cluster, h *model.Host) {
			t.Helper()
			require.NoError(t, y.today.Write(t.Context(), func(tx *store.Tx) error { tx.CheckIn(h); return nil }))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			c := newCluster(t, y.before)
			h := newHost(t, y.before, &c.ID)
			test.change(t, y, c, h)
			ids, err := y.today.IdleClusters(t.Context(), y.since, uuid.Nil, 10)
			require.NoError(t, err)
			require.Equal(t, test.idle, len(ids) == 1)
			deleted, err := y.today.DeleteIdleCluster(t.Context(), c.ID, y.since, accepting)
			require.NoError(t, err)
			require.Equal(t, test.idle, deleted)
			_, err = y.today.Cluster(t.Context(), c.ID)
			require.Equal(t, test.idle, err != nil)
			again, err := y.today.DeleteIdleCluster(t.Context(), c.ID, y.since, accepting)
			require.NoError(t, err)
			require.False(t, again, "once")
		})
	}
}

func status(s model.ClusterStatus) func(*testing.T, yard, *model.Cluster, *model.Host) {
	return func(t *testing.T, y yard, c *model.Cluster, _ *model.Host) {
		t.Helper()
		_, err := y.before.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error { c.Status = s; return nil })
		require.NoError(t, err)
	}
}

func TestDiscoveryEnvironmentsAreIdleWithoutClustersAndHosts(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	c := newCluster(t, y.before)
	newHost(t, y.before, &c.ID)           // belongs to a cluster
	silent := newHost(t, y.before, nil)   // an unbound host that fell silent
	speaking := newHost(t, y.before, nil) // and one that did not
	require.NoError(t, y.today.Write(t.Context(), func(tx *store.Tx) error { tx.CheckIn(speaking); return nil }))
	ids, err := y.today.IdleInfraEnvs(t.Context(), y.since, uuid.Nil, 10)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{silent.InfraEnvID}, ids)
	deleted, err := y.today.DeleteIdleInfraEnv(t.Context(), silent.InfraEnvID, y.since, func(*model.InfraEnv, *store.Tx) {})
	require.NoError(t, err)
	require.True(t, deleted)
	_, err = y.today.Host(t.Context(), silent.InfraEnvID, silent.ID)
	require.ErrorIs(t, err, model.ErrNotFound)
	deleted, err = y.today.DeleteIdleInfraEnv(t.Context(), speaking.InfraEnvID, y.since, func(*model.InfraEnv, *store.Tx) {})
	require.NoError(t, err)
	require.False(t, deleted)
}

func TestHostsInNoClusterAreIdleOnceSilent(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	ctx := t.Context()
	c := newCluster(t, y.before)
	silent, speaking, discovering, bound := newHost(
		t,
		y.before,
		nil,
	), newHost(
		t,
		y.before,
		nil,
	), newHost(
		t,
		y.before,
		nil,
	), newHost(
		t,
		y.before,
		&c.ID,
	)
	for _, h := range []*model.Host{silent, speaking, bound} {
		_, err := y.before.UpdateHost(ctx, h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.Status = model.HostDisconnectedUnbound
			return nil
		})
		require.NoError(t, err)
	}
	require.NoError(t, y.today.Write(ctx, func(tx *store.Tx) error { tx.CheckIn(speaking); return nil }))
	idle, err := y.today.IdleHosts(ctx, y.since, 10)
	require.NoError(t, err)
	require.Equal(t, []store.HostKey{{InfraEnvID: silent.InfraEnvID, HostID: silent.ID}}, idle)
	for h, want := range map[*model.Host]bool{silent: true, speaking: false, discovering: false, bound: false} {
		deleted, err := y.today.DeleteIdleHost(
			ctx,
			store.HostKey{InfraEnvID: h.InfraEnvID, HostID: h.ID},
			y.since,
			func(*model.Host, *store.Tx) {},
		)
		require.NoError(t, err)
		require.Equal(t, want, deleted)
	}
}

func TestPurgeLeavesNothingOfWhatWasDeletedAndEverythingElse(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	ctx := t.Context()
	gone, kept := newCluster(t, y.before), newCluster(t, y.before)
	h, other := newHost(t, y.before, &gone.ID), newHost(t, y.before, &kept.ID)
	for _, of := range []*model.Host{h, other} {
		_, err := y.before.ArmActivity(ctx, model.PendingActivity{
			ID: uuid.NewString(), Kind: model.ActivityStep, ClusterID: *of.ClusterID, InfraEnvID: &of.InfraEnvID, HostID: &of.ID,
			Type:       "install",
			WorkflowID: "w", RunID: uuid.NewString(), ActivityID: "a", TaskToken: []byte("t"), Attempt: 1, HeartbeatEvery: time.Minute,
		})
		require.NoError(t, err)
		require.NoError(t, y.before.Write(ctx, func(tx *store.Tx) error {
			tx.Event(
				model.Event{
					Name:       "x",
					Category:   "user",
					Severity:   model.SeverityInfo,
					ClusterID:  of.ClusterID,
					HostID:     &of.ID,
					InfraEnvID: &of.InfraEnvID,
					Message:    "m",
					At:         tx.Now(),
				},
			)
			return nil
		}))
	}
	require.NoError(t, y.before.DeleteCluster(ctx, gone.ID, func(*model.Cluster, []*model.Host, *store.Tx) error { return nil }))
	found, err := y.today.PurgeCluster(ctx, kept.ID)
	require.NoError(t, err)
	require.False(t, found, "it is not deleted")

	ids, err := y.today.DeletedClusters(ctx, y.since, uuid.Nil, 10)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{gone.ID}, ids)
	found, err = y.today.PurgeCluster(ctx, gone.ID)
	require.NoError(t, err)
	require.True(t, found)
	_, err = y.today.KeptCluster(ctx, gone.ID)
	require.ErrorIs(t, err, model.ErrNotFound)
	for id, want := range map[uuid.UUID]int{gone.ID: 0, kept.ID: 1} {
		counts, err := y.today.CountEvents(ctx, store.EventFilter{ClusterID: id})
		require.NoError(t, err)
		require.Equal(t, want, counts.Total)
	}
	_, err = y.today.Host(ctx, other.InfraEnvID, other.ID)
	require.NoError(t, err)

	require.NoError(t, y.before.DeleteHost(ctx, other.InfraEnvID, other.ID, func(*model.Host, *store.Tx) error { return nil }))
	n, err := y.today.PurgeHosts(ctx, y.since, 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = y.today.PurgeHosts(ctx, y.since, 10)
	require.NoError(t, err)
	require.Zero(t, n)

	require.NoError(t, y.before.DeleteInfraEnv(ctx, h.InfraEnvID, func(*model.InfraEnv, *store.Tx) {}))
	ids, err = y.today.DeletedInfraEnvs(ctx, y.since, uuid.Nil, 10)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{h.InfraEnvID}, ids)
	found, err = y.today.PurgeInfraEnv(ctx, h.InfraEnvID)
	require.NoError(t, err)
	require.True(t, found)
}
