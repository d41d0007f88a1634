package openshift_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
)

func TestRequirementsFor(t *testing.T) {
	t.Parallel()
	master := model.Requirements{CPUCores: 4, RAMMiB: 16384, DiskSizeGB: 100, DiskSpeedMS: 10, NetworkLatencyMS: 100}
	for _, tt := range []struct {
		name, version string
		snoCPU        int
	}{
		{"takes the default before the first minimum", "4.21.28", 8},
		{"takes the minimum at its version", "4.22.0", 4},
		{"takes the minimum above its version", "5.0.1", 4},
		{"counts a pre-release as its release", "4.22.0-ec.1", 4},
		{"counts a multi-architecture release as its release", "4.22.9-multi", 4},
		{"takes the default for what is no version", "nightly", 8},
		{"takes the default for nothing", "", 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := openshift.RequirementsFor(tt.version)
			require.Equal(t, tt.snoCPU, got.SNO.CPUCores)
			require.Equal(t, int64(16384), got.SNO.RAMMiB, "an entry keeps what it does not give")
			require.Equal(t, master, got.Master)
			require.InDelta(t, 10, got.Worker.PacketLossPercent, 0)
			require.Equal(t, int64(15), got.EdgeWorker.DiskSizeGB)
			require.Equal(t, int64(50), got.Arbiter.DiskSizeGB)
		})
	}
}

func TestParseRequirementsLooksExactVersionsUpFirst(t *testing.T) {
	t.Parallel()
	r, err := openshift.ParseRequirements([]byte(`[
		{"version":"default","worker":{"cpu_cores":2,"packet_loss_percentage":10}},
		{"version":"4.14","match_type":"min_version","worker":{"cpu_cores":3}},
		{"version":"4.20","match_type":"min_version","worker":{"cpu_cores":4}},
		{"version":"4.16","worker":{"cpu_cores":5}},
		{"version":"4.16.2","match_type":"exact","worker":{"cpu_cores":6,"packet_loss_percentage":0}}]`))
	require.NoError(t, err)
	for version, cpu := range map[string]int{"4.13.9": 2, "4.14.0": 3, "4.19.1": 3, "4.20.0": 4, "4.16.1": 5, "4.16.2": 6} {
		require.Equal(t, cpu, r.For(version).Worker.CPUCores, version)
	}
	require.Zero(t, r.For("4.16.2").Worker.PacketLossPercent, "an explicit zero overrides")
}

func TestParseRequirementsRefuses(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"what is no JSON":       `{`,
		"a list without a base": `[]`,
		"a version that is not": `[{"version":"default"},{"version":"new"}]`,
		"an unknown match type": `[{"version":"default"},{"version":"4.1","match_type":"below"}]`,
	} {
		_, err := openshift.ParseRequirements([]byte(data))
		require.Error(t, err, name)
	}
}

func TestReleases(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseReleases([]byte(`[
		{"version":"4.21.3","cpu_architectures":["x86_64"],"support_level":"production"},
		{"version":"5.0.0-ec.5","cpu_architectures":["x86_64"],"support_level":"beta"},
		{"version":"4.22.0","cpu_architectures":["x86_64","arm64"],"support_level":"production","display_name":"4.22 GA"},
		{"version":"4.22.9","cpu_architectures":["x86_64"],"support_level":"production"}]`))
	require.NoError(t, err)
	require.Equal(t, []string{"5.0.0-ec.5", "4.22.9", "4.22.0", "4.21.3"}, versions(list))
	require.Equal(t, []string{"5.0.0-ec.5", "4.22.9", "4.21.3"}, versions(list.Latest()))
	for asked, want := range map[string]string{"": "4.22.9", "4.22": "4.22.9", "4.22.0": "4.22.0", "4.21": "4.21.3", "5.0": "5.0.0-ec.5"} {
		got, err := list.Find(asked)
		require.NoError(t, err)
		require.Equal(t, want, got.Version, asked)
	}
	_, err = list.Find("4.9")
	require.ErrorIs(t, err, model.ErrInvalid)
	require.Equal(t, "4.22 GA", list[2].DisplayName)
	require.Equal(t, "4.21.3", list[3].DisplayName)
}

func TestParseReleasesRefuses(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"what is no JSON":           `{`,
		"an empty list":             `[]`,
		"a version that is not":     `[{"version":"latest","cpu_architectures":["x86_64"]}]`,
		"a version twice":           `[{"version":"4.22.0","cpu_architectures":["x86_64"]},{"version":"4.22.0","cpu_architectures":["x86_64"]}]`,
		"a release of no processor": `[{"version":"4.22.0"}]`,
	} {
		_, err := openshift.ParseReleases([]byte(data))
		require.Error(t, err, name)
	}
}

func TestDefaultReleasesHaveOneDefault(t *testing.T) {
	t.Parallel()
	got, err := openshift.DefaultReleases().Find("")
	require.NoError(t, err)
	require.NotEmpty(t, got.Image)
}

// TestDefaultsAreTheContracts compares with GET /v2/clusters/default-config of
// openshift/assisted-service (commit 063b257950f7).
func TestDefaultsAreTheContracts(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/default_config.json")
	require.NoError(t, err)
	var live struct {
		Networks []struct {
			CIDR       string `json:"cidr"`
			HostPrefix int    `json:"host_prefix"`
		} `json:"cluster_networks_dualstack"`
		Services []struct {
			CIDR string `json:"cidr"`
		} `json:"service_networks_dualstack"`
		Forbidden []string `json:"forbidden_hostnames"`
		Hours     int      `json:"inactive_deletion_hours"`
	}
	require.NoError(t, json.Unmarshal(data, &live))
	for i, n := range openshift.DefaultClusterNetworks(true) {
		require.Equal(t, live.Networks[i].CIDR, n.CIDR.String())
		require.Equal(t, live.Networks[i].HostPrefix, n.HostPrefix)
	}
	for i, n := range openshift.DefaultServiceNetworks(true) {
		require.Equal(t, live.Services[i].CIDR, n.String())
	}
	require.Len(t, openshift.DefaultClusterNetworks(false), 1)
	require.Len(t, openshift.DefaultServiceNetworks(false), 1)
	require.Equal(t, live.Forbidden, openshift.ForbiddenHostnames())
	require.Equal(t, live.Hours, openshift.DefaultInactiveDeletionHours)
}

func versions(list openshift.Releases) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.Version
	}
	return out
}
