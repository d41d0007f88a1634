package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api/kube/cluster"
	"slipway/api/kube/resource"
)

// registriesConf has an entry of each kind.
const registriesConf = `
unqualified-search-registries = ["registry.example.com"]

[[registry]]
prefix = ""
location = "quay.io/openshift-release-dev/ocp-release/"
mirror-by-digest-only = true
[[registry.mirror]]
location = "mirror.example.com:5000/ocp/"
[[registry.mirror]]
location = "second.example.com/ocp"
insecure = true

[[registry]]
location = "quay.io/tools"
insecure = true
[[registry.mirror]]
location = "mirror.example.com:5000/tags"
pull-from-mirror = "tag-only"
[[registry.mirror]]
location = "mirror.example.com:5000/digests"
pull-from-mirror = "digest-only"
[[registry.mirror]]
location = "mirror.example.com:5000/all"
pull-from-mirror = "all"
[[registry.mirror]]
location = "mirror.example.com:5000/unsaid"

[[registry]]
location = "docker.io"
blocked = true
`

func TestMirrorsAreInTheInstallConfigAndInManifests(t *testing.T) {
	t.Parallel()
	mirrors, err := resource.ReadMirrors(map[string]string{"registries.conf": registriesConf, "ca-bundle.crt": "PEM"})
	require.NoError(t, err)
	overrides, manifests, err := cluster.Mirrored(`{"fips":true}`, mirrors)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"fips": true, "additionalTrustBundle": "PEM",
		"imageDigestSources": [
			{"source": "quay.io/openshift-release-dev/ocp-release", "mirrors": ["mirror.example.com:5000/ocp", "second.example.com/ocp"]},
			{"source": "quay.io/tools", "mirrors": [
				"mirror.example.com:5000/digests", "mirror.example.com:5000/all", "mirror.example.com:5000/unsaid"]}
		]}`, overrides)
	require.Len(t, manifests, 2)
	require.JSONEq(t, `{"apiVersion":"config.openshift.io/v1","kind":"ImageTagMirrorSet","metadata":{"name":"slipway"},"spec":{"imageTagMirrors":[
		{"source":"quay.io/tools","mirrors":["mirror.example.com:5000/tags","mirror.example.com:5000/all"]}]}}`,
		manifests["image-tag-mirror-set.yaml"])
	require.JSONEq(t, `{"apiVersion":"config.openshift.io/v1","kind":"Image","metadata":{"name":"cluster"},
		"spec":{"registrySources":{"insecureRegistries":["quay.io/tools","second.example.com/ocp"]}}}`, manifests["image-config.yaml"])

	for annotation, refused := range map[string]string{
		"{": "read annotation agent-install.openshift.io/install-config-overrides: ",
		`{"imageDigestSources":[]}`: "require imageDigestSources of spec.mirrorRegistryRef or of annotation " +
			"agent-install.openshift.io/install-config-overrides, found both",
	} {
		_, _, err = cluster.Mirrored(annotation, mirrors)
		require.ErrorContains(t, err, refused)
	}

	overrides, manifests, err = cluster.Mirrored(`{"fips":true}`, nil)
	require.NoError(t, err)
	require.Empty(t, manifests)
	require.Equal(t, `{"fips":true}`, overrides, "without mirrors the annotation stays as it is written")
}
