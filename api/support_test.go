package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestSupportLevelsOfFeatures(t *testing.T) {
	t.Parallel()
	s := newService(t)
	levels := func(query string) map[string]any {
		return s.want(http.StatusOK, http.MethodGet, "/v2/support-levels/features?"+query, nil).Object()["features"].(map[string]any)
	}
	usual := levels("openshift_version=4.22")
	require.Len(t, usual, 27+len(operators.All()))
	require.Equal(t, "supported", usual["SNO"])
	require.Equal(t, "unavailable", usual["SDN_NETWORK_TYPE"])
	require.Equal(t, usual, levels("openshift_version=4.22.9&cpu_architecture=x86_64"))
	require.Equal(t, "unavailable", levels("openshift_version=4.22&cpu_architecture=s390x")["MINIMAL_ISO"])
	require.Equal(t, "unavailable", levels("openshift_version=4.22&platform_type=vsphere")["SNO"])
	oci := levels("openshift_version=4.22&platform_type=external&external_platform_name=oci")
	require.Equal(t, "unavailable", oci["FULL_ISO"])
	require.NotContains(t, oci, "EXTERNAL_PLATFORM_OCI")
}

func TestDetailedSupportLevels(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var got struct {
		Features  []wire.Feature  `json:"features"`
		Operators []wire.Operator `json:"operators"`
	}
	s.want(http.StatusOK, http.MethodGet, "/v2/support-levels/features/detailed?openshift_version=4.22&cpu_architecture=x86_64", nil).
		JSON(&got)
	require.Len(t, got.Features, 27)
	require.Len(t, got.Operators, len(operators.All()))
	byID := map[string]wire.Operator{}
	for _, o := range got.Operators {
		byID[string(o.FeatureSupportLevelID)] = o
	}
	require.Equal(t, wire.Operator{
		FeatureSupportLevelID: "MTV", Name: "mtv", SupportLevel: "supported",
		Incompatibilities: []wire.FeatureSupportLevelID{
			"NUTANIX_INTEGRATION",
			"VSPHERE_INTEGRATION",
		}, Dependencies: []wire.FeatureSupportLevelID{"CNV"},
	}, byID["MTV"])
	require.NotNil(t, byID["LOKI"].Dependencies, "an empty list is none, not null")
	for _, f := range got.Features {
		if f.FeatureSupportLevelID == "VIP_AUTO_ALLOC" {
			require.Equal(t, wire.IncompatibilityReason("openshiftVersion"), f.Reason)
		}
	}
}

func TestSupportLevelsOfArchitectures(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.Equal(t, map[string]any{"architectures": map[string]any{
		"ARM64_ARCHITECTURE": "supported", "MULTIARCH_RELEASE_IMAGE": "tech-preview", "PPC64LE_ARCHITECTURE": "supported",
		"S390X_ARCHITECTURE": "supported", "X86_64_ARCHITECTURE": "supported",
	}}, s.want(http.StatusOK, http.MethodGet, "/v2/support-levels/architectures?openshift_version=4.22", nil).Object())
}

func TestSupportLevelsRefuse(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, call := range []struct {
		path, want string
		status     int
	}{
		{"/v2/support-levels/features", "openshift_version", http.StatusBadRequest},
		{"/v2/support-levels/features?openshift_version=4.22&cpu_architecture=vax", "cpu_architecture", http.StatusBadRequest},
		{"/v2/support-levels/features?openshift_version=4.22&platform_type=moon", "platform_type", http.StatusBadRequest},
		{"/v2/support-levels/architectures", "openshift_version", http.StatusBadRequest},
		{"/v2/support-levels/features?openshift_version=new", "require a version such as 4.22", http.StatusBadRequest},
		{
			"/v2/support-levels/features?openshift_version=4.22&platform_type=none&external_platform_name=x", "platform_type external",
			http.StatusBadRequest,
		},
		{"/v2/support-levels/features/detailed?openshift_version=new", "require a version such as 4.22", http.StatusBadRequest},
		{
			"/v2/support-levels/features/detailed?openshift_version=4.22&external_platform_name=oci", "external_platform_name",
			http.StatusBadRequest,
		},
		{"/v2/support-levels/architectures?openshift_version=new", "require a version such as 4.22", http.StatusBadRequest},
		{"/v2/openshift-versions?version=latest", "version: require", http.StatusBadRequest},
	} {
		require.Contains(t, s.send(http.MethodGet, call.path, nil).Reason(call.status), call.want, call.path)
	}
}

