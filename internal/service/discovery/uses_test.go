package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

func TestEvaluationsCountWhatAClusterUses(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	for i, m := range []model.Manifest{
		{FileName: "a.yaml", Source: store.SourceUser},
		{FileName: "b.yaml", Source: store.SourceUser},
		{FileName: "c.yaml", Source: store.SourceSystem},
	} {
		m.ClusterID, m.Folder, m.Blob = c.ID, "manifests", model.BlobRef{Key: string(rune('a' + i))}
		require.NoError(t, l.store.PutManifest(t.Context(), m))
	}
	_, err := l.store.UpdateInfraEnv(t.Context(), env.ID, func(e *model.InfraEnv, _ *store.Tx) error {
		e.StaticNetworkConfig = "[]"
		e.KernelArguments = []model.KernelArgument{{Operation: "append", Value: "quiet"}}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, l.evaluation.RefreshCluster(t.Context(), c.ID))
	require.Equal(t, model.Uses{CustomManifests: 2, StaticNetworks: 1, KernelArguments: 1}, l.readCluster(t, c.ID).Uses)

	deleted, err := l.store.DeleteManifest(t.Context(), c.ID, "manifests", "a.yaml")
	require.NoError(t, err)
	require.True(t, deleted)
	require.NoError(t, l.evaluation.RefreshCluster(t.Context(), c.ID))
	require.Equal(t, 1, l.readCluster(t, c.ID).Uses.CustomManifests)
}
