package support_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/support"
	"slipway/internal/wire"
)

// recorded are levels that a service of the contract answered with.
type recorded struct {
	Levels422     map[support.FeatureID]support.Level      `json:"features_4.22"`
	Levels418     map[support.FeatureID]support.Level      `json:"features_4.18"`
	Architectures map[support.ArchitectureID]support.Level `json:"architectures_4.22"`
	Detailed      []wire.Operator                          `json:"detailed_4.22"`
}

func readRecorded(t *testing.T) recorded {
	t.Helper()
	text, err := os.ReadFile("testdata/levels.json")
	require.NoError(t, err)
	var r recorded
	require.NoError(t, json.Unmarshal(text, &r))
	return r
}

func TestLevelsAreThoseRecorded(t *testing.T) {
	t.Parallel()
	r := readRecorded(t)
	got, err := support.Levels(support.Setting{Version: "4.22"})
	require.NoError(t, err)
	require.Equal(t, r.Levels422, got)
	got, err = support.Levels(support.Setting{Version: "4.18.52-multi", Architecture: "x86_64"})
	require.NoError(t, err)
	for id, level := range r.Levels418 {
		require.Equal(t, level, got[id], id)
	}
	architectures, err := support.Architectures("4.22")
	require.NoError(t, err)
	require.Equal(t, r.Architectures, architectures)
}

func TestDetailsAreThoseRecorded(t *testing.T) {
	t.Parallel()
	got, err := support.Detailed(support.Setting{Version: "4.22", Architecture: "x86_64"})
	require.NoError(t, err)
	list := readRecorded(t).Detailed
	require.Len(t, got, len(list))
	operators := 0
	for _, want := range list {
		i := slices.IndexFunc(got, func(f support.FeatureSupport) bool { return string(f.ID) == string(want.FeatureSupportLevelID) })
		require.GreaterOrEqual(t, i, 0, want.FeatureSupportLevelID)
		f := got[i]
		require.Equal(t, string(want.SupportLevel), string(f.Level), f.ID)
		require.Equal(t, string(want.Reason), string(f.Reason), f.ID)
		require.Equal(t, want.Name, f.Operator, f.ID)
		require.ElementsMatch(t, texts(want.Incompatibilities), texts(f.Incompatibilities), f.ID)
		require.ElementsMatch(t, texts(want.Dependencies), texts(f.Dependencies), f.ID)
		if f.Operator != "" {
			operators++
			require.Equal(t, f.ID, support.OperatorFeature(f.Operator))
		}
	}
	require.Equal(t, 28, operators)
	require.Empty(t, support.OperatorFeature("console"))
}

