package kube_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/test/built"
	"slipway/test/hub"
)

// TestDemo runs `slipway-demo hub`, which fails when a part does not come out as it should.
func TestDemo(t *testing.T) {
	t.Parallel()
	programs := os.Getenv("KUBE_PROGRAMS")
	for _, name := range []string{"kubectl", "kube-controller-manager"} {
		if _, err := os.Stat(filepath.Join(programs, name)); err != nil {
			t.Skipf("SKIP: %s is not built (make demo-kube builds it)", name)
		}
	}
	dir := built.Folder(t, "hub")
	log := filepath.Join(dir, "demo.log")
	demo := hub.Run(t, "slipway-demo hub", log, exec.Command(built.Demo(t), "hub", "--keep", //nolint:gosec // ours
		"--service", built.Binary(t), "--programs", programs, "--plain", "--speed", "200", "--data-dir", dir))
	var out []byte
	await.True(t, func() bool {
		select {
		case <-demo.Ended:
			require.Fail(t, "the demo has ended")
		default:
		}
		var err error
		out, err = os.ReadFile(log)
		require.NoError(t, err)
		return bytes.Contains(out, []byte("everything keeps running until Ctrl-C; to use the hub: export KUBECONFIG="))
	}, "the demo does not come to its end")
	for _, line := range []string{
		"agentclusterinstall.extensions.hive.openshift.io/ha condition met",
		"agentclusterinstall.extensions.hive.openshift.io/sno condition met",
		"cluster ha holds: all nodes (3), ready and without taints",
		"cluster sno holds: all nodes (1), ready and without taints",
		"cluster ha has one more node",
		"left behind: 0 resources, 0 clusters, 0 InfraEnvs, 0 files, 0 running workflows",
		"the same YAML, twice: none of 11 resources has changed",
	} {
		require.Contains(t, string(out), line)
	}

	database, err := pgx.Connect(t.Context(), "postgres:///slipway?host="+filepath.Join(dir, "service", "run")+"&user=slipway")
	require.NoError(t, err)
	defer database.Close(t.Context())
	names, err := database.Query(t.Context(), "select tablename from pg_tables where schemaname = 'slipway' order by 1")
	require.NoError(t, err)
	tables, err := pgx.CollectRows(names, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, tables, "hosts")
	var filled []string
	for _, table := range tables {
		var rows int
		require.NoError(t, database.QueryRow(t.Context(), "select count(*) from slipway."+table).Scan(&rows))
		if rows > 0 {
			filled = append(filled, table)
		}
	}
	require.Equal(t, []string{"audit", "change_feed", "changes", "encryption_keys", "events", "identity", "schema_version", "tokens"}, filled,
		"the service's own, and what was deleted")
	var events int
	require.NoError(t, database.QueryRow(t.Context(),
		"select count(*) from slipway.events where name <> 'clusters_permanently_deleted'").Scan(&events))
	require.Zero(t, events)
}
