package openshift_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// beyondV2 are features that the v2 API does not have, with the reason of each.
var beyondV2 = map[openshift.FeatureID]string{}

// recorded are levels that a service of the contract answered with.
type recorded struct {
	Levels422     map[openshift.FeatureID]openshift.Level      `json:"features_4.22"`
	Levels418     map[openshift.FeatureID]openshift.Level      `json:"features_4.18"`
	Architectures map[openshift.ArchitectureID]openshift.Level `json:"architectures_4.22"`
	Detailed      []wire.Operator                              `json:"detailed_4.22"`
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
	got, err := openshift.Levels(openshift.Setting{Version: "4.22"})
	require.NoError(t, err)
	for id := range beyondV2 {
		require.Contains(t, got, id)
		delete(got, id)
	}
	require.Equal(t, r.Levels422, got)
	got, err = openshift.Levels(openshift.Setting{Version: "4.18.52-multi", Architecture: "x86_64"})
	require.NoError(t, err)
	for id, level := range r.Levels418 {
		require.Equal(t, level, got[id], id)
	}
	architectures, err := openshift.Architectures("4.22")
	require.NoError(t, err)
	require.Equal(t, r.Architectures, architectures)
}

func TestDetailsAreThoseRecorded(t *testing.T) {
	t.Parallel()
	got, err := openshift.Detailed(openshift.Setting{Version: "4.22", Architecture: "x86_64"})
	require.NoError(t, err)
	list := readRecorded(t).Detailed
	require.Len(t, got, len(list)+len(beyondV2))
	operators := 0
	for _, want := range list {
		i := slices.IndexFunc(got, func(f openshift.FeatureSupport) bool { return string(f.ID) == string(want.FeatureSupportLevelID) })
		require.GreaterOrEqual(t, i, 0, want.FeatureSupportLevelID)
		f := got[i]
		require.Equal(t, string(want.SupportLevel), string(f.Level), f.ID)
		require.Equal(t, string(want.Reason), string(f.Reason), f.ID)
		require.Equal(t, want.Name, f.Operator, f.ID)
		require.ElementsMatch(t, texts(want.Incompatibilities), texts(f.Incompatibilities), f.ID)
		require.ElementsMatch(t, texts(want.Dependencies), texts(f.Dependencies), f.ID)
		if f.Operator != "" {
			operators++
		}
	}
	require.Equal(t, 28, operators)
}

