package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/cluster/operators"
)

func TestCatalogueOfVersions(t *testing.T) {
	t.Parallel()
	s := newService(t)
	all := s.want(http.StatusOK, http.MethodGet, "/v2/openshift-versions", nil).Object()
	require.Len(t, all, 3)
	require.Equal(t, map[string]any{
		"display_name": "4.22.9", "support_level": "production", "default": true, "cpu_architectures": []any{"x86_64", "arm64"},
	}, all["4.22.9"])
	latest := s.want(http.StatusOK, http.MethodGet, "/v2/openshift-versions?only_latest=true", nil).Object()
	require.Len(t, latest, 2)
	require.NotContains(t, latest, "4.22.1")
	require.Len(t, s.want(http.StatusOK, http.MethodGet, "/v2/openshift-versions?version=4.22", nil).Object(), 2)
	require.Equal(t, map[string]any{"versions": map[string]any{"discovery-agent": "slipway-agent 1.0"}, "release_tag": "1.0.0"},
		s.want(http.StatusOK, http.MethodGet, "/v2/component-versions", nil).Object())
}

func TestDefaultsOfANewCluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	got := s.want(http.StatusOK, http.MethodGet, "/v2/clusters//default-config", nil).Object()
	require.Equal(t, "10.128.0.0/14", got["cluster_network_cidr"])
	require.EqualValues(t, 23, got["cluster_network_host_prefix"])
	require.Equal(t, "172.30.0.0/16", got["service_network_cidr"])
	require.Len(t, got["cluster_networks_ipv4"], 1)
	require.Len(t, got["cluster_networks_dualstack"], 2)
	require.Len(t, got["forbidden_hostnames"], 6)
	require.EqualValues(t, 480, got["inactive_deletion_hours"])
	require.Equal(t, "", got["ntp_source"])

	s = newService(t, func(o *api.Options) { o.InactiveAfter = 48 * time.Hour })
	got = s.want(http.StatusOK, http.MethodGet, "/v2/clusters/default-config", nil).Object()
	require.EqualValues(t, 48, got["inactive_deletion_hours"], "as the deployment has it")
}

func TestRequirementsFollowTheVersionAndTheTopology(t *testing.T) {
	t.Parallel()
	s := newService(t)
	master := func(fields map[string]any) map[string]any {
		c := s.cluster(fields)
		got := s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/preflight-requirements", nil).Object()
		require.Len(t, got["operators"], len(operators.Names()))
		return got["ocp"].(map[string]any)["master"].(map[string]any)["quantitative"].(map[string]any)
	}
	three := master(nil)
	require.EqualValues(t, 4, three["cpu_cores"])
	require.EqualValues(t, 16384, three["ram_mib"])
	require.EqualValues(t, 0, three["packet_loss_percentage"])
	require.EqualValues(t, 8, master(map[string]any{"control_plane_count": 1, "openshift_version": "4.16"})["cpu_cores"])
}
