package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/pgtest"
)

// olderSchema makes a database as a service of an earlier version left it: with the
// migrations up to the given one.
func olderSchema(t *testing.T, version int) (string, *pgx.Conn) {
	t.Helper()
	url := pgtest.URL(t)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	run := func(sql string, args ...any) {
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	run("create schema " + store.Schema)
	run("set search_path to " + store.Schema)
	files, err := filepath.Glob("migrations/*.sql")
	require.NoError(t, err)
	for _, file := range files[:version] {
		sql, err := os.ReadFile(file)
		require.NoError(t, err)
		run(string(sql))
	}
	run("create table schema_version (version int4 not null)")
	run("insert into schema_version (version) values ($1)", version)
	return url, conn
}

func TestOpenRowsSurviveTheRenamingOfTheirTable(t *testing.T) {
	t.Parallel()
	url, conn := olderSchema(t, 5)
	cluster := uuid.New()
	_, err := conn.Exec(t.Context(), `
		insert into clusters (id, kind, name, status, status_info, status_updated_at, doc, created_at, updated_at)
		values ($1, 'Cluster', 'prod', 'finalizing', '', now(), '{}', now(), now())`, cluster)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `
		insert into instructions (id, kind, state, cluster_id, type, workflow_id, run_id, activity_id, task_token, attempt,
		  heartbeat_every, heartbeat_at, created_at)
		values ('milestone-1', 'milestone', 'pending', $1, $2, 'cluster:x', 'run-1', 'wait 1', 'token', 1, 0, now(), now())`,
		cluster, model.MilestoneCompletion)
	require.NoError(t, err)

	require.NoError(t, store.Migrate(t.Context(), url))
	s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: xorSealer{}, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	waiting, err := s.OpenMilestones(t.Context())
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{cluster}, waiting)
	rows, err := s.PendingActivities(t.Context(), cluster)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, model.ActivityPending, rows[0].State)

	left := 0
	err = conn.QueryRow(t.Context(), `
		select (select count(*) from pg_class where relname like 'instruction%')
			+ (select count(*) from pg_constraint where conname like 'instruction%')`).Scan(&left)
	require.NoError(t, err)
	require.Zero(t, left, "names of the table's parts follow it")
}
