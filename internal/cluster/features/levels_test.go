package features_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/features"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// beyondV2 are features that the v2 API does not have, with the reason of each.
var beyondV2 = map[features.ID]string{}

// recorded are levels that a service of the contract answered with.
type recorded struct {
	Levels422     map[features.ID]features.Level             `json:"features_4.22"`
	Levels418     map[features.ID]features.Level             `json:"features_4.18"`
	Architectures map[features.ArchitectureID]features.Level `json:"architectures_4.22"`
	Detailed      []wire.Operator                            `json:"detailed_4.22"`
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
	got, err := operators.Features.Levels(features.Setting{Version: "4.22"})
	require.NoError(t, err)
	for id := range beyondV2 {
		require.Contains(t, got, id)
		delete(got, id)
	}
	require.Equal(t, r.Levels422, got)
	got, err = operators.Features.Levels(features.Setting{Version: "4.18.52-multi", Architecture: "x86_64"})
	require.NoError(t, err)
	for id, level := range r.Levels418 {
		require.Equal(t, level, got[id], id)
	}
	architectures, err := features.Architectures("4.22")
	require.NoError(t, err)
	require.Equal(t, r.Architectures, architectures)
}

func TestDetailsAreThoseRecorded(t *testing.T) {
	t.Parallel()
	got, err := operators.Features.Detailed(features.Setting{Version: "4.22", Architecture: "x86_64"})
	require.NoError(t, err)
	list := readRecorded(t).Detailed
	require.Len(t, got, len(list)+len(beyondV2))
	chosen := 0
	for _, want := range list {
		i := slices.IndexFunc(got, func(f features.Support) bool { return string(f.ID) == string(want.FeatureSupportLevelID) })
		require.GreaterOrEqual(t, i, 0, want.FeatureSupportLevelID)
		f := got[i]
		require.Equal(t, string(want.SupportLevel), string(f.Level), f.ID)
		require.Equal(t, string(want.Reason), string(f.Reason), f.ID)
		require.Equal(t, want.Name, f.Operator, f.ID)
		require.ElementsMatch(t, texts(want.Incompatibilities), texts(ofV2(f.Incompatibilities)), f.ID)
		require.ElementsMatch(t, texts(want.Dependencies), texts(f.Dependencies), f.ID)
		if f.Operator != "" {
			chosen++
		}
	}
	require.Equal(t, 28, chosen)
}

// ofV2 leaves the features of beyondV2 out.
func ofV2(list []features.ID) []features.ID {
	return slices.DeleteFunc(slices.Clone(list), func(id features.ID) bool { return beyondV2[id] != "" })
}

