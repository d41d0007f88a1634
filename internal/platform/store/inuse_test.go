package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// set changes a host as a workflow would.
func set(t *testing.T, s *store.Store, h *model.Host, fn func(*model.Host)) {
	t.Helper()
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		fn(h)
		return nil
	})
	require.NoError(t, err)
}

func accepting(*model.Cluster, []*model.Host, *store.Tx) error { return nil }

func TestClusterThatTakesHostsIsKeptWhileOneIsInstalled(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cluster model.ClusterStatus
		host    model.HostStatus
		kept    bool
	}{
		"a host that is installed into it":     {model.ClusterAddingHosts, model.HostInstalling, true},
		"one that writes its disk":             {model.ClusterAddingHosts, model.HostInstallingInProgress, true},
		"one that waits for its user":          {model.ClusterAddingHosts, model.HostInstallingPendingUserAction, true},
		"one that failed":                      {model.ClusterAddingHosts, model.HostError, false},
		"one that is part of it":               {model.ClusterAddingHosts, model.HostAddedToExistingCluster, false},
		"what a failed installation left over": {model.ClusterError, model.HostInstallingInProgress, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			c := newCluster(t, s)
			h := newHost(t, s, &c.ID)
			set(t, s, h, func(h *model.Host) { h.Status = tt.host })
			_, err := s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
				c.Status = tt.cluster
				return nil
			})
			require.NoError(t, err)
			err = s.DeleteCluster(t.Context(), c.ID, accepting)
			if !tt.kept {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, model.ErrConflict)
			require.ErrorContains(t, err, "found 1")
			_, err = s.Host(t.Context(), h.InfraEnvID, h.ID)
			require.NoError(t, err)
		})
	}
}

func TestReclaimOutlivesTheClusterTheHostWasIn(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	back, stays := newHost(t, s, &c.ID), newHost(t, s, &c.ID)
	arm(t, s, c, back, "download-1", "run-1")
	arm(t, s, c, stays, "step-1", "run-1")
	set(t, s, back, func(h *model.Host) {
		h.Status, h.FormerClusterID = model.HostReclaiming, h.ClusterID
		h.LeaveCluster()
	})
	require.ErrorIs(t, s.DeleteInfraEnv(t.Context(), back.InfraEnvID, func(*model.InfraEnv, *store.Tx) {}), model.ErrConflict)
	require.NoError(t, s.DeleteCluster(t.Context(), c.ID, accepting))
	states := map[string]model.ActivityState{}
	all, err := s.PendingActivities(t.Context(), c.ID)
	require.NoError(t, err)
	for _, i := range all {
		states[i.ID] = i.State
	}
	require.Equal(t, map[string]model.ActivityState{
		"download-1": model.ActivityPending, "step-1": model.ActivitySuperseded,
	}, states)
}

func TestHostIsChangedWithItsClusterLocked(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h, free := newHost(t, s, &c.ID), newHost(t, s, nil)
	var seen *model.Cluster
	look := func(c *model.Cluster, h *model.Host, _ *store.Tx) error {
		seen = c
		h.RequestedHostname = "seen"
		return nil
	}
	require.NoError(t, s.UpdateHostOf(t.Context(), &c.ID, h.InfraEnvID, h.ID, look))
	require.Equal(t, c.Status, seen.Status)
	require.Equal(t, c.Name, seen.Name)
	require.NoError(t, s.UpdateHostOf(t.Context(), nil, free.InfraEnvID, free.ID, look))
	require.Nil(t, seen)
	gone := uuid.New()
	require.ErrorIs(t, s.UpdateHostOf(t.Context(), &gone, h.InfraEnvID, h.ID, look), model.ErrNotFound)
}