func texts[T ~string](list []T) []string {
	out := []string{}
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

// settings lists the corners of the table.
func settings() []openshift.Setting {
	var out []openshift.Setting
	for _, version := range []string{
		"", "4.5", "4.9", "4.10", "4.11", "4.12", "4.13", "4.14", "4.15", "4.17", "4.18", "4.19", "4.20", "4.22.9", "5.0.0-ec.5",
	} {
		for _, architecture := range []string{"", "aarch64", "ppc64le", "s390x", "multi"} {
			for _, platform := range []string{"", "baremetal", "none", "nutanix", "vsphere", "external"} {
				out = append(out, openshift.Setting{Version: version, Architecture: architecture, Platform: platform})
			}
			out = append(out, openshift.Setting{Version: version, Architecture: architecture, Platform: "external", ExternalName: "oci"})
		}
	}
	return out
}

// TestChosenPlatformExcludesNoOther: openshift/assisted-service leaves the platforms out of every list of features
// that exclude each other once one is chosen (internal/featuresupport/feature_support_level.go).
func TestChosenPlatformExcludesNoOther(t *testing.T) {
	t.Parallel()
	sno := func(platform string) []openshift.FeatureID {
		list, err := openshift.Detailed(openshift.Setting{Version: "4.20", Platform: platform})
		require.NoError(t, err)
		i := slices.IndexFunc(list, func(f openshift.FeatureSupport) bool { return f.ID == "SNO" })
		return list[i].Incompatibilities
	}
	require.Contains(t, sno(""), openshift.FeatureID("NUTANIX_INTEGRATION"))
	require.NotContains(t, sno("none"), openshift.FeatureID("NUTANIX_INTEGRATION"))
	require.NotContains(t, sno("none"), openshift.FeatureID("VSPHERE_INTEGRATION"))
	require.Contains(t, sno("none"), openshift.FeatureID("ODF"))
}

func TestCheckPlatform(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		setting openshift.Setting
		want    string
	}{
		{"any platform", openshift.Setting{Version: "4.20", Architecture: "s390x"}, ""},
		{"external on s390x", openshift.Setting{Version: "4.14", Architecture: "s390x", Platform: "external"}, ""},
		{"no version", openshift.Setting{Platform: "vsphere"}, ""},
		{"an architecture the version lacks", openshift.Setting{Version: "4.9", Architecture: "arm64"}, "cpu_architecture"},
		{"Nutanix on arm64", openshift.Setting{Version: "4.20", Architecture: "arm64", Platform: "nutanix"}, "platform_type"},
		{"external before 4.14", openshift.Setting{Version: "4.13", Platform: "external"}, "platform_type"},
		{
			"OCI on ppc64le",
			openshift.Setting{Version: "4.20", Architecture: "ppc64le", Platform: "external", ExternalName: "oci"},
			"oci",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := openshift.CheckPlatform(tt.setting)
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
	seen := map[openshift.FeatureID]bool{}
	for _, s := range settings() {
		list, err := openshift.Detailed(s)
		require.NoError(t, err, s)
		excluded := map[openshift.FeatureID][]openshift.FeatureID{}
		for _, f := range list {
			seen[f.ID] = true
			excluded[f.ID] = f.Incompatibilities
			require.True(t, wire.FeatureSupportLevelID(f.ID).Valid(), f.ID)
			require.True(t, wire.SupportLevel(f.Level).Valid(), f.Level)
			require.NotEqual(t, string(f.ID), openshift.FeatureName(f.ID), "a feature has a name")
			require.Equal(
				t,
				f.Level == openshift.LevelUnavailable || f.Level == openshift.LevelUnsupported,
				f.Reason != "",
				"%s in %+v",
				f.ID,
				s,
			)
		}
		for id, others := range excluded {
			for _, other := range others {
				// openshift/assisted-service lists these two in one direction only.
				alone := id == openshift.FeatureLVM && (other == openshift.FeatureVIPAutoAlloc || other == openshift.FeatureClusterManagedNetworking)
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
		setting openshift.Setting
		feature openshift.FeatureID
		level   openshift.Level
		reason  openshift.Reason
	}{
		{"offers OpenShift SDN before 4.15", openshift.Setting{Version: "4.14.71"}, openshift.FeatureSDN, openshift.LevelSupported, ""},
		{
			"has no OpenShift SDN from 4.15 on",
			openshift.Setting{Version: "4.15.0-rc.1"},
			openshift.FeatureSDN,
			openshift.LevelUnavailable, openshift.ReasonVersion,
		},
		{"previews an arbiter in 4.19", openshift.Setting{Version: "4.19"}, openshift.FeatureTNA, openshift.LevelTechPreview, ""},
		{"supports an arbiter from 4.20 on", openshift.Setting{Version: "4.20.33"}, openshift.FeatureTNA, openshift.LevelSupported, ""},
		{
			"has no arbiter on vsphere",
			openshift.Setting{Version: "4.20", Platform: "vsphere"},
			openshift.FeatureTNA,
			openshift.LevelUnavailable, openshift.ReasonPlatform,
		},
		{
			"previews single nodes on s390x in 4.13",
			openshift.Setting{Version: "4.13", Architecture: "s390x"},
			openshift.FeatureSNO,
			openshift.LevelDevPreview, "",
		},
		{
			"has no single nodes on s390x in 4.12",
			openshift.Setting{Version: "4.12", Architecture: "s390x"},
			openshift.FeatureSNO,
			openshift.LevelUnavailable, openshift.ReasonArchitecture,
		},
		{
			"has nothing on an architecture before its first version",
			openshift.Setting{Version: "4.9", Architecture: "arm64"},
			openshift.FeatureOVN, openshift.LevelUnavailable, openshift.ReasonArchitecture,
		},
		{
			"has no full image on OCI",
			openshift.Setting{Version: "4.18", Platform: "external", ExternalName: "oci"},
			openshift.FeatureFullISO, openshift.LevelUnavailable, openshift.ReasonOCI,
		},
		{
			"has a full image on another external platform",
			openshift.Setting{Version: "4.18", Platform: "external", ExternalName: "mine"},
			openshift.FeatureFullISO, openshift.LevelSupported, "",
		},
		{
			"has no minimal image on s390x",
			openshift.Setting{Version: "4.18", Architecture: "s390x"},
			openshift.FeatureMinimalISO,
			openshift.LevelUnavailable, openshift.ReasonArchitecture,
		},
		{
			"counts aarch64 as arm64",
			openshift.Setting{Version: "4.18", Architecture: "aarch64"},
			openshift.FeatureLSO,
			openshift.LevelUnavailable, openshift.ReasonArchitecture,
		},
		{
			"previews virtualization on arm64",
			openshift.Setting{Version: "4.18", Architecture: "arm64"},
			openshift.FeatureCNV,
			openshift.LevelDevPreview, "",
		},
		{
			"leaves networking to no platform",
			openshift.Setting{Version: "4.18", Platform: "none"},
			openshift.FeaturePlatformManagedNetworking, openshift.LevelSupported, "",
		},
		{
			"keeps networking on baremetal",
			openshift.Setting{Version: "4.18", Platform: "baremetal"},
			openshift.FeaturePlatformManagedNetworking, openshift.LevelUnsupported, openshift.ReasonPlatform,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			list, err := openshift.Detailed(tt.setting)
			require.NoError(t, err)
			i := slices.IndexFunc(list, func(f openshift.FeatureSupport) bool { return f.ID == tt.feature })
			require.GreaterOrEqual(t, i, 0)
			require.Equal(t, tt.level, list[i].Level)
			require.Equal(t, tt.reason, list[i].Reason)
		})
	}
}

func TestAPlatformIsNoFeatureOnceChosen(t *testing.T) {
	t.Parallel()
	levels, err := openshift.Levels(openshift.Setting{Version: "4.22", Platform: "baremetal"})
	require.NoError(t, err)
	require.NotContains(t, levels, openshift.FeatureBaremetal)
	require.NotContains(t, levels, openshift.FeatureExternalOCI)
	require.Contains(t, levels, openshift.FeatureSNO)
}

func TestArchitecturesByVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][]openshift.Level{
		"4.9":  {openshift.LevelUnavailable, openshift.LevelUnavailable, openshift.LevelUnavailable},
		"4.11": {openshift.LevelSupported, openshift.LevelUnavailable, openshift.LevelTechPreview},
		"4.12": {openshift.LevelSupported, openshift.LevelTechPreview, openshift.LevelTechPreview},
		"4.13": {openshift.LevelSupported, openshift.LevelSupported, openshift.LevelTechPreview},
	} {
		got, err := openshift.Architectures(version)
		require.NoError(t, err)
		require.Equal(t, openshift.LevelSupported, got[openshift.ArchitectureX8664], version)
		require.Equal(t, want[0], got[openshift.ArchitectureARM64], version)
		require.Equal(t, want[1], got[openshift.ArchitectureS390X], version)
		require.Equal(t, want[1], got[openshift.ArchitecturePPC64LE], version)
		require.Equal(t, want[2], got[openshift.ArchitectureMulti], version)
	}
}

func TestSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]openshift.Setting{
		"openshift_version":      {Version: "new"},
		"cpu_architecture":       {Version: "4.22", Architecture: "vax"},
		"external_platform_name": {Version: "4.22", Platform: "none", ExternalName: "oci"},
	} {
		_, err := openshift.Levels(s)
		require.ErrorIs(t, err, model.ErrInvalid)
		require.ErrorContains(t, err, name+": require ")
	}
	_, err := openshift.Architectures("new")
	require.ErrorIs(t, err, model.ErrInvalid)
}
