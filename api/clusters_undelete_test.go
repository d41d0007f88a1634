package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/wire"
)

func TestADeletedClusterComesBack(t *testing.T) {
	t.Parallel()
	for name, withInfraEnv := range map[string]bool{"its InfraEnv was kept": false, "its InfraEnv was deleted after it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			c := s.cluster(nil)
			env, empty := s.infraEnv(c.ID), s.infraEnv(c.ID)
			hosts := []wire.Host{s.host(env.ID), s.host(env.ID)}
			s.installed(c.ID)
			s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
			if withInfraEnv {
				s.want(http.StatusNoContent, http.MethodDelete, envPath(env.ID), nil)
			}
			s.send(http.MethodGet, clusterPath(c.ID), nil).Reason(http.StatusNotFound)
			s.send(http.MethodGet, clusterPath(c.ID)+"/downloads/credentials?file_name=kubeconfig", nil).Reason(http.StatusNotFound)

			var back wire.Cluster
			s.want(http.StatusOK, http.MethodPost, ownClusterPath(c.ID)+"/undelete", nil).JSON(&back)
			require.Equal(t, "prod", back.Name)
			require.Equal(t, wire.ClusterStatusInstalled, back.Status)
			require.Nil(t, back.DeletedAt)
			require.Len(t, back.Hosts, 2)
			got := s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/downloads/credentials?file_name=kubeconfig", nil)
			require.Equal(t, "content of kubeconfig", string(got.Body))
			for _, h := range hosts {
				require.Equal(t, c.ID, s.readHost(env.ID, h.ID).ClusterID)
			}
			for _, e := range []wire.InfraEnv{env, empty} {
				var kept wire.InfraEnv
				s.want(http.StatusOK, http.MethodGet, envPath(e.ID), nil).JSON(&kept)
				require.Equal(t, c.ID, kept.ClusterID)
			}
			require.Contains(t, string(s.want(http.StatusOK, http.MethodGet, "/v2/events?cluster_id="+c.ID.String(), nil).Body),
				"cluster_undeleted")
			require.Contains(t, s.send(http.MethodPost, ownClusterPath(c.ID)+"/undelete", nil).Reason(http.StatusConflict),
				"cluster prod is not deleted")
		})
	}
}

func TestAHostThatRegisteredAgainStaysInThePool(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	env := s.infraEnv(c.ID)
	silent, polling := s.host(env.ID), s.host(env.ID)
	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
	s.want(http.StatusCreated, http.MethodPost, envPath(env.ID)+"/hosts", map[string]any{"host_id": polling.ID})
	s.want(http.StatusCreated, http.MethodPatch, envPath(env.ID), map[string]any{"additional_ntp_sources": "ntp.example.com"})
	s.want(http.StatusOK, http.MethodPost, ownClusterPath(c.ID)+"/undelete", nil)
	require.Contains(t, string(s.want(http.StatusOK, http.MethodGet, envPath(env.ID), nil).Body), c.ID.String())
	back := s.readCluster(c.ID)
	require.Len(t, back.Hosts, 1)
	require.Equal(t, silent.ID, back.Hosts[0].ID)
	require.Zero(t, s.readHost(env.ID, polling.ID).ClusterID)
}

// A cluster that was deleted because it was idle is not deleted again at once.
func TestAClusterThatCameBackIsNotIdle(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	s.readCluster(c.ID) // it is evaluated
	since := s.store.Now()
	idle := func() []uuid.UUID {
		found, err := s.store.IdleClusters(t.Context(), since, uuid.Nil, 10)
		require.NoError(t, err)
		return found
	}
	require.Equal(t, []uuid.UUID{c.ID}, idle())
	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
	s.want(http.StatusOK, http.MethodPost, ownClusterPath(c.ID)+"/undelete", nil)
	require.Empty(t, idle())
}

func TestAPurgedClusterDoesNotComeBack(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	s.send(http.MethodPost, ownClusterPath(uuid.New())+"/undelete", nil).Reason(http.StatusNotFound)
	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(c.ID), nil)
	purged, err := s.store.PurgeCluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.True(t, purged)
	require.Contains(t, s.send(http.MethodPost, ownClusterPath(c.ID)+"/undelete", nil).Reason(http.StatusNotFound), c.ID.String())
}

func TestDeletedClustersAreListedUntilTheirPurge(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *api.Options) { o.DeletedAfter = 48 * time.Hour })
	const path = "/api/slipway/v1/deleted-clusters"
	first, second, kept := s.cluster(nil), s.cluster(map[string]any{"name": "second"}), s.cluster(map[string]any{"name": "kept"})
	require.JSONEq(t, "[]", string(s.want(http.StatusOK, http.MethodGet, path, nil).Body))
	s.readCluster(second.ID) // it is evaluated
	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(second.ID), nil)
	s.want(http.StatusNoContent, http.MethodDelete, clusterPath(first.ID), nil)
	list := s.want(http.StatusOK, http.MethodGet, path, nil).List()
	require.Len(t, list, 2, "without %s", kept.Name)
	require.Equal(t, []any{first.ID.String(), second.ID.String()}, []any{list[0]["id"], list[1]["id"]}, "the newest deletion first")
	require.Equal(t, "second", list[1]["name"])
	require.Equal(t, "pending-for-input", list[1]["status"])
	require.Equal(t, "4.22.9", list[1]["openshift_version"])
	deleted, err := time.Parse(time.RFC3339, list[1]["deleted_at"].(string))
	require.NoError(t, err)
	until, err := time.Parse(time.RFC3339, list[1]["kept_until"].(string))
	require.NoError(t, err)
	require.Equal(t, 48*time.Hour, until.Sub(deleted))

	// Its files may be gone already.
	begun, err := s.store.BeginPurge(t.Context(), second.ID)
	require.NoError(t, err)
	require.True(t, begun)
	require.Len(t, s.want(http.StatusOK, http.MethodGet, path, nil).List(), 1)
	s.send(http.MethodPost, ownClusterPath(second.ID)+"/undelete", nil).Reason(http.StatusNotFound)
	begun, err = s.store.BeginPurge(t.Context(), kept.ID)
	require.NoError(t, err)
	require.False(t, begun, "it is not deleted")
}
