package features_test

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// TestUsageIsTheOneRecorded compares a new cluster with the recorded session.
func TestUsageIsTheOneRecorded(t *testing.T) {
	t.Parallel()
	c := cluster(func(c *model.Cluster) { c.Hyperthreading = "all"; c.DiskEncryption.EnableOn = "none" })
	require.JSONEq(t, `{"Hyperthreading":{"data":{"hyperthreading_enabled":"all"},"id":"HYPERTHREADING","name":"Hyperthreading"},
		"OVN network type":{"id":"OVN_NETWORK_TYPE","name":"OVN network type"}}`, features.UsageText(c))
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, key, id string
		change        func(c *model.Cluster)
		data          string
	}{
		{"finds a single node", "SNO", "SNO", func(c *model.Cluster) { c.ControlPlaneCount = 1 }, ``},
		{
			"finds a large control plane", "Non-standard HA control plane", "NON-STANDARD_HA_CONTROL_PLANE",
			func(c *model.Cluster) { c.ControlPlaneCount = 4 }, `{"control_plane_count":4}`,
		},
		{
			"finds an expanded single node", "Single Node Expansion", "SINGLE_NODE_EXPANSION",
			func(c *model.Cluster) { c.ControlPlaneCount, c.Uses.DayTwoHosts = 1, 2 }, ``,
		},
		{"counts added hosts", "Day2 hosts", "DAY2_HOSTS", func(c *model.Cluster) { c.Uses.DayTwoHosts = 2 }, `{"day2_host_count":2}`},
		{
			"finds both address families", "Dual-stack", "DUAL-STACK",
			func(c *model.Cluster) { c.ServiceNetworks = openshift.DefaultServiceNetworks(true) }, ``,
		},
		{"finds addresses of both", "Dual-stack VIPs", "DUAL-STACK_VIPS", func(c *model.Cluster) { c.APIVIPs = make([]model.VIP, 2) }, ``},
		{"finds IPv6 first", "Dual-stack primary IPv6", "DUAL-STACK_PRIMARY_IPV6", func(c *model.Cluster) {
			c.ClusterNetworks = nil
			c.ServiceNetworks = []netip.Prefix{netip.MustParsePrefix("fd02::/112"), netip.MustParsePrefix("172.30.0.0/16")}
		}, ``},
		{
			"finds another network type", "Cilium network type", "CILIUM_NETWORK_TYPE", func(c *model.Cluster) { c.NetworkType = "Cilium" },
			``,
		},
		{"finds addresses from DHCP", "VIP auto alloc.", "VIP_AUTO_ALLOC", func(c *model.Cluster) { c.VIPDHCPAllocation = true }, ``},
		{
			"finds a load balancer of the user", "User-managed load balancer", "USER-MANAGED_LOAD_BALANCER",
			func(c *model.Cluster) { c.LoadBalancer = "user-managed" }, ``,
		},
		{
			"finds the user's network", "User Managed Networking With Multi Node", "USER_MANAGED_NETWORKING_WITH_MULTI_NODE",
			func(c *model.Cluster) { c.UserManagedNetworking = true }, ``,
		},
		{
			"names virtual machines", "Cluster managed networking with VMs", "CLUSTER_MANAGED_NETWORKING_WITH_VMS",
			func(c *model.Cluster) { c.Uses.VMHosts = []uuid.UUID{{15: 1}, {15: 2}} },
			`{"VM Hosts":["00000000-0000-0000-0000-000000000001","00000000-0000-0000-0000-000000000002"]}`,
		},
		{
			"finds a platform", "Platform selection", "PLATFORM_SELECTION", func(c *model.Cluster) { c.Platform.Type = "vsphere" },
			`{"platform_type":"vsphere"}`,
		},
		{"finds an architecture", "arm64 architecture", "ARM64_ARCHITECTURE", func(c *model.Cluster) { c.CPUArchitecture = "aarch64" }, ``},
		{
			"counts time sources", "Additional NTP Source", "ADDITIONAL_NTP_SOURCE",
			func(c *model.Cluster) { c.NTPSources = []string{"ntp.example.com"} }, `{"source_count":1}`,
		},
		{
			"says nothing of a proxy's address", "Proxy", "PROXY", func(c *model.Cluster) { c.Proxy.HTTP = "http://user:secret@proxy" },
			`{"http_proxy":1}`,
		},
		{
			"finds disk encryption", "Disk encryption", "DISK_ENCRYPTION",
			func(c *model.Cluster) { c.DiskEncryption = model.DiskEncryption{EnableOn: "all", Mode: "tpmv2"} },
			`{"enable_on":"all","mode":"tpmv2","tang_servers":""}`,
		},
		{
			"finds Tang servers", "Disk encryption", "DISK_ENCRYPTION",
			func(c *model.Cluster) {
				c.DiskEncryption = model.DiskEncryption{EnableOn: "masters", Mode: "tang", TangServers: `[{"url":"http://tang"}]`}
			},
			`{"enable_on":"masters","mode":"tang","tang_servers":"[{\"url\":\"http://tang\"}]"}`,
		},
		{
			"finds roles that are chosen", "auto assign role", "AUTO_ASSIGN_ROLE",
			func(c *model.Cluster) { c.Uses.AutoAssignedRoles = 2 }, ``,
		},
		{
			"finds schedulable masters", "Schedulable masters", "SCHEDULABLE_MASTERS",
			func(c *model.Cluster) { c.SchedulableMasters = true }, ``,
		},
		{"finds tags", "Cluster Tags", "CLUSTER_TAGS", func(c *model.Cluster) { c.Tags = "a" }, ``},
		{
			"finds overrides", "Install Config Overrides", "INSTALL_CONFIG_OVERRIDES",
			func(c *model.Cluster) {
				c.InstallConfigOverride = `{"fips": true, "controlPlane": {"name": "master", "hyperthreading": "Disabled"}}`
			},
			`{"fips":true,"controlPlane hyperthreading name":true}`,
		},
		{"finds manifests", "Custom manifest", "CUSTOM_MANIFEST", func(c *model.Cluster) { c.Uses.CustomManifests = 1 }, ``},
		{
			"finds ignored validations", "Validations have been ignored for this cluster", "VALIDATIONS_HAVE_BEEN_IGNORED_FOR_THIS_CLUSTER",
			func(c *model.Cluster) { c.IgnoredHostValidations = []string{"all"} }, ``,
		},
		{
			"finds static networks", "Static Network Config", "STATIC_NETWORK_CONFIG", func(c *model.Cluster) { c.Uses.StaticNetworks = 1 },
			``,
		},
		{
			"finds operators", "OPENSHIFT-AI", "OPENSHIFT-AI",
			func(c *model.Cluster) { c.OLMOperators = []model.OLMOperator{{Name: "openshift-ai"}} }, ``,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.NotContains(t, features.Usage(cluster(nil)), tt.key, "a usual cluster does not use it")
			use, found := features.Usage(cluster(tt.change))[tt.key]
			require.True(t, found)
			require.Equal(t, tt.key, use.Name)
			require.Equal(t, tt.id, use.ID)
			if tt.data == "" {
				require.Empty(t, use.Data)
				return
			}
			data, err := json.Marshal(use.Data)
			require.NoError(t, err)
			require.JSONEq(t, tt.data, string(data))
		})
	}
}