func texts[T ~string](list []T) []string {
	out := []string{}
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// settings are the corners of the table.
func settings() []support.Setting {
	var out []support.Setting
	for _, version := range []string{"", "4.5", "4.9", "4.10", "4.11", "4.12", "4.13", "4.14", "4.15", "4.17", "4.18", "4.19", "4.20", "4.22.9", "5.0.0-ec.5"} {
		for _, architecture := range []string{"", "aarch64", "ppc64le", "s390x", "multi"} {
			for _, platform := range []string{"", "baremetal", "none", "nutanix", "vsphere", "external"} {
				out = append(out, support.Setting{Version: version, Architecture: architecture, Platform: platform})
			}
			out = append(out, support.Setting{Version: version, Architecture: architecture, Platform: "external", ExternalName: "oci"})
		}
	}
	return out
}

func TestEveryFeatureHasALevelEverywhere(t *testing.T) {
	t.Parallel()
	seen := map[support.FeatureID]bool{}
	for _, s := range settings() {
		list, err := support.Detailed(s)
		require.NoError(t, err, s)
		excluded := map[support.FeatureID][]support.FeatureID{}
		for _, f := range list {
			seen[f.ID] = true
			excluded[f.ID] = f.Incompatibilities
			require.True(t, wire.FeatureSupportLevelID(f.ID).Valid(), f.ID)
			require.True(t, wire.SupportLevel(f.Level).Valid(), f.Level)
			require.NotEqual(t, string(f.ID), support.FeatureName(f.ID), "a feature has a name")
			require.Equal(t, f.Level == support.LevelUnavailable || f.Level == support.LevelUnsupported, f.Reason != "", "%s in %+v", f.ID, s)
		}
		for id, others := range excluded {
			for _, other := range others {
				if back, shown := excluded[other]; shown {
					require.Contains(t, back, id, "%s excludes %s in %+v, but not the other way round", id, other, s)
				}
			}
		}
	}
	require.Len(t, seen, 56)
}

func TestLevelsByVersionArchitectureAndPlatform(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		setting support.Setting
		feature support.FeatureID
		level   support.Level
		reason  support.Reason
	}{
		{"offers OpenShift SDN before 4.15", support.Setting{Version: "4.14.71"}, support.FeatureSDN, support.LevelSupported, ""},
		{"has no OpenShift SDN from 4.15 on", support.Setting{Version: "4.15.0-rc.1"}, support.FeatureSDN, support.LevelUnavailable, support.ReasonVersion},
		{"previews an arbiter in 4.19", support.Setting{Version: "4.19"}, support.FeatureTNA, support.LevelTechPreview, ""},
		{"supports an arbiter from 4.20 on", support.Setting{Version: "4.20.33"}, support.FeatureTNA, support.LevelSupported, ""},
		{"has no arbiter on vsphere", support.Setting{Version: "4.20", Platform: "vsphere"}, support.FeatureTNA, support.LevelUnavailable, support.ReasonPlatform},
		{"previews single nodes on s390x in 4.13", support.Setting{Version: "4.13", Architecture: "s390x"}, support.FeatureSNO, support.LevelDevPreview, ""},
		{"has no single nodes on s390x in 4.12", support.Setting{Version: "4.12", Architecture: "s390x"}, support.FeatureSNO, support.LevelUnavailable, support.ReasonArchitecture},
		{"has nothing on an architecture before its first version", support.Setting{Version: "4.9", Architecture: "arm64"}, support.FeatureOVN, support.LevelUnavailable, support.ReasonArchitecture},
		{"has no full image on OCI", support.Setting{Version: "4.18", Platform: "external", ExternalName: "oci"}, support.FeatureFullISO, support.LevelUnavailable, support.ReasonOCI},
		{"has a full image on another external platform", support.Setting{Version: "4.18", Platform: "external", ExternalName: "mine"}, support.FeatureFullISO, support.LevelSupported, ""},
		{"has no minimal image on s390x", support.Setting{Version: "4.18", Architecture: "s390x"}, support.FeatureMinimalISO, support.LevelUnavailable, support.ReasonArchitecture},
		{"counts aarch64 as arm64", support.Setting{Version: "4.18", Architecture: "aarch64"}, support.FeatureLSO, support.LevelUnavailable, support.ReasonArchitecture},
		{"previews virtualization on arm64", support.Setting{Version: "4.18", Architecture: "arm64"}, support.FeatureCNV, support.LevelDevPreview, ""},
		{"leaves networking to no platform", support.Setting{Version: "4.18", Platform: "none"}, support.FeaturePlatformManagedNetworking, support.LevelSupported, ""},
		{"keeps networking on baremetal", support.Setting{Version: "4.18", Platform: "baremetal"}, support.FeaturePlatformManagedNetworking, support.LevelUnsupported, support.ReasonPlatform},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, err := support.Detailed(tt.setting)
			require.NoError(t, err)
			i := slices.IndexFunc(list, func(f support.FeatureSupport) bool { return f.ID == tt.feature })
			require.GreaterOrEqual(t, i, 0)
			require.Equal(t, tt.level, list[i].Level)
			require.Equal(t, tt.reason, list[i].Reason)
		})
	}
}

func TestAPlatformIsNoFeatureOnceChosen(t *testing.T) {
	t.Parallel()
	levels, err := support.Levels(support.Setting{Version: "4.22", Platform: "baremetal"})
	require.NoError(t, err)
	require.NotContains(t, levels, support.FeatureBaremetal)
	require.NotContains(t, levels, support.FeatureExternalOCI)
	require.Contains(t, levels, support.FeatureSNO)
}

func TestArchitecturesByVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][]support.Level{
		"4.9":  {support.LevelUnsupported, support.LevelUnsupported, support.LevelUnsupported},
		"4.11": {support.LevelSupported, support.LevelUnsupported, support.LevelTechPreview},
		"4.12": {support.LevelSupported, support.LevelTechPreview, support.LevelTechPreview},
		"4.13": {support.LevelSupported, support.LevelSupported, support.LevelTechPreview},
	} {
		got, err := support.Architectures(version)
		require.NoError(t, err)
		require.Equal(t, support.LevelSupported, got[support.ArchitectureX8664], version)
		require.Equal(t, want[0], got[support.ArchitectureARM64], version)
		require.Equal(t, want[1], got[support.ArchitectureS390X], version)
		require.Equal(t, want[1], got[support.ArchitecturePPC64LE], version)
		require.Equal(t, want[2], got[support.ArchitectureMulti], version)
	}
}

func TestSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]support.Setting{
		"openshift_version":      {Version: "new"},
		"cpu_architecture":       {Version: "4.22", Architecture: "vax"},
		"external_platform_name": {Version: "4.22", Platform: "none", ExternalName: "oci"},
	} {
		_, err := support.Levels(s)
		require.ErrorIs(t, err, model.ErrInvalid)
		require.ErrorContains(t, err, name+": require ")
	}
	_, err := support.Architectures("new")
	require.ErrorIs(t, err, model.ErrInvalid)
}
