package store_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/testing/pgtest"
)

func TestFirstIdentityIsKeptUntilItIsReplaced(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	identity := func(own string) string {
		recorded, err := s.Identity(t.Context(), "token key", own)
		require.NoError(t, err)
		return recorded
	}
	require.Empty(t, identity(""), "nothing is recorded for a file that is not there")
	require.Equal(t, "one", identity("one"))
	require.Equal(t, "one", identity("two"))
	require.Equal(t, "one", identity(""))
	require.NoError(t, s.ReplaceIdentity(t.Context(), "token key", "two"))
	require.Equal(t, "two", identity("one"))
}

// Each table with secrets is looked at. Values hold one byte of the id of their key only: a key with the same byte is another.
func TestDatabaseOfOtherKeysIsUnreadable(t *testing.T) {
	t.Parallel()
	key := func(n byte) []byte { return bytes.Repeat([]byte{n}, encryption.KeySize) }
	own, err := encryption.New(key(0))
	require.NoError(t, err)
	others := map[bool]*encryption.Sealer{} // by whether they share the byte
	for n := byte(1); len(others) < 2; n++ {
		s, err := encryption.New(append(key(0)[1:], n))
		require.NoError(t, err)
		others[bytes.Equal(s.Header(), own.Header())] = s
	}
	tables := []string{"clusters", "infra_envs", "hosts", "pending_activities"}
	for _, table := range tables {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Migrated(t, store.Migrate)
			s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: own, Now: time.Now})
			require.NoError(t, err)
			t.Cleanup(s.Close)
			c := newCluster(t, s)
			h := newHost(t, s, &c.ID)
			_, err = s.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
				h.IgnitionEndpointToken = "t0ken"
				return nil
			})
			require.NoError(t, err)
			_, err = s.ArmActivity(t.Context(), model.PendingActivity{
				ID: "reboot-1", Kind: model.ActivityStep, ClusterID: c.ID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID, Type: "reboot",
				Args: []string{"now"}, WorkflowID: "host:" + h.ID.String(), RunID: "run-1", ActivityID: "1", TaskToken: []byte("token"),
				Attempt: 1, HeartbeatEvery: time.Minute,
			})
			require.NoError(t, err)
			require.NoError(t, s.Readable(t.Context(), own))

			conn, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close(t.Context()) })
			for _, other := range tables {
				if other == table {
					continue
				}
				empty := "update slipway." + other + " set secrets = ''"
				if other == "pending_activities" {
					empty = "delete from slipway.pending_activities"
				}
				_, err := conn.Exec(t.Context(), empty)
				require.NoError(t, err)
			}
			for shares, other := range others {
				require.ErrorIs(t, s.Readable(t.Context(), other), store.ErrUnreadable, "the byte is shared: %t", shares)
			}
			require.NoError(t, s.Readable(t.Context(), own))
		})
	}
}
