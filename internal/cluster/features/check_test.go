package features_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
)

// cluster makes a usual cluster, changed.
func cluster(change func(c *model.Cluster)) *model.Cluster {
	c := &model.Cluster{
		Kind: model.KindCluster, OpenShiftVersion: "4.22.9", CPUArchitecture: "x86_64", ControlPlaneCount: 3,
		Platform: model.Platform{Type: "baremetal"}, NetworkType: "OVNKubernetes", LoadBalancer: "cluster-managed",
		ClusterNetworks: openshift.DefaultClusterNetworks(false), ServiceNetworks: openshift.DefaultServiceNetworks(false),
	}
	if change != nil {
		change(c)
	}
	return c
}

func TestFeaturesOf(t *testing.T) {
	t.Parallel()
	arbiter := []*model.Host{{Role: model.RoleMaster}, {Role: model.RoleArbiter}}
	fenced := []*model.Host{{Role: model.RoleMaster, Fencing: &model.FencingCredentials{}}}
	added := []*model.Host{{Kind: model.KindAddToExistingClusterHost}}
	usual := []features.ID{features.ClusterManagedNetworking, features.OVN, features.Baremetal}
	for _, tt := range []struct {
		name   string
		change func(c *model.Cluster)
		hosts  []*model.Host
		env    *model.InfraEnv
		want   []features.ID
	}{
		{"finds the features of a usual cluster", nil, nil, nil, usual},
		{"finds a single node", func(c *model.Cluster) {
			c.ControlPlaneCount, c.UserManagedNetworking = 1, true
		}, added, nil, []features.ID{
			features.SNO, features.SingleNodeExpansion, features.UserManagedNetworking, features.OVN,
			features.Baremetal,
		}},
		{
			"finds an arbiter", func(c *model.Cluster) { c.ControlPlaneCount = 2 }, arbiter, nil,
			append([]features.ID{features.TNA}, usual...),
		},
		{
			"finds fencing", func(c *model.Cluster) { c.ControlPlaneCount = 2 }, fenced, nil,
			append([]features.ID{features.TNF}, usual...),
		},
		{"finds neither in a larger control plane", nil, fenced, nil, usual},
		{
			"finds images", nil, nil, &model.InfraEnv{ImageType: "full-iso"},
			append([]features.ID{features.FullISO}, usual...),
		},
		{
			"finds five control plane nodes", func(c *model.Cluster) { c.ControlPlaneCount = 5 }, nil, nil,
			append([]features.ID{features.NonStandardControlPlane}, usual...),
		},
		{"finds OCI", func(c *model.Cluster) {
			c.Platform, c.UserManagedNetworking = model.Platform{Type: "external", ExternalName: "oci"}, true
		}, nil, nil, []features.ID{
			features.UserManagedNetworking, features.OVN, features.External,
			features.ExternalOCI,
		}},
		{"finds both address families", func(c *model.Cluster) {
			c.ClusterNetworks = openshift.DefaultClusterNetworks(true)
			c.APIVIPs = []model.VIP{{IP: netip.MustParseAddr("192.0.2.1")}, {IP: netip.MustParseAddr("2001:db8::1")}}
		}, nil, nil, []features.ID{
			features.ClusterManagedNetworking, features.DualStack, features.DualStackVIPs, features.OVN,
			features.Baremetal,
		}},
		{"finds IPv6 first", func(c *model.Cluster) {
			n := openshift.DefaultClusterNetworks(true)
			c.ClusterNetworks = []model.ClusterNetwork{n[1], n[0]}
		}, nil, nil, []features.ID{
			features.ClusterManagedNetworking, features.DualStack, features.DualStackPrimaryIPv6,
			features.OVN, features.Baremetal,
		}},
		{
			"finds operators", func(c *model.Cluster) { c.OLMOperators = []model.OLMOperator{{Name: "lso"}, {Name: "odf"}} }, nil, nil,
			append(usual[:3:3], features.LSO, features.ODF),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, operators.Features.Used(cluster(tt.change), tt.hosts, tt.env))
		})
	}
	require.Equal(
		t,
		[]features.ID{features.MinimalISO},
		operators.Features.Used(nil, nil, &model.InfraEnv{ImageType: "minimal-iso"}),
	)
	require.Empty(
		t,
		operators.Features.Used(&model.Cluster{Kind: model.KindAddHostsCluster}, added, nil),
		"a cluster that exists was checked when it was made",
	)
}

