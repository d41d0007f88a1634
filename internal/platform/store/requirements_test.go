package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

func TestWhatAHostIsJudgedBy(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	bound, pool := newHost(t, s, &c.ID), newHost(t, s, nil)
	_, err := s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.OpenShiftVersion, c.ControlPlaneCount = "4.20.5", 5
		return nil
	})
	require.NoError(t, err)
	got, err := s.RequirementsInput(t.Context(), bound.InfraEnvID, bound.ID)
	require.NoError(t, err)
	require.Equal(t, store.RequirementsInput{Bound: true, ClusterKind: c.Kind, ControlPlaneCount: 5, OpenShiftVersion: "4.20.5"}, got)
	env, err := s.InfraEnv(t.Context(), pool.InfraEnvID)
	require.NoError(t, err)
	got, err = s.RequirementsInput(t.Context(), pool.InfraEnvID, pool.ID)
	require.NoError(t, err)
	require.Equal(t, store.RequirementsInput{OpenShiftVersion: env.OpenShiftVersion}, got)
	_, err = s.RequirementsInput(t.Context(), pool.InfraEnvID, uuid.New())
	require.ErrorIs(t, err, model.ErrNotFound)
}

func TestFactsOfAHostLeaveItsReport(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h := newHost(t, s, &c.ID)
	report := model.PackConnectivity(wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{{HostID: uuid.New()}}})
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Connectivity = report
		return nil
	})
	require.NoError(t, err)
	_, err = s.UpdateHostFacts(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		require.Nil(t, h.Connectivity)
		h.RequestedHostname, h.Status, h.Connectivity = "other", model.HostKnown, model.PackConnectivity(wire.ConnectivityReport{})
		return nil
	})
	require.NoError(t, err)
	got, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, "other", got.RequestedHostname)
	require.Equal(t, model.HostKnown, got.Status)
	require.Equal(t, report, got.Connectivity)
	_, err = s.UpdateHostFacts(t.Context(), h.InfraEnvID, uuid.New(), func(*model.Host, *store.Tx) error { return nil })
	require.ErrorIs(t, err, model.ErrNotFound)
}
