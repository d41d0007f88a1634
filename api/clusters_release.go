package api

import (
	"net/http"

	"slipway/internal/wire"
)

// showClusterRelease returns the release that the installation of a cluster uses, and who signed it.
func (s *server) showClusterRelease(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "cluster_id")
	if err != nil {
		return err
	}
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	v := c.ReleaseVerdict
	return ok(w, wire.ClusterRelease{
		Image: c.ReleaseImage, PullSpec: c.ReleasePullSpec, Policy: v.Policy, SignedBy: v.SignedBy, Problem: v.Problem,
	})
}