// TestVerdictsOfArbiters: openshift/assisted-service excludes both from each other before 4.22
// (internal/featuresupport), as the installer takes an arbiter on bare metal only.
func TestVerdictsOfArbiters(t *testing.T) {
	t.Parallel()
	const refused = "Two nodes with an arbiter (TNA) and Platform none (NONE_PLATFORM) exclude each other: " +
		"require at most one of them, found both"
	hosts := []*model.Host{{Role: model.RoleMaster}, {Role: model.RoleMaster}, {Role: model.RoleArbiter}}
	for _, tt := range []struct {
		version, platform string
		want              string
	}{
		{"4.19.42", "none", refused},
		{"4.20.33", "none", refused},
		{"4.21.28", "none", refused},
		{"4.22.9", "none", ""},
		{"4.20.33", "baremetal", ""},
	} {
		t.Run(tt.version+" "+tt.platform, func(t *testing.T) {
			t.Parallel()
			c := cluster(func(c *model.Cluster) {
				c.OpenShiftVersion, c.ControlPlaneCount, c.Platform.Type = tt.version, 2, tt.platform
				c.UserManagedNetworking = tt.platform == "none"
			})
			err := operators.Features.Check(c, operators.Features.Used(c, hosts, nil))
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const exclusive = "exclude each other: require at most one of them, found both"
	for _, tt := range []struct {
		name   string
		change func(c *model.Cluster)
		env    *model.InfraEnv
		want   string
	}{
		{"takes a usual cluster", nil, nil, ""},
		{"refuses a pair and names both", func(c *model.Cluster) {
			c.OLMOperators = []model.OLMOperator{{Name: "lvm"}, {Name: "odf"}}
		}, nil, "Logical volume manager storage (LVM) and OpenShift Data Foundation (ODF) " + exclusive},
		{"names a platform rather than saying that it is another", func(c *model.Cluster) {
			c.Platform.Type, c.OLMOperators = "vsphere", []model.OLMOperator{{Name: "cnv"}}
		}, nil, "Platform vsphere (VSPHERE_INTEGRATION) and OpenShift Virtualization (CNV) " + exclusive},
		{
			"refuses a feature of older versions", func(c *model.Cluster) { c.NetworkType = "OpenShiftSDN" }, nil,
			"Network type OpenShiftSDN (SDN_NETWORK_TYPE): require OpenShift before 4.15, found 4.22.9",
		},
		{
			"refuses a feature of newer versions", func(c *model.Cluster) { c.OpenShiftVersion, c.ControlPlaneCount = "4.17.1", 4 }, nil,
			"Control plane of four or five nodes (NON_STANDARD_HA_CONTROL_PLANE): require OpenShift 4.18 or newer, found 4.17.1",
		},
		{
			"refuses a feature of other architectures", func(c *model.Cluster) { c.CPUArchitecture, c.ControlPlaneCount = "aarch64", 5 },
			nil,
			"Control plane of four or five nodes (NON_STANDARD_HA_CONTROL_PLANE): require another CPU architecture with OpenShift " +
				"4.22.9, found arm64",
		},
		{
			"refuses an architecture before its first version",
			func(c *model.Cluster) { c.OpenShiftVersion, c.CPUArchitecture = "4.9.59", "arm64" }, nil,
			"cpu_architecture: require another one with OpenShift 4.9.59, found arm64",
		},
		{
			"refuses an image of other platforms", func(c *model.Cluster) {
				c.Platform, c.UserManagedNetworking = model.Platform{Type: "external", ExternalName: "oci"}, true
			}, &model.InfraEnv{ImageType: "full-iso"},
			"Full image (FULL_ISO) and Oracle Cloud Infrastructure (EXTERNAL_PLATFORM_OCI) " + exclusive,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := cluster(tt.change)
			err := operators.Features.Check(c, operators.Features.Used(c, nil, tt.env))
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, model.ErrInvalid)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestCheckInASettingWithoutACluster(t *testing.T) {
	t.Parallel()
	minimal := []features.ID{features.MinimalISO}
	require.NoError(t, operators.Features.CheckIn(features.Setting{}, minimal))
	require.EqualError(t, operators.Features.CheckIn(features.Setting{Architecture: "s390x"}, minimal),
		"Minimal image (MINIMAL_ISO): require another CPU architecture with OpenShift of any version, found s390x")
	require.EqualError(
		t,
		operators.Features.CheckIn(
			features.Setting{Version: "4.22", Platform: "external", ExternalName: "oci"},
			[]features.ID{features.DualStackVIPs},
		),
		"Dual-stack virtual addresses (DUAL_STACK_VIPS): require another platform, found external oci",
	)
	require.ErrorIs(t, operators.Features.CheckIn(features.Setting{Version: "new"}, nil), model.ErrInvalid)
	require.NoError(
		t,
		operators.Features.CheckIn(features.Setting{Version: "4.22"}, []features.ID{"UNKNOWN"}),
		"what the table does not have has no limits",
	)
}
