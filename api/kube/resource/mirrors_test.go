package resource_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api/kube/resource"
)

func TestConfigMapsWithoutMirrorsAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":            "require registries.conf, found none",
		"[[registry]": "require a registries.conf in TOML",
		"[[registry]]\n[[registry.mirror]]\nlocation = \"m\"": "registries.conf: require locations of registry 1 and its mirrors, found none",
		"[[registry]]\nlocation = \"a\"\n[[registry.mirror]]": "registries.conf: require locations of registry 1 and its mirrors, found none",
	} {
		_, err := resource.ReadMirrors(map[string]string{"registries.conf": text})
		require.ErrorContains(t, err, want)
	}
}
