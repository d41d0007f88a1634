package activities_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
)

// A purge that ended after some files leaves a cluster that does not come back, and the next purge removes the rest.
func TestClusterWithoutItsFilesDoesNotComeBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lost, kept := b.NewCluster(t, model.ClusterReady, model.HostKnown, "", 1), b.NewCluster(t, model.ClusterReady, model.HostKnown, "", 1)
	for _, c := range []*model.Cluster{lost, kept} {
		_, err := b.Files.PutSecret(t.Context(), blob.ClusterFile(c.ID, "kubeconfig"), []byte("content"))
		require.NoError(t, err)
		require.NoError(t, b.Tables.DeleteCluster(t.Context(), c.ID, func(*model.Cluster, []*model.Host, *store.Tx) error { return nil }))
	}
	undelete := func(id uuid.UUID) error {
		return b.Tables.UndeleteCluster(t.Context(), id, func(*model.Cluster, *store.Tx) {})
	}
	purge := func(files *blob.Store) (done activities.BatchDone, err error) {
		env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
		houses := &activities.Housekeeping{Store: b.Tables, Blob: files}
		env.RegisterActivity(houses)
		result, err := env.ExecuteActivity(houses.PurgeClusters, activities.Batch{OlderThan: time.Nanosecond})
		if err == nil {
			err = result.Get(&done)
		}
		return done, err
	}

	require.NoError(t, undelete(kept.ID))
	closed, err := blob.Open(t.Context(), "file://"+t.TempDir(), nil)
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	_, err = purge(closed)
	require.ErrorContains(t, err, "remove "+lost.ID.String())
	require.ErrorIs(t, undelete(lost.ID), model.ErrNotFound, "some of its files may be gone")

	done, err := purge(b.Files)
	require.NoError(t, err)
	require.Equal(t, 1, done.Removed)
	left, err := b.Files.List(t.Context(), blob.ClusterFolder(lost.ID))
	require.NoError(t, err)
	require.Empty(t, left)
	left, err = b.Files.List(t.Context(), blob.ClusterFolder(kept.ID))
	require.NoError(t, err)
	require.Len(t, left, 1)
	_, err = b.Tables.Cluster(t.Context(), kept.ID)
	require.NoError(t, err)
}

func TestOldRowsOfTheAuditArePurged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.NoError(t, b.Tables.BeginAudit(t.Context(), &model.AuditEntry{UserName: "ann", Credential: model.AuditToken}))
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	houses := &activities.Housekeeping{Store: b.Tables}
	env.RegisterActivity(houses)
	var done activities.BatchDone
	result, err := env.ExecuteActivity(houses.PurgeAudit, activities.Batch{OlderThan: time.Nanosecond})
	require.NoError(t, err)
	require.NoError(t, result.Get(&done))
	require.Equal(t, activities.BatchDone{}, done, "a row of today stays, whatever the age")
	left, err := b.Tables.AuditEntries(t.Context(), store.AuditFilter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, left, 1)
}
