package api

import (
	"net/http"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2ListClusters lists clusters, newest first, with their hosts on request only.
// Administrators may ask for deleted ones too, until those are removed for good.
func (s *server) V2ListClusters(w http.ResponseWriter, r *http.Request, params wire.V2ListClustersParams) error {
	return stream(s, w, func(yield func(any) error) error {
		if len(params.AmsSubscriptionIds) > 0 {
			return nil // no cluster has a subscription
		}
		s.bringUpToDate(r.Context(), store.Reading{})
		counts, err := s.Store.HostCounts(r.Context())
		if err != nil {
			return err
		}
		operators, err := s.Store.OperatorsByCluster(r.Context())
		if err != nil {
			return err
		}
		filter := store.ClusterFilter{
			Owner: params.Owner, Tenant: admission.Tenant(r),
			Deleted: params.GetUnregisteredClusters && admission.CallerOf(r).Admin,
		}
		if r.URL.Query().Get("openshift_cluster_id") != "" { // zeros are an id too, which no cluster has
			filter.OpenShiftClusterID = &params.OpenshiftClusterID
		}
		view := func(c *model.Cluster) clusterView {
			return clusterView{c, counts[c.ID], operators[c.ID], readsSecrets(r)}
		}
		if !params.WithHosts {
			return s.Store.Clusters(r.Context(), filter, func(c *model.Cluster) error { return yield(view(c).toWire()) })
		}
		// Read first: reading hosts while clusters stream would take a second connection of
		// the pool for every list.
		var clusters []*model.Cluster
		err = s.Store.Clusters(r.Context(), filter, func(c *model.Cluster) error {
			clusters = append(clusters, c)
			return nil
		})
		if err != nil {
			return err
		}
		for _, c := range clusters {
			if err := yield(s.wholeCluster(r.Context(), view(c))); err != nil {
				return err
			}
		}
		return nil
	})
}

// V2GetCluster reads one cluster, with its hosts unless they are excluded. An
// administrator may read a deleted one, which has no hosts.
func (s *server) V2GetCluster(w http.ResponseWriter, r *http.Request, id uuid.UUID, params wire.V2GetClusterParams) error {
	deleted := params.GetUnregisteredClusters && admission.CallerOf(r).Admin
	if !params.ExcludeHosts && !deleted {
		return s.replyCluster(http.StatusOK, w, r, id)
	}
	s.bringUpToDate(r.Context(), store.Reading{ClusterID: id})
	read := s.Store.Cluster
	if deleted {
		read = s.Store.KeptCluster
	}
	c, err := read(r.Context(), id)
	if err != nil {
		return err
	}
	if c.DeletedAt.IsZero() && !params.ExcludeHosts {
		return s.replyCluster(http.StatusOK, w, r, id)
	}
	view, err := s.viewOf(r.Context(), c)
	if err != nil {
		return err
	}
	view.secrets = readsSecrets(r)
	return ok(w, view.toWire())
}
