package api

import (
	"net/http"

	"slipway/api/admission"
	"slipway/internal/wire"
)

// listKubeObjects lists the clusters and InfraEnvs of the caller that resources of Kubernetes define.
func (s *server) listKubeObjects(w http.ResponseWriter, r *http.Request) error {
	found, err := s.Store.KubeObjects(r.Context(), admission.Tenant(r))
	if err != nil {
		return err
	}
	out := make([]wire.KubeObject, len(found))
	for n, o := range found {
		out[n] = wire.KubeObject{Kind: o.Kind, ID: o.ID, Namespace: o.Key.Namespace, Name: o.Key.Name}
	}
	return ok(w, out)
}