func TestReleaseSourcesAndDomains(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, "/v2/release-sources", nil).List())
	require.Empty(t, s.want(http.StatusOK, http.MethodGet, "/v2/domains", nil).List())
	require.Equal(t, "[]\n", string(s.want(http.StatusOK, http.MethodGet, "/v2/domains", nil).Body))

	const sources = `[{"openshift_version":"4.22","multi_cpu_architectures":["x86_64","aarch64"],"upgrade_channels":[{"cpu_architecture":"multi","channels":["stable","eus"]}]}]`
	list, err := openshift.ParseReleaseSources([]byte(sources))
	require.NoError(t, err)
	s = newService(t, func(o *api.Options) {
		o.ReleaseSources = list
		o.Domains = []openshift.ManagedDomain{{Name: "example.com", ID: "Z01", Provider: "route53"}}
	})
	require.JSONEq(t, sources, string(s.want(http.StatusOK, http.MethodGet, "/v2/release-sources", nil).Body))
	require.JSONEq(
		t,
		`[{"domain":"example.com","provider":"route53"}]`,
		string(s.want(http.StatusOK, http.MethodGet, "/v2/domains", nil).Body),
	)
}

func TestVersionsWaitForReleaseSources(t *testing.T) {
	t.Parallel()
	offers := openshift.NewCatalogue(nil)
	s := newService(t, func(o *api.Options) { o.Releases = offers })
	s.want(http.StatusServiceUnavailable, http.MethodGet, "/v2/openshift-versions", nil)
	offers.Extend(releases(t))
	require.Len(t, s.want(http.StatusOK, http.MethodGet, "/v2/openshift-versions", nil).Object(), 3)
	require.Len(t, s.want(http.StatusOK, http.MethodGet, "/v2/openshift-versions?version=4.16&only_latest=true", nil).Object(), 1)
}

func TestAClusterTakesTheReleaseOfItsArchitecture(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseReleases([]byte(`[
		{"openshift_version":"4.22","version":"4.22.9","cpu_architecture":"x86_64","url":"quay.io/ocp/release:4.22.9-x86_64"},
		{"openshift_version":"4.22","version":"4.22.9","cpu_architecture":"aarch64","url":"quay.io/ocp/release:4.22.9-aarch64"},
		{"openshift_version":"4.22-multi","version":"4.22.9-multi","cpu_architecture":"multi","cpu_architectures":["x86_64","arm64"],"url":"quay.io/ocp/release:4.22.9-multi"}]`))
	require.NoError(t, err)
	s := newService(t, func(o *api.Options) { o.Releases = openshift.NewCatalogue(list) })
	got := s.cluster(map[string]any{"cpu_architecture": "arm64"})
	require.Equal(t, "quay.io/ocp/release:4.22.9-aarch64", got.OcpReleaseImage)
	require.Equal(t, "arm64", string(got.CPUArchitecture))
	got = s.cluster(map[string]any{"cpu_architecture": "multi"})
	require.Equal(t, "4.22.9-multi", got.OpenshiftVersion)
	got = s.cluster(map[string]any{"ocp_release_image": "quay.io/ocp/release:4.22.9-multi"})
	require.Equal(t, "multi", string(got.CPUArchitecture))
	body := map[string]any{"name": "x", "openshift_version": "4.22", "pull_secret": pullSecret, "ocp_release_image": "quay.io/other:1"}
	require.Contains(t, s.send(http.MethodPost, "/v2/clusters", body).Reason(http.StatusBadRequest), "ocp_release_image: require")
}

func TestSupportedPlatformsOfACluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(nil)
	platforms := func() (out []string) {
		s.want(http.StatusOK, http.MethodGet, clusterPath(c.ID)+"/supported-platforms", nil).JSON(&out)
		return out
	}
	require.Equal(t, []string{"baremetal", "none", "external"}, platforms())
	env := s.infraEnv(c.ID)
	h := s.host(env.ID)
	s.changeHost(env.ID, h.ID, func(h *model.Host) { h.Inventory.SystemVendor.Manufacturer = "VMware, Inc." })
	require.Equal(t, []string{"baremetal", "vsphere", "none", "external"}, platforms())
	s.want(http.StatusNotFound, http.MethodGet, clusterPath(uuid.New())+"/supported-platforms", nil)
}

func TestFeatureUsageOfACluster(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.cluster(map[string]any{"schedulable_masters": true})
	require.JSONEq(t, `{"Hyperthreading":{"id":"HYPERTHREADING","name":"Hyperthreading","data":{"hyperthreading_enabled":"all"}},
		"OVN network type":{"id":"OVN_NETWORK_TYPE","name":"OVN network type"},
		"Schedulable masters":{"id":"SCHEDULABLE_MASTERS","name":"Schedulable masters"}}`, c.FeatureUsage)
}
