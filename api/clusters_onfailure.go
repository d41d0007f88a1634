package api

import (
	"cmp"
	"net/http"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// asTheService is no policy of the cluster.
const asTheService = "default"

// showOnFailure returns what the installation of a cluster does when a host fails.
func (s *server) showOnFailure(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "cluster_id")
	if err != nil {
		return err
	}
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	return ok(w, wire.OnFailure{OnFailure: cmp.Or(string(c.OnFailure), asTheService)})
}

// setOnFailure sets it. A running installation keeps the policy that it began with.
func (s *server) setOnFailure(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "cluster_id")
	if err != nil {
		return err
	}
	var params wire.OnFailure
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	policy := model.FailurePolicy(params.OnFailure)
	if params.OnFailure == asTheService {
		policy = ""
	}
	_, err = s.Store.UpdateCluster(r.Context(), id, func(c *model.Cluster, _ *store.Tx) error {
		c.OnFailure = policy
		return nil
	})
	if err != nil {
		return err
	}
	return ok(w, params)
}
