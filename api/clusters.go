package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"slipway/internal/events"
	"slipway/internal/model"
	"slipway/internal/store"
	"slipway/internal/wire"
)

// builtinOperatorTimeout is how long a built-in operator may take (contract/operators-and-features.md, 9a).
const builtinOperatorTimeout = time.Hour

// changeable are the statuses in which the settings of a cluster can change.
var changeable = []model.ClusterStatus{
	model.ClusterPendingForInput, model.ClusterInsufficient, model.ClusterReady, model.ClusterAddingHosts,
}

// running are the statuses in which a workflow has the cluster in its hands.
var running = []model.ClusterStatus{
	model.ClusterPreparingForInstallation, model.ClusterInstalling, model.ClusterInstallingPendingUserAction, model.ClusterFinalizing,
}

// V2RegisterCluster defines a new cluster.
func (s *server) V2RegisterCluster(w http.ResponseWriter, r *http.Request) {
	var params wire.ClusterCreateParams
	if err := read(r, &params); err != nil {
		fail(w, r, err)
		return
	}
	c, err := s.newCluster(params)
	if err == nil {
		err = s.Store.CreateCluster(r.Context(), c, func(tx *store.Tx) {
			tx.Operators(model.MonitoredOperator{
				ClusterID: c.ID, Name: "console", Type: "builtin", Timeout: builtinOperatorTimeout,
			})
			record(r, tx, events.ClusterRegistrationSucceeded, ofCluster(c), events.Props{"cluster_kind": string(c.Kind)})
		})
	}
	if err != nil {
		fail(w, r, err)
		return
	}
	s.replyCluster(http.StatusCreated, w, r, c.ID)
}

// V2ListClusters lists clusters, newest first, with their hosts on request only.
func (s *server) V2ListClusters(w http.ResponseWriter, r *http.Request, params wire.V2ListClustersParams) {
	stream(s, w, r, func(yield func(any) error) error {
		if len(params.AmsSubscriptionIds) > 0 {
			return nil // no cluster has a subscription
		}
		counts, err := s.Store.HostCounts(r.Context())
		if err != nil {
			return err
		}
		operators, err := s.Store.OperatorsByCluster(r.Context())
		if err != nil {
			return err
		}
		filter := store.ClusterFilter{OpenShiftClusterID: params.OpenshiftClusterID, Owner: params.Owner}
		view := func(c *model.Cluster) clusterView { return clusterView{c, counts[c.ID], operators[c.ID]} }
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

// V2GetCluster reads one cluster, with its hosts unless they are excluded.
func (s *server) V2GetCluster(w http.ResponseWriter, r *http.Request, id uuid.UUID, params wire.V2GetClusterParams) {
	if !params.ExcludeHosts {
		s.replyCluster(http.StatusOK, w, r, id)
		return
	}
	view, err := s.clusterView(r.Context(), id)
	if err != nil {
		fail(w, r, err)
		return
	}
	ok(w, r, view.toWire(), nil)
}

// V2UpdateCluster changes the settings of a cluster that is not being installed.
func (s *server) V2UpdateCluster(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	var params wire.V2ClusterUpdateParams
	if err := read(r, &params); err != nil {
		fail(w, r, err)
		return
	}
	_, err := s.Store.UpdateCluster(r.Context(), id, func(c *model.Cluster, tx *store.Tx) error {
		if err := requireStatus("changed", c, changeable); err != nil {
			return err
		}
		return s.changeCluster(r, tx, c, params)
	})
	if err != nil {
		fail(w, r, err)
		return
	}
	s.replyCluster(http.StatusCreated, w, r, id)
}

func (s *server) changeCluster(r *http.Request, tx *store.Tx, c *model.Cluster, params wire.V2ClusterUpdateParams) error {
	before, vips, proxy := fingerprint(c), vipText(c), c.Proxy
	if params.PullSecret != nil {
		if err := checkPullSecret(*params.PullSecret, s.privateRegistries(c.ReleaseImage)...); err != nil {
			return err
		}
		c.PullSecret = model.Secret(*params.PullSecret)
	}
	if err := applySettings(c, params); err != nil {
		return err
	}
	if err := checkControlPlane(c); err != nil {
		return err
	}
	if fingerprint(c) != before {
		c.NetworkGeneration++
	}
	if vipText(c) != vips {
		record(r, tx, events.ApiIngressVIPUpdated, ofCluster(c), events.Props{
			"api_vip": vipList(c.APIVIPs), "ingress_vip": vipList(c.IngressVIPs),
		})
	}
	if c.Proxy != proxy {
		record(r, tx, events.ProxySettingsChanged, ofCluster(c), nil)
	}
	tx.RefreshCluster(c.ID)
	return nil
}

// V2DeregisterCluster forgets a cluster, its hosts and its files.
func (s *server) V2DeregisterCluster(w http.ResponseWriter, r *http.Request, id uuid.UUID) {
	err := s.Store.DeleteCluster(r.Context(), id, func(c *model.Cluster, tx *store.Tx) error {
		if slices.Contains(running, c.Status) {
			return model.Conflictf("cluster %s cannot be deleted while it is %s: cancel its installation first", c.Name, c.Status)
		}
		record(r, tx, events.ClusterDeregistered, ofCluster(c), nil)
		return nil
	})
	if err == nil {
		// Files left behind cost space but harm nobody: the cluster is gone for its user.
		if err := s.Blob.DeletePrefix(r.Context(), blobKey(id, "")); err != nil {
			s.Log.WarnContext(r.Context(), "files of deleted cluster left behind", "cluster_id", id, "error", err)
		}
	}
	noContent(w, r, err)
}

// requireStatus refuses what a status does not allow and names it.
func requireStatus(verb string, c *model.Cluster, allowed []model.ClusterStatus) error {
	if slices.Contains(allowed, c.Status) {
		return nil
	}
	names := make([]string, len(allowed))
	for i, status := range allowed {
		names[i] = string(status)
	}
	return model.Conflictf("cluster %s cannot be %s: require status %s, found %s", c.Name, verb, strings.Join(names, " or "), c.Status)
}

// clusterView reads what the API shows of a cluster besides its hosts.
func (s *server) clusterView(ctx context.Context, id uuid.UUID) (view clusterView, err error) {
	if view.cluster, err = s.Store.Cluster(ctx, id); err != nil {
		return view, err
	}
	if view.operators, err = s.Store.MonitoredOperators(ctx, id); err != nil {
		return view, err
	}
	counts, err := s.Store.HostCounts(ctx, id)
	view.counts = counts[id]
	return view, err
}

func vipText(c *model.Cluster) string { return vipList(c.APIVIPs) + " " + vipList(c.IngressVIPs) }

func vipList(vips []model.VIP) string {
	var list []string
	for _, v := range vips {
		list = append(list, v.IP.String())
	}
	return joined(list)
}

func joined(list []string) string { return strings.Join(list, ",") }
