package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestFeaturesThatExcludeEachOtherAreRefusedByBothNames(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for name, call := range map[string]struct {
		fields map[string]any
		want   []string
	}{
		"a single node on vsphere": {
			map[string]any{"control_plane_count": 1, "platform": map[string]any{"type": "vsphere"}}, []string{"SNO", "VSPHERE_INTEGRATION"},
		},
		"four hosts on nutanix": {
			map[string]any{"control_plane_count": 4, "platform": map[string]any{"type": "nutanix"}},
			[]string{"NON_STANDARD_HA_CONTROL_PLANE", "NUTANIX_INTEGRATION"},
		},
		"leased addresses in a newer version": {map[string]any{"vip_dhcp_allocation": true}, []string{"VIP_AUTO_ALLOC", "4.15", "4.22.9"}},
		"a network type that went":            {map[string]any{"network_type": "OpenShiftSDN"}, []string{"SDN_NETWORK_TYPE", "4.15"}},
		"an IPv6 first cluster on vsphere": {
			map[string]any{
				"machine_networks": cidrs("2001:db8::/64", "192.0.2.0/24"), "cluster_networks": cidrs("fd01::/48", "10.128.0.0/14"),
				"platform": map[string]any{"type": "vsphere"},
			},
			[]string{"DUAL_STACK_PRIMARY_IPV6", "VSPHERE_INTEGRATION"},
		},
		"a load balancer for a single node": {
			map[string]any{"control_plane_count": 1, "load_balancer": map[string]any{"type": "user-managed"}},
			[]string{"load_balancer.type"},
		},
		"a network of the user on nutanix": {
			map[string]any{"platform": map[string]any{"type": "nutanix"}, "user_managed_networking": true},
			[]string{"user_managed_networking", "nutanix"},
		},
		"two hosts before they were offered": {map[string]any{"openshift_version": "4.16", "control_plane_count": 2}, []string{"4.19"}},
		"a user's load balancer in two stacks": {
			map[string]any{
				"machine_networks": cidrs("192.0.2.0/24", "2001:db8::/64"), "load_balancer": map[string]any{"type": "user-managed"},
			},
			[]string{"DUAL_STACK", "USER_MANAGED_LOAD_BALANCER"},
		},
		"a name of a platform that has none": {
			map[string]any{"platform": map[string]any{"type": "baremetal", "external": map[string]any{"platform_name": "oci"}}},
			[]string{"platform.external.platform_name"},
		},
	} {
		body := map[string]any{"name": "x", "openshift_version": "4.22", "pull_secret": pullSecret}
		for key, value := range call.fields {
			body[key] = value
		}
		got := s.send(http.MethodPost, "/v2/clusters", body).Reason(http.StatusBadRequest)
		for _, want := range call.want {
			require.Contains(t, got, want, name)
		}
	}
}

func TestHostsAndImagesOfAClusterDecideWhatItCanBecome(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"control_plane_count": 2})
	e := s.infraEnv(c.ID)
	h := s.host(e.ID)
	s.changeHost(e.ID, h.ID, func(h *model.Host) { h.Role = model.RoleArbiter })
	got := s.send(http.MethodPatch, clusterPath(c.ID), `{"platform":{"type":"vsphere"}}`).Reason(http.StatusBadRequest)
	require.Contains(t, got, "TNA")
	require.Contains(t, got, "VSPHERE_INTEGRATION")
	s.changeHost(e.ID, h.ID, func(h *model.Host) {
		h.Role, h.Fencing = model.RoleMaster, &model.FencingCredentials{Address: "https://bmc"}
	})
	require.Contains(t, s.send(http.MethodPatch, clusterPath(c.ID), `{"platform":{"type":"nutanix"}}`).Reason(http.StatusBadRequest), "TNF")

	c = s.cluster(nil)
	s.infraEnv(c.ID)
	got = s.send(http.MethodPatch, clusterPath(c.ID), `{"platform":{"type":"external","external":{"platform_name":"oci"}}}`).
		Reason(http.StatusBadRequest)
	require.Contains(t, got, "FULL_ISO")
	require.Contains(t, got, "EXTERNAL_PLATFORM_OCI")
}

func TestImagesFitThePlatformOfTheirCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"platform": map[string]any{"type": "external", "external": map[string]any{
		"platform_name": "oci", "cloud_controller_manager": "External",
	}}})
	env := map[string]any{"name": "e", "pull_secret": pullSecret, "cluster_id": c.ID}
	got := s.send(http.MethodPost, "/v2/infra-envs", env).Reason(http.StatusBadRequest)
	require.Contains(t, got, "FULL_ISO", "the default")
	require.Contains(t, got, "EXTERNAL_PLATFORM_OCI")
	env["image_type"] = "minimal-iso"
	var e wire.InfraEnv
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", env).JSON(&e)
	require.Contains(t, s.send(http.MethodPatch, envPath(e.ID), `{"image_type":"full-iso"}`).Reason(http.StatusBadRequest), "FULL_ISO")
	s.want(http.StatusCreated, http.MethodPatch, envPath(e.ID), `{"image_type":"minimal-iso"}`)
}

// No network of s390x can be managed by the cluster: assisted-service's feature_support spec, line 119.
func TestArchitectureOfAnInfraEnvDecidesWhoManagesTheNetwork(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseReleases([]byte(`[{"openshift_version":"4.22-multi","version":"4.22.9-multi","cpu_architecture":"multi",
		"cpu_architectures":["x86_64","arm64","s390x","ppc64le"],"url":"quay.io/ocp/release:4.22.9-multi"}]`))
	require.NoError(t, err)
	s := newService(t, func(o *api.Options) { o.Releases = openshift.NewCatalogue(list) })
	c := s.cluster(map[string]any{"openshift_version": "4.22-multi", "cpu_architecture": "multi", "user_managed_networking": true})
	env := map[string]any{"name": "e", "pull_secret": pullSecret, "cluster_id": c.ID, "cpu_architecture": "s390x"}
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", env)
	for _, change := range []string{`{"user_managed_networking":false}`, `{"platform":{"type":"baremetal"}}`} {
		got := s.send(http.MethodPatch, clusterPath(c.ID), change).Reason(http.StatusBadRequest)
		require.Contains(t, got, "CLUSTER_MANAGED_NETWORKING")
		require.Contains(t, got, "s390x")
	}
	managed := s.cluster(map[string]any{"openshift_version": "4.22-multi", "cpu_architecture": "multi"})
	env["cluster_id"] = managed.ID
	require.Contains(t, s.send(http.MethodPost, "/v2/infra-envs", env).Reason(http.StatusBadRequest), "CLUSTER_MANAGED_NETWORKING")
	env["cpu_architecture"] = "arm64"
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", env)
}
