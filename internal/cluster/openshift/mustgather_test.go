package openshift_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
)

// The format follows data/default_must_gather_versions.json in openshift/assisted-service.
func TestMustGatherImages(t *testing.T) {
	t.Parallel()
	images, err := openshift.ParseMustGatherImages([]byte(`{
		"4.20-x86_64": {"cnv": "registry.redhat.io/cnv:v4.20", "ocs": "registry.redhat.io/odf:v4.20"},
		"4.20-arm64": {"lso": "registry.redhat.io/lso:v4.20"}
	}`))
	require.NoError(t, err)
	virtualization := map[string]string{"cnv": "registry.redhat.io/cnv:v4.20", "ocs": "registry.redhat.io/odf:v4.20"}
	for name, c := range map[string]struct {
		version, architecture string
		want                  map[string]string
	}{
		"of its version":            {"4.20.33", "x86_64", virtualization},
		"of a pre-release of it":    {"4.20.0-rc.1", "arm64", map[string]string{"lso": "registry.redhat.io/lso:v4.20"}},
		"by another name":           {"4.20.1", "aarch64", map[string]string{"lso": "registry.redhat.io/lso:v4.20"}},
		"none of another version":   {"4.2.0", "x86_64", nil},
		"none of other machines":    {"4.20.1", "s390x", nil},
		"none without a version":    {"", "x86_64", nil},
		"none of an unknown format": {"newest", "x86_64", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, images.For(&model.Cluster{OpenShiftVersion: c.version, CPUArchitecture: c.architecture}))
		})
	}
	require.Nil(t, openshift.MustGatherImages(nil).For(&model.Cluster{OpenShiftVersion: "4.20.1"}))
}

func TestMustGatherImagesThatAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                    "require a JSON object of objects",
		`{"4.20": {}}`:          `require keys of a minor version and an architecture, such as 4.20-x86_64, found "4.20"`,
		`{"4.20.1-x86_64": {}}`: `found "4.20.1-x86_64"`,
		`{"4.20-x86_64": {"mce": "r.example/a"}}`: `4.20-x86_64: require one of ocp, cnv, lso, ocs, odf, found "mce"`,
		`{"4.20-x86_64": {"odf": "odf:v1"}}`:      `4.20-x86_64: odf: require an image with its registry, found "odf:v1"`,
	} {
		_, err := openshift.ParseMustGatherImages([]byte(text))
		require.ErrorIs(t, err, model.ErrInvalid, text)
		require.ErrorContains(t, err, want, text)
	}
}
