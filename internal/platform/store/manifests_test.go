package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

func TestManifestsOfTheServiceMakeRoomForThoseOfUsers(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := newCluster(t, s)
	manifest := func(folder, name, source string) model.Manifest {
		return model.Manifest{
			ClusterID: c.ID,
			Folder:    folder,
			FileName:  name,
			Source:    source,
			Blob:      model.BlobRef{Key: source + "/" + name},
		}
	}
	list := func() []string {
		all, err := s.Manifests(t.Context(), c.ID)
		require.NoError(t, err)
		var names []string
		for _, m := range all {
			names = append(names, m.Folder+"/"+m.FileName+" "+m.Source)
		}
		return names
	}
	require.NoError(t, s.PutManifest(t.Context(), manifest("manifests", "a.yaml", store.SourceUser)))
	leftOut, err := s.ReplaceSystemManifests(t.Context(), c.ID, []model.Manifest{
		manifest("openshift", "a.yaml", ""), manifest("openshift", "b.yaml", ""), manifest("openshift", "c.yaml", ""),
	})
	require.NoError(t, err)
	require.Len(t, leftOut, 1)
	require.Equal(t, "a.yaml", leftOut[0].FileName)
	require.Equal(t, []string{"manifests/a.yaml user", "openshift/b.yaml system", "openshift/c.yaml system"}, list())

	require.NoError(
		t,
		s.PutManifest(t.Context(), manifest("manifests", "b.yaml", store.SourceUser)),
		"the service's stands in the other folder",
	)
	require.ErrorIs(t, s.PutManifest(t.Context(), manifest("openshift", "b.yaml", store.SourceUser)), model.ErrInvalid)
	_, err = s.ReplaceSystemManifests(t.Context(), c.ID, []model.Manifest{manifest("openshift", "d.yaml", "")})
	require.NoError(t, err)
	require.Equal(t, []string{"manifests/a.yaml user", "manifests/b.yaml user", "openshift/d.yaml system"}, list())

	require.ErrorIs(
		t,
		s.MoveManifest(t.Context(), manifest("manifests", "a.yaml", ""), manifest("manifests", "b.yaml", store.SourceUser)),
		model.ErrConflict,
	)
	require.ErrorIs(
		t,
		s.MoveManifest(t.Context(), manifest("manifests", "a.yaml", ""), manifest("openshift", "b.yaml", store.SourceUser)),
		model.ErrInvalid,
	)
	require.ErrorIs(
		t,
		s.MoveManifest(t.Context(), manifest("manifests", "z.yaml", ""), manifest("openshift", "z.yaml", store.SourceUser)),
		model.ErrNotFound,
	)
	require.NoError(t, s.MoveManifest(t.Context(), manifest("manifests", "a.yaml", ""), manifest("openshift", "a.yaml", store.SourceUser)))
	require.NoError(t, s.MoveManifest(t.Context(), manifest("openshift", "a.yaml", ""), manifest("manifests", "d.yaml", store.SourceUser)))
	require.Equal(
		t,
		[]string{"manifests/b.yaml user", "manifests/d.yaml user"},
		list(),
		"a user's manifest takes the place of the service's",
	)
}
