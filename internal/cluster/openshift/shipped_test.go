package openshift_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
)

// minors are the versions that a user without settings can install.
var minors = []string{"4.14", "4.15", "4.16", "4.17", "4.18", "4.19", "4.20", "4.21", "4.22"}

func TestShippedReleasesServeFourArchitectures(t *testing.T) {
	t.Parallel()
	catalogue := openshift.NewCatalogue(openshift.DefaultReleases())
	for _, minor := range minors {
		for _, architecture := range []string{"x86_64", "arm64", "ppc64le", "s390x"} {
			r, _, err := catalogue.Choose(openshift.Wish{Version: minor, Architecture: architecture})
			require.NoError(t, err, "%s %s", minor, architecture)
			require.True(t, strings.HasPrefix(r.Image, "quay.io/openshift-release-dev/ocp-release:"+minor+"."), r.Image)
			suffix := map[string]string{"x86_64": "-x86_64", "arm64": "-aarch64", "ppc64le": "-multi", "s390x": "-multi"}[architecture]
			require.True(t, strings.HasSuffix(r.Image, suffix), "%s %s: %s", minor, architecture, r.Image)
		}
	}
	newest, err := openshift.DefaultReleases().Find("")
	require.NoError(t, err)
	require.Equal(t, "4.22.9", newest.Version)
	require.Equal(t, "production", newest.SupportLevel)
	_, err = openshift.DefaultReleases().Find("4.13")
	require.Error(t, err)
}

func TestShippedImagesAreOneForEachVersionAndArchitecture(t *testing.T) {
	t.Parallel()
	images := openshift.DefaultOSImages()
	for _, minor := range minors {
		for name, folder := range map[string]string{"x86_64": "x86_64", "arm64": "aarch64", "ppc64le": "ppc64le", "s390x": "s390x"} {
			image, found, err := images.Lookup(minor, name, "")
			require.NoError(t, err)
			require.True(t, found, "%s %s", minor, name)
			require.Equal(t, minor, image.OpenShiftVersion, name)
			u, err := url.Parse(image.URL)
			require.NoError(t, err)
			require.Equal(t, "mirror.openshift.com", u.Host)
			require.Contains(t, u.Path, "/pub/openshift-v4/"+folder+"/dependencies/rhcos/"+minor+"/")
			require.True(t, strings.HasSuffix(u.Path, "."+folder+".iso"), u.Path)
		}
	}
}

func TestShippedSourcesReadTheStableChannelOfReleasedVersions(t *testing.T) {
	t.Parallel()
	channels := map[string][]string{}
	for _, q := range openshift.Questions(openshift.DefaultReleaseSources()) {
		channels[q.ChannelName()] = append(channels[q.ChannelName()], q.CPUArchitecture)
	}
	for _, minor := range minors {
		require.ElementsMatch(t, []string{"x86_64", "arm64", "ppc64le", "s390x", "multi"}, channels["stable-"+minor], minor)
	}
	require.Contains(t, channels, "candidate-5.0")
}

func TestReleasesAreWrittenAsTheyAreRead(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one image for all": `[{"version":"4.22.9-multi","cpu_architecture":"multi","cpu_architectures":["x86_64","s390x"],"url":"q/r:4.22.9-multi"}]`,
		"one for each": `[
			{"version":"4.22.9","cpu_architecture":"x86_64","url":"q/r:4.22.9-x86_64","default":true},
			{"version":"4.22.9","cpu_architecture":"arm64","url":"q/r:4.22.9-aarch64"},
			{"version":"5.0.0-ec.5","cpu_architecture":"x86_64","url":"q/r:5.0.0-ec.5"}]`,
	} {
		list, err := openshift.ParseReleases([]byte(text))
		require.NoError(t, err, name)
		data, err := json.Marshal(list.Items())
		require.NoError(t, err)
		again, err := openshift.ParseReleases(data)
		require.NoError(t, err, "%s: %s", name, data)
		require.Equal(t, list, again, name)
	}
	shipped := openshift.DefaultReleases()
	data, err := json.Marshal(shipped.Items())
	require.NoError(t, err)
	again, err := openshift.ParseReleases(data)
	require.NoError(t, err)
	require.Equal(t, shipped, again)
}

func TestFilesOfVersionsAreChecked(t *testing.T) {
	t.Parallel()
	const releases = `[{"version":"4.22.9","cpu_architecture":"x86_64","url":"q/r:1"}]`
	const images = `[{"openshift_version":"4.22","cpu_architecture":"x86_64","url":"https://mirror.example/a.iso","version":"9"}]`
	_, list, offered, err := openshift.ParseVersions([]byte(`{"release_images":` + releases + `,"os_images":` + images + `}`))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Len(t, offered, 1)
	for want, text := range map[string]string{
		"require an object": `[]`,
		"release_images: ":  `{"release_images":[],"os_images":` + images + `}`,
		"os_images: ":       `{"release_images":` + releases + `,"os_images":[{}]}`,
	} {
		_, _, _, err := openshift.ParseVersions([]byte(text))
		require.ErrorContains(t, err, want)
	}
}
