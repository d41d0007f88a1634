package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

func TestHostCountsAreByClusterAndLeaveDeletedHostsOut(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c, other := newCluster(t, s), newCluster(t, s)
	h := newHost(t, s, &c.ID)
	gone := newHost(t, s, &c.ID)
	newHost(t, s, &other.ID)
	newHost(t, s, nil)
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Status, h.Role, h.SuggestedRole = model.HostKnown, model.RoleAutoAssign, model.RoleWorker
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, s.DeleteHost(t.Context(), gone.InfraEnvID, gone.ID, func(*model.Host, *store.Tx) error { return nil }))

	counts, err := s.HostCounts(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[uuid.UUID]model.HostCounts{
		c.ID:     {Total: 1, Enabled: 1, Ready: 1, Workers: 1},
		other.ID: {Total: 1, Enabled: 1},
	}, counts)
	counts, err = s.HostCounts(t.Context(), c.ID)
	require.NoError(t, err)
	require.Len(t, counts, 1)
}

func TestOperatorsByClusterLeavesDeletedClustersOut(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c, gone := newCluster(t, s), newCluster(t, s)
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
		for _, id := range []uuid.UUID{c.ID, gone.ID} {
			tx.Operators(model.MonitoredOperator{ClusterID: id, Name: "console", Type: "builtin", Timeout: time.Hour})
		}
		return nil
	}))
	require.NoError(t, s.DeleteCluster(t.Context(), gone.ID, func(*model.Cluster, []*model.Host, *store.Tx) error { return nil }))
	operators, err := s.OperatorsByCluster(t.Context())
	require.NoError(t, err)
	require.Len(t, operators, 1)
	require.Equal(t, time.Hour, operators[c.ID][0].Timeout)
}

func TestSingleNodeClustersAreThoseWithOneControlPlaneHost(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Bootstrap = true
		return nil
	})
	require.NoError(t, err)
	single, err := s.SingleNodeClusters(t.Context(), h.InfraEnvID)
	require.NoError(t, err)
	require.Empty(t, single)
	_, err = s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.ControlPlaneCount = 1
		return nil
	})
	require.NoError(t, err)
	single, err = s.SingleNodeClusters(t.Context(), h.InfraEnvID)
	require.NoError(t, err)
	require.Equal(t, map[uuid.UUID]bool{c.ID: true}, single)
}
