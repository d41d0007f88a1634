package api_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
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

func (s *service) damage(hostID string) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.database)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close(s.t.Context()) }()
	_, err = conn.Exec(s.t.Context(), `update slipway.hosts set doc = '[]' where id = $1`, hostID)
	require.NoError(s.t, err)
}