func texts[T ~string](list []T) []string {
	out := []string{}
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// settings lists the corners of the table.
func settings() []features.Setting {
	var out []features.Setting
	for _, version := range []string{
		"", "4.5", "4.9", "4.10", "4.11", "4.12", "4.13", "4.14", "4.15", "4.17", "4.18", "4.19", "4.20", "4.22.9", "5.0.0-ec.5",
	} {
		for _, architecture := range []string{"", "aarch64", "ppc64le", "s390x", "multi"} {
			for _, platform := range []string{"", "baremetal", "none", "nutanix", "vsphere", "external"} {
				out = append(out, features.Setting{Version: version, Architecture: architecture, Platform: platform})
			}
			out = append(out, features.Setting{Version: version, Architecture: architecture, Platform: "external", ExternalName: "oci"})
		}
	}
	return out
}

// TestChosenPlatformExcludesNoOther: openshift/assisted-service leaves the platforms out of every list of features
// that exclude each other once one is chosen (internal/featuresupport/feature_support_level.go).
func TestChosenPlatformExcludesNoOther(t *testing.T) {
	t.Parallel()
	sno := func(platform string) []features.ID {
		list, err := operators.Features.Detailed(features.Setting{Version: "4.20", Platform: platform})
		require.NoError(t, err)
		i := slices.IndexFunc(list, func(f features.Support) bool { return f.ID == "SNO" })
		return list[i].Incompatibilities
	}
	require.Contains(t, sno(""), features.ID("NUTANIX_INTEGRATION"))
	require.NotContains(t, sno("none"), features.ID("NUTANIX_INTEGRATION"))
	require.NotContains(t, sno("none"), features.ID("VSPHERE_INTEGRATION"))
	require.Contains(t, sno("none"), features.ID("ODF"))
}

func TestCheckPlatform(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		setting features.Setting
		want    string
	}{
		{"any platform", features.Setting{Version: "4.20", Architecture: "s390x"}, ""},
		{"external on s390x", features.Setting{Version: "4.14", Architecture: "s390x", Platform: "external"}, ""},
		{"no version", features.Setting{Platform: "vsphere"}, ""},
		{"an architecture the version lacks", features.Setting{Version: "4.9", Architecture: "arm64"}, "cpu_architecture"},
		{"Nutanix on arm64", features.Setting{Version: "4.20", Architecture: "arm64", Platform: "nutanix"}, "platform_type"},
		{"external before 4.14", features.Setting{Version: "4.13", Platform: "external"}, "platform_type"},
		{
			"OCI on ppc64le",
			features.Setting{Version: "4.20", Architecture: "ppc64le", Platform: "external", ExternalName: "oci"},
			"oci",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := features.CheckPlatform(tt.setting)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestEveryFeatureHasALevelEverywhere(t *testing.T) {
	t.Parallel()
	seen := map[features.ID]bool{}
	for _, s := range settings() {
		list, err := operators.Features.Detailed(s)
		require.NoError(t, err, s)
		excluded := map[features.ID][]features.ID{}
		for _, f := range list {
			seen[f.ID] = true
			excluded[f.ID] = f.Incompatibilities
			require.True(t, wire.FeatureSupportLevelID(f.ID).Valid(), f.ID)
			require.True(t, wire.SupportLevel(f.Level).Valid(), f.Level)
			require.NotEqual(t, string(f.ID), operators.Features.Name(f.ID), "a feature has a name")
			require.Equal(
				t,
				f.Level == features.LevelUnavailable || f.Level == features.LevelUnsupported,
				f.Reason != "",
				"%s in %+v",
				f.ID,
				s,
			)
		}
		for id, others := range excluded {
			for _, other := range others {
				// openshift/assisted-service lists these two in one direction only.
				alone := id == features.LVM && (other == features.VIPAutoAlloc || other == features.ClusterManagedNetworking)
				if back, shown := excluded[other]; shown && !alone {
					require.Contains(t, back, id, "%s excludes %s in %+v, but not the other way round", id, other, s)
				}
			}
		}
	}
	require.Len(t, seen, 56+len(beyondV2), "every feature of v2 and of beyondV2")
}

func TestLevelsByVersionArchitectureAndPlatform(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		setting features.Setting
		feature features.ID
		level   features.Level
		reason  features.Reason
	}{
		{"offers OpenShift SDN before 4.15", features.Setting{Version: "4.14.71"}, features.SDN, features.LevelSupported, ""},
		{
			"has no OpenShift SDN from 4.15 on",
			features.Setting{Version: "4.15.0-rc.1"},
			features.SDN,
			features.LevelUnavailable, features.ReasonVersion,
		},
		{"previews an arbiter in 4.19", features.Setting{Version: "4.19"}, features.TNA, features.LevelTechPreview, ""},
		{"supports an arbiter from 4.20 on", features.Setting{Version: "4.20.33"}, features.TNA, features.LevelSupported, ""},
		{
			"has no arbiter on vsphere",
			features.Setting{Version: "4.20", Platform: "vsphere"},
			features.TNA,
			features.LevelUnavailable, features.ReasonPlatform,
		},
		{
			"previews single nodes on s390x in 4.13",
			features.Setting{Version: "4.13", Architecture: "s390x"},
			features.SNO,
			features.LevelDevPreview, "",
		},
		{
			"has no single nodes on s390x in 4.12",
			features.Setting{Version: "4.12", Architecture: "s390x"},
			features.SNO,
			features.LevelUnavailable, features.ReasonArchitecture,
		},
		{
			"has nothing on an architecture before its first version",
			features.Setting{Version: "4.9", Architecture: "arm64"},
			features.OVN, features.LevelUnavailable, features.ReasonArchitecture,
		},
		{
			"has no full image on OCI",
			features.Setting{Version: "4.18", Platform: "external", ExternalName: "oci"},
			features.FullISO, features.LevelUnavailable, features.ReasonOCI,
		},
		{
			"has a full image on another external platform",
			features.Setting{Version: "4.18", Platform: "external", ExternalName: "mine"},
			features.FullISO, features.LevelSupported, "",
		},
		{
			"has no minimal image on s390x",
			features.Setting{Version: "4.18", Architecture: "s390x"},
			features.MinimalISO,
			features.LevelUnavailable, features.ReasonArchitecture,
		},
		{
			"counts aarch64 as arm64",
			features.Setting{Version: "4.18", Architecture: "aarch64"},
			features.LSO,
			features.LevelUnavailable, features.ReasonArchitecture,
		},
		{
			"previews virtualization on arm64",
			features.Setting{Version: "4.18", Architecture: "arm64"},
			features.CNV,
			features.LevelDevPreview, "",
		},
		{
			"leaves networking to no platform",
			features.Setting{Version: "4.18", Platform: "none"},
			features.PlatformManagedNetworking, features.LevelSupported, "",
		},
		{
			"keeps networking on baremetal",
			features.Setting{Version: "4.18", Platform: "baremetal"},
			features.PlatformManagedNetworking, features.LevelUnsupported, features.ReasonPlatform,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, err := operators.Features.Detailed(tt.setting)
			require.NoError(t, err)
			i := slices.IndexFunc(list, func(f features.Support) bool { return f.ID == tt.feature })
			require.GreaterOrEqual(t, i, 0)
			require.Equal(t, tt.level, list[i].Level)
			require.Equal(t, tt.reason, list[i].Reason)
		})
	}
}

func TestAPlatformIsNoFeatureOnceChosen(t *testing.T) {
	t.Parallel()
	levels, err := operators.Features.Levels(features.Setting{Version: "4.22", Platform: "baremetal"})
	require.NoError(t, err)
	require.NotContains(t, levels, features.Baremetal)
	require.NotContains(t, levels, features.ExternalOCI)
	require.Contains(t, levels, features.SNO)
}

func TestArchitecturesByVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][]features.Level{
		"4.9":  {features.LevelUnavailable, features.LevelUnavailable, features.LevelUnavailable},
		"4.11": {features.LevelSupported, features.LevelUnavailable, features.LevelTechPreview},
		"4.12": {features.LevelSupported, features.LevelTechPreview, features.LevelTechPreview},
		"4.13": {features.LevelSupported, features.LevelSupported, features.LevelTechPreview},
	} {
		got, err := features.Architectures(version)
		require.NoError(t, err)
		require.Equal(t, features.LevelSupported, got[features.ArchitectureX8664], version)
		require.Equal(t, want[0], got[features.ArchitectureARM64], version)
		require.Equal(t, want[1], got[features.ArchitectureS390X], version)
		require.Equal(t, want[1], got[features.ArchitecturePPC64LE], version)
		require.Equal(t, want[2], got[features.ArchitectureMulti], version)
	}
}

func TestSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]features.Setting{
		"openshift_version":      {Version: "new"},
		"cpu_architecture":       {Version: "4.22", Architecture: "vax"},
		"external_platform_name": {Version: "4.22", Platform: "none", ExternalName: "oci"},
	} {
		_, err := operators.Features.Levels(s)
		require.ErrorIs(t, err, model.ErrInvalid)
		require.ErrorContains(t, err, name+": require ")
	}
	_, err := features.Architectures("new")
	require.ErrorIs(t, err, model.ErrInvalid)
}
