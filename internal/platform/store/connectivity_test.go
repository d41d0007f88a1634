package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

func TestConnectivityReportsAreKeptBesideTheDocument(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	report := wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{{HostID: uuid.New()}}}
	change := func(fn func(*model.Host)) {
		t.Helper()
		_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			fn(h)
			return nil
		})
		require.NoError(t, err)
	}
	stored := func() model.ConnectivityReport {
		t.Helper()
		got, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
		require.NoError(t, err)
		return got.Connectivity
	}

	change(func(h *model.Host) { h.Connectivity = model.PackConnectivity(report) })
	require.Equal(t, report, stored().Unpack())
	change(func(h *model.Host) { h.RequestedHostname = "other" })
	require.Equal(t, report, stored().Unpack(), "other changes leave it")
	err := s.EvaluateCluster(t.Context(), c.ID, func(_ *model.Cluster, hosts []*model.Host, tx *store.Tx) (store.Decision, error) {
		require.Equal(t, report, hosts[0].Connectivity.Unpack(), "evaluations see it")
		decided := *hosts[0]
		decided.StatusInfo = "evaluated"
		return store.Decision{Hosts: []store.HostChange{{Host: &decided, Tx: tx.Part()}}}, nil
	})
	require.NoError(t, err)
	require.Equal(t, report, stored().Unpack())

	without, err := s.ClusterHosts(t.Context(), c.ID)
	require.NoError(t, err)
	require.Nil(t, without[0].Connectivity)
	err = s.Hosts(t.Context(), store.HostFilter{ClusterID: c.ID, Connectivity: true}, func(h *model.Host) error {
		require.Equal(t, report, h.Connectivity.Unpack())
		return nil
	})
	require.NoError(t, err)

	change(func(h *model.Host) { h.Connectivity = model.PackConnectivity(wire.ConnectivityReport{}) })
	require.NotNil(t, stored(), "a report without remote hosts is a report")
	change(func(h *model.Host) { h.Connectivity = nil })
	require.Nil(t, stored())
}

func TestHostsThatComeBackAfterTheirDeletionHaveNoReport(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Connectivity = model.PackConnectivity(wire.ConnectivityReport{})
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, s.DeleteHost(t.Context(), h.InfraEnvID, h.ID, func(*model.Host, *store.Tx) error { return nil }))
	again, err := s.RegisterHost(t.Context(), h.InfraEnvID, h.ID, func() *model.Host {
		return &model.Host{
			ClusterID:  &c.ID,
			Kind:       model.KindHost,
			Status:     model.HostDiscovering,
			Role:       model.RoleAutoAssign,
			AgentSteps: model.FineSteps,
		}
	}, func(_ *model.Host, created bool, _ *store.Tx) error {
		require.True(t, created)
		return nil
	})
	require.NoError(t, err)
	got, err := s.Host(t.Context(), again.InfraEnvID, again.ID)
	require.NoError(t, err)
	require.Nil(t, got.Connectivity)
}
