package definition

import (
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// requireJoiningOnly refuses settings of the installation for a cluster that is installed already. Name and domain can
// change only in an imported cluster.
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
