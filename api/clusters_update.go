package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"slipway/api/admission"
	"slipway/internal/cluster/definition"
	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2UpdateCluster changes the settings of a cluster that is not being installed.
func (s *server) V2UpdateCluster(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var params wire.V2ClusterUpdateParams
	if err := admission.Read(r, &params); err != nil {
		return err
	}
	around, err := s.surroundings(r.Context(), id, params)
	if err != nil {
		return err
	}
	_, err = s.Store.UpdateCluster(r.Context(), id, func(c *model.Cluster, tx *store.Tx) error {
		if err := requireStatus("changed", c, lifecycle.Changeable); err != nil {
			return err
		}
		return s.changeCluster(r, tx, c, params, around)
	})
	if err != nil {
		return err
	}
	return s.replyCluster(http.StatusCreated, w, r, id)
}

// surroundings reads what a change depends on.
func (s *server) surroundings(ctx context.Context, id uuid.UUID, p wire.V2ClusterUpdateParams) (around definition.Surroundings, err error) {
	c, err := s.Store.Cluster(ctx, id)
	if err != nil {
		return around, err
	}
	hosts, infraEnvs := definition.Needs(c, p)
	if hosts {
		if around.Hosts, err = s.Store.ClusterHosts(ctx, id); err != nil {
			return around, err
		}
	}
	if infraEnvs {
		around.InfraEnvs, err = s.Store.InfraEnvs(ctx, store.InfraEnvFilter{ClusterID: id})
	}
	return around, err
}

// offer returns what this deployment can install.
func (s *server) offer() definition.Offer {
	return definition.Offer{
		Releases: s.Releases, AnyReleaseImage: s.AnyReleaseImage, PublicRegistries: s.PublicRegistries, Mirrors: s.Mirrors,
	}
}

func (s *server) changeCluster(
	r *http.Request, tx *store.Tx, c *model.Cluster, params wire.V2ClusterUpdateParams, around definition.Surroundings,
) error {
	vips, proxy := vipText(c), c.Proxy
	hostsAffected, err := s.offer().Change(c, params, around)
	if err != nil {
		return err
	}
	if hostsAffected {
		c.NetworkGeneration++
	}
	if vipText(c) != vips {
		record(r, tx, events.ApiIngressVIPUpdated, lifecycle.AboutCluster(c), events.Props{
			"api_vip": vipList(c.APIVIPs), "ingress_vip": vipList(c.IngressVIPs),
		})
	}
	if c.Proxy != proxy {
		record(r, tx, events.ProxySettingsChanged, lifecycle.AboutCluster(c), nil)
	}
	if !c.DayTwo() {
		monitor(tx, c)
	}
	tx.RefreshCluster(c.ID)
	return nil
}
