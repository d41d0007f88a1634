package store_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// become gives a host a status.
func become(t *testing.T, s *store.Store, h *model.Host, status model.HostStatus) {
	t.Helper()
	_, err := s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Status = status
		return nil
	})
	require.NoError(t, err)
}

func TestAFirstLookIsTakenOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	h, other := newHost(t, s, &c.ID), newHost(t, s, &c.ID)
	become(t, s, h, model.HostKnown)

	ctx := store.WithFirstLook(t.Context())
	looked, err := s.HostAccess(ctx, h.InfraEnvID, h.ID)
	require.NoError(t, err)
	plain, err := s.HostAccess(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, plain, looked)
	require.Equal(t, model.HostKnown, looked.Status)
	require.Equal(t, c.ID, looked.ClusterID)

	before, err := s.Poll(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	become(t, s, h, model.HostInsufficient)
	first, err := s.Poll(ctx, h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, before, first, "it was read with the credential")
	second, err := s.Poll(ctx, h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, model.HostInsufficient, second.Status)

	_, err = s.HostAccess(ctx, other.InfraEnvID, other.ID)
	require.NoError(t, err)
	own, err := s.Poll(ctx, h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.Equal(t, model.HostInsufficient, own.Status, "a look at another host is none")
	_, err = s.HostAccess(ctx, h.InfraEnvID, uuid.New())
	require.ErrorIs(t, err, model.ErrNotFound)
}

// Programs of earlier versions replace the secrets of a row, and know no name of their key.
func TestNamesOfKeysFollowTheirSecrets(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	h := newHost(t, s, nil)
	kept := func() (name string) {
		require.NoError(t, conn.QueryRow(t.Context(), `select token_key_name from slipway.infra_envs where id = $1`, h.InfraEnvID).Scan(&name))
		return name
	}
	named := func(ctx context.Context, key model.Secret) {
		a, err := s.HostAccess(ctx, h.InfraEnvID, h.ID)
		require.NoError(t, err)
		require.Equal(t, model.KeyName(key), a.KeyName)
		require.Equal(t, a.KeyName, kept())
	}
	key, err := s.TokenKey(t.Context(), h.InfraEnvID)
	require.NoError(t, err)
	require.Equal(t, model.KeyName(key), kept(), "as it was made")
	for _, ctx := range []context.Context{t.Context(), store.WithFirstLook(t.Context())} {
		_, err = conn.Exec(t.Context(), `update slipway.infra_envs set token_key_name = '' where id = $1`, h.InfraEnvID)
		require.NoError(t, err)
		named(ctx, key)
	}

	var before []byte
	require.NoError(t, conn.QueryRow(t.Context(), `select secrets from slipway.infra_envs where id = $1`, h.InfraEnvID).Scan(&before))
	_, err = s.UpdateInfraEnv(t.Context(), h.InfraEnvID, func(e *model.InfraEnv, _ *store.Tx) error {
		e.TokenKey = "another"
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, model.KeyName("another"), kept())
	_, err = conn.Exec(t.Context(), `update slipway.infra_envs set secrets = $2 where id = $1`, h.InfraEnvID, before) // an earlier version
	require.NoError(t, err)
	require.Empty(t, kept())
	named(t.Context(), key)
}
