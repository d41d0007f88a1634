package api

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/answers"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2ListClusters lists clusters, newest first, with their hosts on request only.
// Administrators may ask for deleted ones too, until those are removed for good.
func (s *server) V2ListClusters(w http.ResponseWriter, r *http.Request, params wire.V2ListClustersParams) error {
	if len(params.AmsSubscriptionIds) > 0 {
		return ok(w, []wire.Cluster{}) // no cluster has a subscription
	}
	filter := store.ClusterFilter{
		Owner: params.Owner, Tenant: admission.Tenant(r), Deleted: params.GetUnregisteredClusters && admission.CallerOf(r).Admin,
	}
	if r.URL.Query().Get("openshift_cluster_id") != "" { // zeros are an id too, which no cluster has
		filter.OpenShiftClusterID = &params.OpenshiftClusterID
	}
	if same, err := s.unchanged(w, r, store.Reading{}); same || err != nil {
		return err
	}
	if params.WithHosts {
		return s.respond(http.StatusOK, w, r, func(out io.Writer) error {
			view, err := s.clusterViews(r)
			if err != nil {
				return err
			}
			return s.clustersWithHosts(r.Context(), out, filter, view)
		})
	}
	return stream(s, w, r, func(yield func(json.RawMessage) error) error {
		view, err := s.clusterViews(r)
		if err != nil {
			return err
		}
		var text []byte
		return s.Store.ShownClusters(r.Context(), filter, func(c *model.Cluster, kept []byte) (err error) {
			if text, err = answers.AppendCluster(text[:0], c, kept, view(c)); err != nil {
				return err
			}
			return yield(append(answers.Open(text), noHosts...))
		})
	})
}

// clusterViews reads what lists show of some clusters, of all when none is given, besides their rows.
func (s *server) clusterViews(r *http.Request, clusters ...uuid.UUID) (func(*model.Cluster) answers.ClusterView, error) {
	counts, err := s.Store.HostCounts(r.Context(), clusters...)
	if err != nil {
		return nil, err
	}
	operators, err := s.Store.OperatorsByCluster(r.Context(), clusters...)
	if err != nil {
		return nil, err
	}
	secrets := readsSecrets(r)
	return func(c *model.Cluster) answers.ClusterView {
		return answers.ClusterView{Counts: counts[c.ID], Operators: operators[c.ID], Secrets: secrets}
	}, nil
}

// V2GetCluster reads one cluster, with its hosts unless they are excluded. An
// administrator may read a deleted one, which has no hosts.
func (s *server) V2GetCluster(w http.ResponseWriter, r *http.Request, id uuid.UUID, params wire.V2GetClusterParams) error {
	if same, err := s.unchanged(w, r, store.Reading{ClusterID: id}); same || err != nil {
		return err
	}
	read := s.Store.Cluster
	if params.GetUnregisteredClusters && admission.CallerOf(r).Admin {
		read = s.Store.KeptCluster
	}
	c, err := read(r.Context(), id)
	if err != nil {
		return err
	}
	if c.DeletedAt.IsZero() && !params.ExcludeHosts {
		return s.replyWhole(http.StatusOK, w, r, c)
	}
	view, err := s.viewOf(r.Context(), c)
	if err != nil {
		return err
	}
	view.Secrets = readsSecrets(r)
	return ok(w, answers.Cluster(c, view))
}
