package store_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

func TestSecretsOfAHostAreSealed(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	cluster := newCluster(t, s)
	h := newHost(t, s, &cluster.ID)
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Fencing = &model.FencingCredentials{
			Address:                 "https://bmc",
			Username:                "admin",
			Password:                "hunter2",
			CertificateVerification: "Disabled",
		}
		h.IgnitionEndpointToken = "t0ken"
		h.IgnitionEndpointHeaders = map[string]model.Secret{"X-Site": "headerval"}
		return nil
	})
	require.NoError(t, err)

	got, err := s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, "hunter2", got.Fencing.Password.Reveal())
	require.Equal(t, "https://bmc", got.Fencing.Address)
	require.Equal(t, "t0ken", got.IgnitionEndpointToken.Reveal())
	require.Equal(t, "headerval", got.IgnitionEndpointHeaders["X-Site"].Reveal())

	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	var row string
	require.NoError(t, conn.QueryRow(t.Context(), `select h::text from slipway.hosts h where id = $1`, h.ID).Scan(&row))
	for _, secret := range []string{"hunter2", "t0ken", "headerval"} {
		require.NotContains(t, row, secret)
	}

	_, err = s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Fencing, h.IgnitionEndpointToken, h.IgnitionEndpointHeaders = nil, "", nil
		return nil
	})
	require.NoError(t, err)
	got, err = s.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Nil(t, got.Fencing)
	require.Empty(t, got.IgnitionEndpointToken)
}
