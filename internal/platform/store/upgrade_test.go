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

// A step that an earlier version wrote knows no boot, and a host that it registered has none.
func TestStepsOfEarlierVersionsAreHeldToNoBoot(t *testing.T) {
	t.Parallel()
	url, conn := olderSchema(t, 7)
	run := func(sql string, args ...any) {
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	cluster, env, host := uuid.New(), uuid.New(), uuid.New()
	run(`insert into clusters (id, kind, name, status, status_info, status_updated_at, doc, created_at, updated_at)
		values ($1, 'Cluster', 'prod', 'installing', '', now(), '{}', now(), now())`, cluster)
	run(`insert into infra_envs (id, cluster_id, name, doc, created_at, updated_at) values ($1, $2, 'env', '{}', now(), now())`, env, cluster)
	register := func(id uuid.UUID) {
		run(`insert into hosts (infra_env_id, id, cluster_id, kind, status, status_info, status_updated_at, role, bootstrap, dialect,
			  stage, facts, doc, created_at, updated_at)
			values ($1, $2, $3, 'Host', 'installing', '', now(), 'worker', false, 'fine', '', '{}', '{}', now(), now())`, env, id, cluster)
	}
	arm := func(id string, host uuid.UUID) {
		run(`insert into pending_activities (id, kind, state, cluster_id, infra_env_id, host_id, type, workflow_id, run_id, activity_id,
			  task_token, attempt, heartbeat_every, heartbeat_at, created_at, takes)
			values ($1, 'step', 'pending', $2, $3, $4, 'image-write', $1, 'run-1', $1, 'token', 1, 0, now(), now(), '{installing}')`,
			id, cluster, env, host)
	}
	register(host)
	arm("image-write-1", host)
	require.NoError(t, store.Migrate(t.Context(), url))
	s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: xorSealer{}, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	steps, err := s.DeliverSteps(t.Context(), env, host, time.Time{})
	require.NoError(t, err)
	require.Len(t, steps, 1)
	// The earlier version still runs beside this one.
	other := uuid.New()
	register(other)
	arm("image-write-2", other)
	steps, err = s.DeliverSteps(t.Context(), env, other, time.Time{})
	require.NoError(t, err)
	require.Len(t, steps, 1)
}
