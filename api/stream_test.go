package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// A row that cannot be read makes the whole answer an error: a client never takes a part for the whole. Nothing but a fault of the service
// damages rows.
func TestAListThatBreaksOffIsAnError(t *testing.T) {
	t.Parallel()
	s := newService(t)
	e := s.infraEnv(s.cluster(nil).ID)
	first, second := s.host(e.ID), s.host(e.ID)
	for _, damaged := range []wire.Host{second, first} {
		s.damage(damaged.ID.String())
		s.send(http.MethodGet, "/v2/infra-envs/"+e.ID.String()+"/hosts", nil).Reason(http.StatusInternalServerError)
	}
	require.Contains(t, s.logged.String(), "decode host")
}

// The same holds for a cluster with its hosts.
func TestAClusterThatBreaksOffIsAnError(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	e := s.infraEnv(c.ID)
	first, second := s.host(e.ID), s.host(e.ID)
	s.changeHost(e.ID, first.ID, func(h *model.Host) { h.InstallerArgs = []string{strings.Repeat("x", 100_000)} })
	for _, damaged := range []wire.Host{second, first} {
		s.damage(damaged.ID.String())
		s.send(http.MethodGet, clusterPath(c.ID), nil).Reason(http.StatusInternalServerError)
	}
}

func TestClustersComeWithTheirHosts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	empty, c, between, other, last := s.cluster(nil), s.cluster(nil), s.cluster(nil), s.cluster(nil), s.cluster(nil)
	e := s.infraEnv(c.ID)
	third := s.host(s.infraEnv(other.ID).ID)
	first, second := s.host(e.ID), s.host(e.ID)
	s.changeHost(e.ID, first.ID, func(h *model.Host) {
		h.Connectivity = model.PackConnectivity(wire.ConnectivityReport{})
		h.RequestedHostname = `"hosts":[]`
	})
	var got wire.Cluster
	s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID), nil).JSON(&got)
	require.Len(t, got.Hosts, 2)
	require.Equal(t, []uuid.UUID{first.ID, second.ID}, []uuid.UUID{got.Hosts[0].ID, got.Hosts[1].ID})
	require.JSONEq(t, `{"remote_hosts":[]}`, got.Hosts[0].Connectivity)
	var bare wire.Cluster
	s.want(http.StatusOK, http.MethodGet, clusterPath(empty.ID), nil).JSON(&bare)
	require.Equal(t, []wire.Host{}, bare.Hosts)
	var list []wire.Cluster
	s.want(http.StatusOK, http.MethodGet, "/v2/clusters?with_hosts=true", nil).JSON(&list)
	hosts := map[uuid.UUID][]uuid.UUID{}
	for _, item := range list {
		require.NotNil(t, item.Hosts)
		hosts[item.ID] = []uuid.UUID{}
		for _, h := range item.Hosts {
			hosts[item.ID] = append(hosts[item.ID], h.ID)
		}
	}
	require.Equal(t, map[uuid.UUID][]uuid.UUID{
		empty.ID: {}, c.ID: {first.ID, second.ID}, between.ID: {}, other.ID: {third.ID}, last.ID: {},
	}, hosts)
}

func (s *service) damage(hostID string) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.database)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close(s.t.Context()) }()
	_, err = conn.Exec(s.t.Context(), `update slipway.hosts set doc = '[]' where id = $1`, hostID)
	require.NoError(s.t, err)
}
