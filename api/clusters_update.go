package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// V2UpdateCluster changes the settings of a cluster that is not being installed.
func (s *server) V2UpdateCluster(w http.ResponseWriter, r *http.Request, id uuid.UUID) error {
	var params wire.V2ClusterUpdateParams
	if err := read(r, &params); err != nil {
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

// surroundings reads what a change has to go with: hosts decide what a control plane of
// one or two is, images where an external platform can boot. Of others nothing is read.
func (s *server) surroundings(ctx context.Context, id uuid.UUID, p wire.V2ClusterUpdateParams) (around surroundings, err error) {
	c, err := s.Store.Cluster(ctx, id)
	if err != nil || c.DayTwo() {
		return around, err
	}
	if min(c.ControlPlaneCount, cmp.Or(deref(p.ControlPlaneCount), c.ControlPlaneCount)) < minControlPlane {
		if around.hosts, err = s.Store.ClusterHosts(ctx, id); err != nil {
			return around, err
		}
	}
	if p.Platform != nil && p.Platform.Type == platformExternal {
		around.envs, err = s.Store.InfraEnvs(ctx, store.InfraEnvFilter{ClusterID: id})
	}
	return around, err
}

func (s *server) changeCluster(r *http.Request, tx *store.Tx, c *model.Cluster, params wire.V2ClusterUpdateParams, around surroundings) error {
	before, vips, proxy := fingerprint(c), vipText(c), c.Proxy
	if err := requireJoiningOnly(c, params); err != nil {
		return err
	}
	if params.PullSecret != nil {
		if err := checkPullSecret(*params.PullSecret, s.privateRegistries(c.ReleaseImage)...); err != nil {
			return err
		}
		c.PullSecret = model.Secret(*params.PullSecret)
	}
	if err := applySettings(c, params); err != nil {
		return err
	}
	if !c.DayTwo() {
		if err := checkDefinition(c, around); err != nil {
			return err
		}
	}
	if fingerprint(c) != before {
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

// requireJoiningOnly refuses settings of the installation of a cluster that runs
// already. Name and domain of one that this service installed are fixed with it.
func requireJoiningOnly(c *model.Cluster, p wire.V2ClusterUpdateParams) error {
	if !c.DayTwo() {
		return nil
	}
	var sent []string
	for _, field := range []struct {
		name string
		sent bool
	}{
		{"name", p.Name != nil && !c.Imported},
		{"base_dns_domain", p.BaseDNSDomain != nil && !c.Imported},
		{"control_plane_count", p.ControlPlaneCount != nil},
		{"platform", p.Platform != nil},
		{"user_managed_networking", p.UserManagedNetworking != nil},
		{"load_balancer", p.LoadBalancer != nil},
		{"vip_dhcp_allocation", p.VipDhcpAllocation != nil},
		{"api_vips", p.APIVips != nil},
		{"ingress_vips", p.IngressVips != nil},
		{"network_type", p.NetworkType != nil},
		{"machine_networks", p.MachineNetworks != nil || p.MachineNetworkCidr != nil},
		{"cluster_networks", p.ClusterNetworks != nil || p.ClusterNetworkCidr != nil || p.ClusterNetworkHostPrefix != nil},
		{"service_networks", p.ServiceNetworks != nil || p.ServiceNetworkCidr != nil},
		{"hyperthreading", p.Hyperthreading != nil},
		{"schedulable_masters", p.SchedulableMasters != nil},
		{"disk_encryption", p.DiskEncryption != nil},
		{"olm_operators", len(deref(p.OlmOperators)) > 0},
		{"operator_bundles", len(deref(p.OperatorBundles)) > 0},
	} {
		if field.sent {
			sent = append(sent, field.name)
		}
	}
	if len(sent) == 0 {
		return nil
	}
	return model.Conflictf("%s of cluster %s cannot be changed: require a cluster that is not installed yet, found status %s",
		strings.Join(sent, ", "), c.Name, c.Status)
}
