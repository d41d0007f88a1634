package store_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
)

// A step that is commanded while somebody changes the whole installation waits for the cluster without holding its host:
// the transaction that has locked the cluster locks its hosts next.
func TestStepWaitsForItsClusterBeforeItLocksItsHost(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	c, h := installing(t, s)
	admin, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer admin.Close(t.Context())
	installation, err := admin.Begin(t.Context())
	require.NoError(t, err)
	_, err = installation.Exec(t.Context(), `select from slipway.clusters where id = $1 for update`, c.ID)
	require.NoError(t, err)

	commanded := make(chan error, 1)
	go func() {
		_, err := s.ArmActivity(t.Context(), writing(c, h, "image-write-1", "run-1", 3))
		commanded <- err
	}()
	await.True(t, func() bool {
		var waiting int
		err := installation.QueryRow(t.Context(), `
			select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting == 1
	}, "the step does not wait")
	_, err = installation.Exec(t.Context(), `select from slipway.hosts where infra_env_id = $1 and id = $2 for update`, h.InfraEnvID, h.ID)
	require.NoError(t, err, "the step does not hold the host")
	require.NoError(t, installation.Commit(t.Context()))
	require.NoError(t, <-commanded)
	require.Equal(t, 1, deliver(t, s, h))
}
