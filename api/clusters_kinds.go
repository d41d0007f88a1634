package api

import (
	"net/http"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/definition"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2ImportCluster registers a cluster that another service installed, so that hosts can join it.
func (s *server) V2ImportCluster(w http.ResponseWriter, r *http.Request) error {
	var params wire.ImportClusterParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	c, err := definition.Imported(params, s.Releases)
	if err != nil {
		return err
	}
	return s.register(w, r, c)
}

// V2RegisterDisconnectedCluster defines a cluster that is installed where this service is out of reach; its installation
// is not observed.
func (s *server) V2RegisterDisconnectedCluster(w http.ResponseWriter, r *http.Request) error {
	var params wire.DisconnectedClusterCreateParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	c, err := definition.Disconnected(params, s.Releases)
	if err != nil {
		return err
	}
	return s.register(w, r, c)
}

// TransformClusterToAddingHosts opens an installed cluster for more hosts.
func (s *server) TransformClusterToAddingHosts(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	_, err := s.Store.UpdateCluster(r.Context(), id, func(c *model.Cluster, tx *store.Tx) error {
		if _, err := lifecycle.ApplyCluster(c, lifecycle.OpenForHosts, lifecycle.ClusterFacts{}, requestRecorder{tx, r}); err != nil {
			return model.Conflictf(
				"cluster %s cannot be opened for more hosts: require status %s, found %s",
				c.Name,
				model.ClusterInstalled,
				c.Status,
			)
		}
		c.APIVIPDNSName = or(c.APIVIPDNSName, "api."+c.Name+"."+c.BaseDNSDomain)
		tx.RefreshCluster(c.ID)
		return nil
	})
	if err != nil {
		return err
	}
	return s.replyCluster(http.StatusAccepted, w, r, id)
}

// TransformClusterToDay2 calls TransformClusterToAddingHosts, of which it is the older name.
func (s *server) TransformClusterToDay2(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	return s.TransformClusterToAddingHosts(w, r, id)
}