func TestUsageLeavesOutWhatIsOff(t *testing.T) {
	t.Parallel()
	got := features.Usage(cluster(func(c *model.Cluster) {
		c.Hyperthreading, c.InstallConfigOverride, c.DiskEncryption.EnableOn = "none", "{}", "none"
	}))
	require.NotContains(t, got, "Hyperthreading")
	require.NotContains(t, got, "Install Config Overrides")
	require.NotContains(t, got, "Disk encryption")
}

func TestCountUses(t *testing.T) {
	t.Parallel()
	inventory := &wire.Inventory{Hostname: "machine", SystemVendor: wire.SystemVendor{Virtual: true}}
	got := features.CountUses(model.Uses{CustomManifests: 1, IgnitionOverrides: 1}, []*model.Host{
		{ID: uuid.UUID{15: 1}, Inventory: inventory, RequestedHostname: "node-0", Role: model.RoleAutoAssign},
		{ID: uuid.UUID{15: 2}, Inventory: inventory, RequestedHostname: "machine", Role: model.RoleMaster, AutoRole: true},
		{RequestedHostname: "node-2", Role: model.RoleWorker, Kind: model.KindAddToExistingClusterHost, IgnitionConfigOverrides: "{}"},
	})
	require.Equal(t, model.Uses{
		CustomManifests: 1, IgnitionOverrides: 2, RequestedHostnames: 1, AutoAssignedRoles: 2, DayTwoHosts: 1,
		VMHosts: []uuid.UUID{{15: 1}, {15: 2}},
	}, got)
}
