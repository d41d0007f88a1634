package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

func TestWhatNobodyUsesIsDeletedAndThenRemoved(t *testing.T) {
	t.Parallel()
	f := newFleet(
		t, "DELETED_INACTIVE_AFTER=1s", "DELETED_UNREGISTERED_AFTER=1s",
		"DEREGISTER_WORKER_INTERVAL=1s", "DELETION_WORKER_INTERVAL=1s", "INFRAENV_DELETION_WORKER_INTERVAL=1s",
	)
	f.abandonAndAwaitRemoval(t)
	// A new start finds the schedules of the old one.
	require.True(t, f.service.signal(syscall.SIGTERM))
	await.True(t, func() bool {
		log, err := os.ReadFile(f.service.log)
		return err == nil && strings.Count(string(log), "slipway is ready") == 2
	})
	f.abandonAndAwaitRemoval(t)
}

// abandonAndAwaitRemoval defines a cluster with a file and an environment, and waits
// until nothing is left of them.
func (f *fleet) abandonAndAwaitRemoval(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	cluster, err := f.client.RegisterCluster(
		ctx,
		wire.ClusterCreateParams{Name: "left", OpenshiftVersion: release, PullSecret: f.pullSecret},
	)
	require.NoError(t, err)
	env, err := f.client.RegisterInfraEnv(
		ctx,
		wire.InfraEnvCreateParams{Name: "left_infra-env", PullSecret: f.pullSecret, ClusterID: &cluster.ID},
	)
	require.NoError(t, err)
	folder := filepath.Join(f.dataDir, "blobs", "clusters", cluster.ID.String())
	require.NoError(t, os.MkdirAll(folder, 0o777))
	require.NoError(t, os.Chmod(folder, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bootstrap.ign"), []byte("{}"), 0o666))

	gone := func(what string, look func(uuid.UUID) error, id uuid.UUID) {
		await.True(t, func() bool { return errors.Is(look(id), model.ErrNotFound) }, what)
	}
	gone("the cluster is still there", func(id uuid.UUID) error { _, err := f.store.KeptCluster(ctx, id); return err }, cluster.ID)
	gone("the InfraEnv is still there", func(id uuid.UUID) error { _, err := f.store.InfraEnv(ctx, id); return err }, env.ID)
	_, err = os.Stat(filepath.Join(folder, "bootstrap.ign"))
	require.ErrorIs(t, err, os.ErrNotExist)
	counts, err := f.store.CountEvents(ctx, store.EventFilter{ClusterID: cluster.ID})
	require.NoError(t, err)
	require.Zero(t, counts.Total)
}
