package activities_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

// TestHostsWithTwoNICsHaveOneAddress generates platform none with a storage network without a gateway, and the
// uplink with the higher addresses. In openshift/assisted-service the same allocation fills all three places
// (internal/network/none_platform_node_ips_allocation.go).
func TestHostsWithTwoNICsHaveOneAddress(t *testing.T) {
	t.Parallel()
	p := prepare(t, func(c *model.Cluster) {
		c.Platform.Type, c.UserManagedNetworking = "none", true
		c.APIVIPs, c.IngressVIPs, c.MachineNetworks = nil, nil, nil
	}, model.RoleMaster, model.RoleMaster, model.RoleMaster)
	reached := map[uuid.UUID][]string{}
	for i, h := range p.hosts {
		_, err := p.store.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.Inventory.Interfaces = []wire.Interface{
				{Name: "eth0", MacAddress: fmt.Sprintf("52:54:00:00:01:%02x", i), Ipv4Addresses: []string{fmt.Sprintf("10.0.0.%d/24", 10+i)}},
				{Name: "eth1", MacAddress: fmt.Sprintf("52:54:00:00:00:%02x", i), Ipv4Addresses: []string{fmt.Sprintf("192.168.1.%d/24", 10+i)}},
			}
			h.Inventory.Routes = []wire.Route{{Destination: "0.0.0.0", Family: 2, Interface: "eth1", Gateway: "192.168.1.1", Metric: 100}}
			return nil
		})
		require.NoError(t, err)
		reached[h.ID] = []string{fmt.Sprintf("10.0.0.%d", 10+i), fmt.Sprintf("192.168.1.%d", 10+i)}
	}
	_, err := p.store.UpdateCluster(t.Context(), p.cluster.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.Connectivity.L3ConnectedAddresses = reached
		return nil
	})
	require.NoError(t, err)

	require.NoError(t, p.generate())
	require.NotContains(t, string(p.file("master.ign")), "/etc/NetworkManager/conf.d/01-ipv6.conf", "no host has IPv6")
	require.Contains(t, string(p.file("install-config.yaml")), "machineNetwork:\n  - cidr: 192.168.1.0/24\n")
	require.Contains(t, p.inBootstrap("/usr/local/bin/kubelet.sh"), "--node-ip=192.168.1.10")
	for _, h := range p.hosts {
		require.Equal(t, "KUBELET_NODEIP_HINT=192.168.1.0\n", p.inFile("master-"+h.ID.String()+".ign", "/etc/default/nodeip-configuration"))
	}
}

// TestHostsWithIPv6KeepTheirIdentity: platform none has no machine networks that would show the family.
func TestHostsWithIPv6KeepTheirIdentity(t *testing.T) {
	t.Parallel()
	p := prepare(t, func(c *model.Cluster) {
		c.Platform.Type, c.UserManagedNetworking = "none", true
		c.APIVIPs, c.IngressVIPs, c.MachineNetworks = nil, nil, nil
	}, model.RoleMaster, model.RoleMaster, model.RoleMaster, model.RoleWorker)
	for i, addresses := range [][]string{{"fe80::1/64"}, {"fe80::2/64"}, nil, {"fe80::3/64", "2001:db8::13/64"}} {
		_, err := p.store.UpdateHost(t.Context(), p.hosts[i].InfraEnvID, p.hosts[i].ID, func(h *model.Host, _ *store.Tx) error {
			h.Inventory.Interfaces[0].Ipv6Addresses = addresses
			h.Inventory.Routes = []wire.Route{{Destination: "0.0.0.0", Family: 2, Interface: "eth0", Gateway: "192.168.10.1"}}
			return nil
		})
		require.NoError(t, err)
	}
	require.NoError(t, p.generate())
	for _, role := range []string{"master", "worker"} {
		require.Contains(t, p.inFile(role+".ign", "/etc/NetworkManager/conf.d/01-ipv6.conf"), "ipv6.dhcp-duid=ll")
	}
}
