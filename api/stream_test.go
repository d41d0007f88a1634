package api_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// TestAListThatBreaksOffIsNotTakenForTheWhole damages rows, which nothing but a fault of
// the service does: before the first row the client gets an error, after it no end.
func TestAListThatBreaksOffIsNotTakenForTheWhole(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	first, second := s.host(e.ID), s.host(e.ID)
	s.damage(second.ID.String())
	response, err := http.Get(s.url + base + "/v2/infra-envs/" + e.ID.String() + "/hosts")
	if err == nil {
		_, err = io.ReadAll(response.Body)
		require.NoError(t, response.Body.Close())
	}
	require.Error(t, err)
	require.Contains(t, s.logged.String(), "decode host")
	s.damage(first.ID.String())
	s.send(http.MethodGet, "/v2/infra-envs/"+e.ID.String()+"/hosts", nil).reason(http.StatusInternalServerError)
}

// TestAClusterThatBreaksOffIsNotTakenForTheWhole is the same for a cluster with its hosts.
func TestAClusterThatBreaksOffIsNotTakenForTheWhole(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	first, second := s.host(e.ID), s.host(e.ID)
	s.changeHost(e.ID, first.ID, func(h *model.Host) { h.InstallerArgs = []string{strings.Repeat("x", 100_000)} })
	s.damage(second.ID.String())
	response, err := http.Get(s.url + base + clusterPath(c.ID))
	if err == nil {
		_, err = io.ReadAll(response.Body)
		require.NoError(t, response.Body.Close())
	}
	require.Error(t, err)
	s.damage(first.ID.String())
	s.send(http.MethodGet, clusterPath(c.ID), nil).reason(http.StatusInternalServerError)
}

func TestClustersComeWithTheirHosts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	empty, c := s.cluster(nil), s.cluster(nil)
	e := s.infraEnv(c.ID)
	first, second := s.host(e.ID), s.host(e.ID)
	s.changeHost(e.ID, first.ID, func(h *model.Host) {
		h.Connectivity = model.PackConnectivity(wire.ConnectivityReport{})
		h.RequestedHostname = `"hosts":[]`
	})
	var got wire.Cluster
	s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil).json(&got)
	require.Len(t, got.Hosts, 2)
	require.Equal(t, []uuid.UUID{first.ID, second.ID}, []uuid.UUID{got.Hosts[0].ID, got.Hosts[1].ID})
	require.JSONEq(t, `{"remote_hosts":[]}`, got.Hosts[0].Connectivity)
	var bare wire.Cluster
	s.want(http.StatusOK, http.MethodGet, clusterPath(empty.ID), nil).json(&bare)
	require.Equal(t, []wire.Host{}, bare.Hosts)
	var list []wire.Cluster
	s.want(http.StatusOK, http.MethodGet, "/v2/clusters?with_hosts=true", nil).json(&list)
	hosts := map[uuid.UUID]int{}
	for _, item := range list {
		hosts[item.ID] = len(item.Hosts)
	}
	require.Equal(t, map[uuid.UUID]int{empty.ID: 0, c.ID: 2}, hosts)
}

func (s *service) damage(hostID string) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.database)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close(s.t.Context()) }()
	_, err = conn.Exec(s.t.Context(), `update slipway.hosts set doc = '[]' where id = $1`, hostID)
	require.NoError(s.t, err)
}
