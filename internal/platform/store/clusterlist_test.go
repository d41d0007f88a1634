package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

func TestListOfClustersIsNarrowedToATenant(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ids := map[string]uuid.UUID{}
	for name, owner := range map[string][2]string{
		"anna's": {"anna", "acme"}, "bert's": {"bert", "acme"}, "carl's": {"carl", "other"}, "dora's": {"dora", ""},
	} {
		c := newCluster(t, s)
		ids[name] = c.ID
		_, err := s.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
			c.Name, c.UserName, c.OrgID = name, owner[0], owner[1]
			return nil
		})
		require.NoError(t, err)
	}
	require.NoError(t, s.DeleteCluster(t.Context(), ids["bert's"], func(*model.Cluster, []*model.Host, *store.Tx) error { return nil }))
	for name, call := range map[string]struct {
		filter store.ClusterFilter
		want   []string
	}{
		"everything":               {store.ClusterFilter{}, []string{"anna's", "carl's", "dora's"}},
		"with what was deleted":    {store.ClusterFilter{Deleted: true}, []string{"anna's", "bert's", "carl's", "dora's"}},
		"of an owner":              {store.ClusterFilter{Owner: "anna"}, []string{"anna's"}},
		"of a tenant":              {store.ClusterFilter{Tenant: store.Tenant{Owner: "dora"}}, []string{"dora's"}},
		"of a namesake":            {store.ClusterFilter{Tenant: store.Tenant{Owner: "carl"}}, nil},
		"of an organisation":       {store.ClusterFilter{Tenant: store.Tenant{OrgID: "acme"}, Deleted: true}, []string{"anna's", "bert's"}},
		"of an owner in another's": {store.ClusterFilter{Owner: "carl", Tenant: store.Tenant{OrgID: "acme"}}, nil},
	} {
		var got []string
		err := s.Clusters(t.Context(), call.filter, func(c *model.Cluster) error {
			got = append(got, c.Name)
			return nil
		})
		require.NoError(t, err)
		require.ElementsMatch(t, call.want, got, name)
	}
	_, err := s.Cluster(t.Context(), ids["bert's"])
	require.ErrorIs(t, err, model.ErrNotFound)
	kept, err := s.KeptCluster(t.Context(), ids["bert's"])
	require.NoError(t, err)
	require.False(t, kept.DeletedAt.IsZero())
}
