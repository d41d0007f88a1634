package api

import (
	"net/http"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// V2GetClusterUISettings reads what a user interface keeps with a cluster; an empty text
// when it keeps nothing.
func (s *server) V2GetClusterUISettings(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	c, err := s.Store.Cluster(r.Context(), id)
	if err != nil {
		return err
	}
	return ok(w, c.UISettings)
}

// V2UpdateClusterUISettings keeps a text of a user interface with a cluster, whatever
// its state. The service never looks into it.
func (s *server) V2UpdateClusterUISettings(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var settings string
	if err := admission.Read(r, &settings); err != nil {
		return err
	}
	_, err := s.Store.UpdateCluster(r.Context(), id, func(c *model.Cluster, _ *store.Tx) error {
		c.UISettings = settings
		return nil
	})
	if err != nil {
		return err
	}
	return ok(w, settings)
}
