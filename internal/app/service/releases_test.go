package service

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/app/settings"
)

const source = `[{"openshift_version":"4.22","multi_cpu_architectures":[],"upgrade_channels":[{"cpu_architecture":"x86_64","channels":["stable"]}]}]`

func TestReleaseSettings(t *testing.T) {
	t.Parallel()
	unset, err := readReleases(settings.Releases{BaseDNSDomains: `""`}, t.TempDir())
	require.NoError(t, err)
	require.Greater(t, len(unset.catalogue.List()), 10, "a deployment that sets nothing gets the shipped lists")
	require.Greater(t, len(unset.sources), 5)
	require.Greater(t, len(unset.osImages), 30)
	require.True(t, unset.onDemand)
	require.Empty(t, unset.domains)

	none, err := readReleases(settings.Releases{ReleaseImages: "[]", OSImages: " [ ] ", ReleaseSources: "[]"}, t.TempDir())
	require.NoError(t, err)
	require.Empty(t, none.catalogue.List())
	require.Empty(t, none.sources)
	require.Empty(t, none.osImages)

	found, err := readReleases(settings.Releases{
		ReleaseImages: "[]", ReleaseSources: source, BaseDNSDomains: "example.com:Z1/route53",
		OSImages: `[{"openshift_version":"4.22","cpu_architecture":"x86_64","url":"https://mirror.example/a.iso","version":"9"}]`,
	}, t.TempDir())
	require.NoError(t, err)
	require.Empty(t, found.catalogue.List(), "sources fill the list")
	require.Len(t, found.sources, 1)
	require.Len(t, found.osImages, 1)
	require.False(t, found.onDemand)
	require.Len(t, found.domains, 1)

	given, err := readReleases(settings.Releases{ReleaseImages: `[{"version":"4.22.0","cpu_architecture":"x86_64"}]`}, t.TempDir())
	require.NoError(t, err)
	require.Len(t, given.catalogue.List(), 1)
	require.Empty(t, given.sources, "a list of the settings is not extended unless the settings say so")
}

func TestReleaseSettingsAreNamedWhenTheyAreRefused(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]settings.Releases{
		"RELEASE_IMAGES":   {ReleaseImages: "{"},
		"OS_IMAGES":        {OSImages: "{"},
		"RELEASE_SOURCES":  {ReleaseSources: "{"},
		"BASE_DNS_DOMAINS": {BaseDNSDomains: "example.com"},
	} {
		_, err := readReleases(o, t.TempDir())
		require.ErrorContains(t, err, "read "+name+": ")
	}
	_, err := settings.WebAddress("OCM_BASE_URL", "example.com")
	require.ErrorContains(t, err, "read OCM_BASE_URL: require an address")
}
