package store_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

func TestEvaluationsReadHostsThatChangedSinceTheLastOne(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	decided, same, changed, leaves := newHost(t, s, &c.ID), newHost(t, s, &c.ID), newHost(t, s, &c.ID), newHost(t, s, &c.ID)
	name := func(h *model.Host, hostname string) {
		_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.Inventory = &wire.Inventory{Hostname: hostname}
			return nil
		})
		require.NoError(t, err)
	}
	for _, h := range []*model.Host{decided, same, changed, leaves} {
		name(h, "before")
	}
	evaluate := func(decide func(read map[uuid.UUID]*model.Host) []*model.Host) (read map[uuid.UUID]*model.Host) {
		err := s.EvaluateCluster(t.Context(), c.ID, func(_ *model.Cluster, hosts []*model.Host, tx *store.Tx) (store.Decision, error) {
			read = map[uuid.UUID]*model.Host{}
			for _, h := range hosts {
				read[h.ID] = h
			}
			var d store.Decision
			for _, h := range decide(read) {
				d.Hosts = append(d.Hosts, store.HostChange{Host: h, Tx: tx.Part()})
			}
			return d, nil
		})
		require.NoError(t, err)
		return read
	}
	none := func(map[uuid.UUID]*model.Host) []*model.Host { return nil }

	first := evaluate(func(read map[uuid.UUID]*model.Host) []*model.Host {
		known := *read[decided.ID]
		known.Status = model.HostKnown
		return []*model.Host{&known}
	})
	name(changed, "after")
	require.NoError(t, s.DeleteHost(t.Context(), leaves.InfraEnvID, leaves.ID, func(*model.Host, *store.Tx) error { return nil }))
	second := evaluate(none)
	require.Len(t, second, 3)
	require.Same(t, first[same.ID].Inventory, second[same.ID].Inventory)
	require.Equal(t, "after", second[changed.ID].Inventory.Hostname)
	require.Same(t, first[decided.ID].Inventory, second[decided.ID].Inventory, "what the first one wrote is known")
	require.Equal(t, model.HostKnown, second[decided.ID].Status)
	stored, err := s.Host(t.Context(), decided.InfraEnvID, decided.ID)
	require.NoError(t, err)
	require.Equal(t, stored, second[decided.ID])

	s.OtherServer(c.ID)
	third := evaluate(none)
	require.NotSame(t, second[same.ID].Inventory, third[same.ID].Inventory, "versions of rows are of one server")
	require.Equal(t, second, third)
}

func TestSnapshotsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 64 << 20
		s := store.NewSnapshots()
		first, second, third, huge := uuid.New(), uuid.New(), uuid.New(), uuid.New()
		host := func(size int) *model.Host { return &model.Host{Connectivity: make(model.ConnectivityReport, size)} }
		bytes := 0
		all := func() (kept []uuid.UUID) {
			kept, bytes = s.Kept(first, second, third, huge)
			return kept
		}
		s.Keep(huge, host(limit))
		s.Keep(huge)
		require.Empty(t, all(), "one that is too large for all, and an empty one")
		s.Keep(first, host(limit/3))
		time.Sleep(time.Second)
		s.Keep(second, host(limit/3))
		time.Sleep(time.Second)
		s.Keep(second, host(limit/3), host(1))
		require.Equal(t, []uuid.UUID{first, second}, all())
		s.Keep(third, host(limit/3))
		require.Equal(t, []uuid.UUID{second, third}, all(), "the oldest one makes room")
		require.Less(t, bytes, limit)
		time.Sleep(29 * time.Second)
		s.Keep(third, host(limit/3))
		time.Sleep(2 * time.Second)
		require.Equal(t, []uuid.UUID{third}, all(), "an idle cluster needs none")
		time.Sleep(29 * time.Second)
		require.Empty(t, all())
		require.Zero(t, bytes)
	})
}
