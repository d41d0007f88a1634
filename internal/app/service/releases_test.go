package service

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/app/settings"
)

const source = `[{"openshift_version":"4.22","multi_cpu_architectures":[],"upgrade_channels":[{"cpu_architecture":"x86_64","channels":["stable"]}]}]`

func TestReleaseSettings(t *testing.T) {
	t.Parallel()
	none, err := readReleases(settings.Releases{ReleaseImages: "[]", OSImages: " [] ", ReleaseSources: "", BaseDNSDomains: `""`})
	require.NoError(t, err)
	require.Len(t, none.catalogue.List(), 1, "a deployment that names nothing gets what is shipped")
	require.Empty(t, none.sources)
	require.Empty(t, none.domains)

	found, err := readReleases(settings.Releases{
		ReleaseSources: source, BaseDNSDomains: "example.com:Z1/route53",
		OSImages: `[{"openshift_version":"4.22","cpu_architecture":"x86_64","url":"https://mirror.example/a.iso","version":"9"}]`,
	})
	require.NoError(t, err)
	require.Empty(t, found.catalogue.List(), "sources fill the list")
	require.Len(t, found.sources, 1)
	require.Len(t, found.osImages, 1)
	require.Len(t, found.domains, 1)

	given, err := readReleases(settings.Releases{ReleaseSources: source, ReleaseImages: `[{"version":"4.22.0","cpu_architecture":"x86_64"}]`})
	require.NoError(t, err)
	require.Len(t, given.catalogue.List(), 1)
}

func TestReleaseSettingsAreNamedWhenTheyAreRefused(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]settings.Releases{
		"RELEASE_IMAGES":   {ReleaseImages: "{"},
		"OS_IMAGES":        {OSImages: "{"},
		"RELEASE_SOURCES":  {ReleaseSources: "{"},
		"BASE_DNS_DOMAINS": {BaseDNSDomains: "example.com"},
	} {
		_, err := readReleases(o)
		require.ErrorContains(t, err, "read "+name+": ")
	}
	_, err := settings.WebAddress("OCM_BASE_URL", "example.com")
	require.ErrorContains(t, err, "read OCM_BASE_URL: require an address")
}
