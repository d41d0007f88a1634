package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestSupportedPlatforms(t *testing.T) {
	t.Parallel()
	madeBy := func(makers ...string) (hosts []*model.Host) {
		for _, maker := range makers {
			hosts = append(hosts, &model.Host{Inventory: &wire.Inventory{SystemVendor: wire.SystemVendor{Manufacturer: maker}}})
		}
		return hosts
	}
	oci := model.Platform{Type: "external", ExternalName: "oci"}
	for _, tt := range []struct {
		name   string
		change func(c *model.Cluster)
		hosts  []*model.Host
		want   []string
	}{
		{"leaves platforms of one maker out while no machine is known", nil, []*model.Host{{}}, []string{"baremetal", "none", "external"}},
		{
			"offers vsphere to machines of VMware", nil, madeBy("VMware, Inc.", "VMware, Inc."),
			[]string{"baremetal", "vsphere", "none", "external"},
		},
		{"offers nutanix to machines of Nutanix", nil, madeBy("Nutanix"), []string{"baremetal", "nutanix", "none", "external"}},
		{"offers neither to a mixture", nil, madeBy("Nutanix", "VMware, Inc."), []string{"baremetal", "none", "external"}},
		{
			"keeps OCI on machines of Oracle", func(c *model.Cluster) { c.Platform = oci }, madeBy("OracleCloud.com"),
			[]string{"baremetal", "none", "external"},
		},
		{"takes OCI from others", func(c *model.Cluster) { c.Platform = oci }, madeBy("Dell"), []string{"baremetal", "none"}},
		{
			"leaves a single node to its user's network", func(c *model.Cluster) { c.ControlPlaneCount = 1 }, madeBy("VMware, Inc."),
			[]string{"none", "external"},
		},
		{
			"knows that a version has no external platform", func(c *model.Cluster) { c.OpenShiftVersion = "4.13.69" }, madeBy("Dell"),
			[]string{"baremetal", "none"},
		},
		{
			"holds a load balancer of the user against them", func(c *model.Cluster) { c.LoadBalancer = "user-managed" },
			madeBy("VMware, Inc."),
			[]string{"baremetal", "vsphere"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &model.Cluster{
				Kind: model.KindCluster, OpenShiftVersion: "4.22.9", CPUArchitecture: "x86_64", ControlPlaneCount: 3,
				NetworkType: "OVNKubernetes", LoadBalancer: "cluster-managed", Platform: model.Platform{Type: "baremetal"},
			}
			if tt.change != nil {
				tt.change(c)
			}
			require.Equal(t, tt.want, validation.SupportedPlatforms(c, tt.hosts))
		})
	}
}
