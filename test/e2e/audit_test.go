package e2e_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/built"
)

// A service that is killed while a command is under way leaves its row, without an outcome, and nothing of its effect.
func TestCommandOfAKilledServiceIsInTheAudit(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	ctx := t.Context()
	cluster, err := f.client.RegisterCluster(ctx, wire.ClusterCreateParams{Name: "lab", OpenshiftVersion: release, PullSecret: f.pullSecret})
	require.NoError(t, err)

	// The command waits for the row of its cluster.
	database, err := pgx.Connect(ctx, f.databaseURL())
	require.NoError(t, err)
	defer func() { _ = database.Close(context.WithoutCancel(ctx)) }()
	_, err = database.Exec(ctx, "begin")
	require.NoError(t, err)
	_, err = database.Exec(ctx, "select from slipway.clusters where id = $1 for update", cluster.ID)
	require.NoError(t, err)
	asking, leave := context.WithCancel(ctx)
	ended := make(chan error, 1)
	name := "other"
	go func() {
		_, err := f.client.UpdateCluster(asking, cluster.ID, wire.V2ClusterUpdateParams{Name: &name})
		ended <- err
	}()
	begun := func() bool {
		rows, err := f.store.AuditEntries(ctx, store.AuditFilter{Operation: "V2UpdateCluster", Outcome: model.AuditUnknown, Limit: 2})
		return err == nil && len(rows) == 1
	}
	await.True(t, begun, "the command has no row")
	require.True(t, f.service.signal(syscall.SIGKILL))
	leave()
	require.Error(t, await.Receive(t, ended))
	_, _ = database.Exec(ctx, "rollback") // the database may have ended with the service
	built.WaitReady(t, f.url)

	page, err := f.client.Audit(ctx, client.AuditQuery{ClusterID: cluster.ID})
	require.NoError(t, err)
	require.Len(t, page.Entries, 2)
	killed, made := page.Entries[0], page.Entries[1]
	require.Equal(t, []any{"V2UpdateCluster", "admin", "unknown", 0}, []any{killed.Operation, killed.UserName, killed.Outcome, killed.Status})
	require.Equal(t, []any{"v2RegisterCluster", "admin", "ok", 201}, []any{made.Operation, made.UserName, made.Outcome, made.Status})
	found, err := f.client.Cluster(ctx, cluster.ID)
	require.NoError(t, err)
	require.Equal(t, "lab", found.Name)
}
