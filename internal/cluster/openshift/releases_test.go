package openshift_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
)

// deployed is a list as deployments have it: an item for each image.
const deployed = `[
	{"openshift_version":"4.21","cpu_architecture":"x86_64","version":"4.21.28","url":"reg/ocp:4.21.28-x86_64","support_level":"maintenance"},
	{"openshift_version":"4.21","cpu_architecture":"arm64","version":"4.21.27","url":"reg/ocp:4.21.27-aarch64"},
	{"openshift_version":"4.22","cpu_architecture":"aarch64","version":"4.22.9","url":"reg/ocp:4.22.9-aarch64"},
	{"openshift_version":"4.22","cpu_architecture":"x86_64","cpu_architectures":["x86_64"],"version":"4.22.9","url":"reg/ocp:4.22.9-x86_64","default":true},
	{"openshift_version":"4.22-multi","cpu_architecture":"multi","cpu_architectures":["x86_64","arm64","ppc64le","s390x"],"version":"4.22.9-multi","url":"reg/ocp:4.22.9-multi"},
	{"openshift_version":"5.0","cpu_architecture":"x86_64","version":"5.0.0-ec.5","url":"reg/ocp:5.0.0-ec.5-x86_64"}]`

func catalogue(t *testing.T) *openshift.Catalogue {
	t.Helper()
	list, err := openshift.ParseReleases([]byte(deployed))
	require.NoError(t, err)
	return openshift.NewCatalogue(list)
}

func TestReleasesOfADeployment(t *testing.T) {
	t.Parallel()
	list := catalogue(t).List()
	require.Equal(t, []string{"5.0.0-ec.5", "4.22.9", "4.22.9-multi", "4.21.28", "4.21.27"}, versions(list))
	require.Equal(t, []string{"5.0.0-ec.5", "4.22.9", "4.22.9-multi", "4.21.28"}, versions(list.Latest()))
	require.Equal(t, "beta", list[0].SupportLevel)
	require.Equal(t, []string{"arm64", "x86_64"}, list[1].CPUArchitectures)
	require.Equal(t, "reg/ocp:4.22.9-x86_64", list[1].Image, "the image of a cluster of which nothing is said")
	require.True(t, list[1].Default)
	require.Equal(t, "production", list[2].SupportLevel)
	require.True(t, list[2].Multi())
	require.Equal(t, "maintenance", list[3].SupportLevel)
	require.Equal(t, "4.21", list[4].OpenShiftVersion)
}

func TestReleasesMatchingAVersion(t *testing.T) {
	t.Parallel()
	list := catalogue(t).List()
	for asked, want := range map[string][]string{
		"":       versions(list),
		"4.22":   {"4.22.9", "4.22.9-multi"},
		"4.22.9": {"4.22.9", "4.22.9-multi"},
		"4":      {"4.22.9", "4.22.9-multi", "4.21.28", "4.21.27"},
		"4.2":    {},
	} {
		got, err := list.Matching(asked)
		require.NoError(t, err)
		require.Equal(t, want, versions(got), asked)
	}
	_, err := list.Matching("latest")
	require.ErrorIs(t, err, model.ErrInvalid)
}

func TestChooseARelease(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                         string
		wish                         openshift.Wish
		version, architecture, image string
	}{
		{"takes the default", openshift.Wish{}, "4.22.9", "x86_64", "reg/ocp:4.22.9-x86_64"},
		{"takes the newest of a minor version", openshift.Wish{Version: "4.21"}, "4.21.28", "x86_64", "reg/ocp:4.21.28-x86_64"},
		{
			"takes the newest for the architecture",
			openshift.Wish{Version: "4.21", Architecture: "arm64"},
			"4.21.27", "arm64",
			"reg/ocp:4.21.27-aarch64",
		},
		{
			"keeps the name of the architecture",
			openshift.Wish{Version: "4.22.9", Architecture: "aarch64"},
			"4.22.9", "aarch64",
			"reg/ocp:4.22.9-aarch64",
		},
		{
			"takes the build for several",
			openshift.Wish{Version: "4.22", Architecture: "multi"},
			"4.22.9-multi", "multi",
			"reg/ocp:4.22.9-multi",
		},
		{
			"takes it for an architecture that no other has",
			openshift.Wish{Version: "4.22", Architecture: "s390x"},
			"4.22.9-multi",
			"multi", "reg/ocp:4.22.9-multi",
		},
		{
			"makes a cluster of it one for several",
			openshift.Wish{Version: "4.22.9-multi", Architecture: "x86_64"},
			"4.22.9-multi",
			"multi", "reg/ocp:4.22.9-multi",
		},
		{"finds it by its minor version", openshift.Wish{Version: "4.22-multi"}, "4.22.9-multi", "multi", "reg/ocp:4.22.9-multi"},
		{"finds an image", openshift.Wish{Version: "4.22", Image: "reg/ocp:4.22.9-aarch64"}, "4.22.9", "arm64", "reg/ocp:4.22.9-aarch64"},
		{
			"finds an image for several",
			openshift.Wish{Image: "reg/ocp:4.22.9-multi", Architecture: "x86_64"},
			"4.22.9-multi", "multi",
			"reg/ocp:4.22.9-multi",
		},
		{
			"takes any image where that is allowed",
			openshift.Wish{Version: "4.22", Image: "mine/ocp:1", AnyImage: true},
			"4.22.9",
			"x86_64", "mine/ocp:1",
		},
		{
			"takes any version with it",
			openshift.Wish{Version: "4.30.1", Architecture: "arm64", Image: "mine/ocp:1", AnyImage: true},
			"4.30.1", "arm64", "mine/ocp:1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, architecture, err := catalogue(t).Choose(tt.wish)
			require.NoError(t, err)
			require.Equal(t, []string{tt.version, tt.architecture, tt.image}, []string{r.Version, architecture, r.Image})
		})
	}
	for name, wish := range map[string]openshift.Wish{
		"an architecture without a release":  {Version: "4.21.28", Architecture: "s390x"},
		"several where no build is for them": {Version: "4.21", Architecture: "multi"},
		"a version that is not available":    {Version: "4.9"},
		"an image that is not available":     {Version: "4.22", Image: "mine/ocp:1"},
		"an image of another version":        {Version: "4.21", Image: "reg/ocp:4.22.9-x86_64"},
		"a minor version with any image":     {Version: "4.30", Image: "mine/ocp:1", AnyImage: true},
		"an image of another architecture":   {Image: "reg/ocp:4.21.28-x86_64", Architecture: "s390x"},
	} {
		_, _, err := catalogue(t).Choose(wish)
		require.ErrorIs(t, err, model.ErrInvalid, name)
	}
}

func TestChooseTheOneImageOfAReleaseForAnyOfItsArchitectures(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseReleases([]byte(`[{"version":"4.22.0","cpu_architectures":["x86_64","arm64"],"url":"reg/ocp:4.22.0"}]`))
	require.NoError(t, err)
	for _, architecture := range []string{"x86_64", "arm64", "multi"} {
		r, got, err := openshift.NewCatalogue(list).Choose(openshift.Wish{Version: "4.22", Architecture: architecture})
		require.NoError(t, err)
		require.Equal(t, architecture, got)
		require.Equal(t, "reg/ocp:4.22.0", r.Image)
	}
}

func TestReleasesOfADeploymentAreRefused(t *testing.T) {
	t.Parallel()
	for want, item := range map[string]string{
		"openshift_version: require":      `{"openshift_version":"new","version":"4.22.0","cpu_architecture":"x86_64"}`,
		"found \"vax\"":                   `{"version":"4.22.0","cpu_architecture":"vax"}`,
		"support_level: require":          `{"version":"4.22.0","cpu_architecture":"x86_64","support_level":"best"}`,
		"those that image multi serves":   `{"version":"4.22.0","cpu_architecture":"multi"}`,
		"multi or one of":                 `{"version":"4.22.0","cpu_architecture":"arm64","cpu_architectures":["x86_64"]}`,
		"4.22.0 for x86_64 twice":         `{"version":"4.22.0","cpu_architecture":"x86_64"},{"version":"4.22.0","cpu_architecture":"x86_64"}`,
		"at most one default, found 2":    `{"version":"4.22.0","cpu_architecture":"x86_64","default":true},{"version":"4.22.1","cpu_architecture":"x86_64","default":true}`,
		"version: require one such as":    `{"openshift_version":"4.22","cpu_architecture":"x86_64"}`,
		"require at least one, found non": `{"version":"4.22.0"}`,
	} {
		_, err := openshift.ParseReleases([]byte("[" + item + "]"))
		require.ErrorContains(t, err, want)
	}
}

func TestCatalogueIsExtended(t *testing.T) {
	t.Parallel()
	c := catalogue(t)
	sources, err := openshift.ParseReleaseSources(
		[]byte(`[{"openshift_version":"4.22","multi_cpu_architectures":["x86_64"],"upgrade_channels":[
		{"cpu_architecture":"x86_64","channels":["candidate","stable"]},{"cpu_architecture":"ppc64le","channels":["fast"]},{"cpu_architecture":"multi","channels":["stable"]}]}]`),
	)
	require.NoError(t, err)
	questions := openshift.Questions(sources)
	require.Len(t, questions, 4)
	require.Equal(t, "candidate-4.22", questions[0].ChannelName())
	require.Equal(t, "amd64", questions[0].GraphArchitecture())
	c.Extend(openshift.ReleasesIn([]openshift.Answer{
		{Question: questions[0], Versions: []string{"4.22.10", "4.22.11"}},
		{Question: questions[1], Versions: []string{"4.22.10", "4.22.9", "4.21.28"}},
		{Question: questions[2], Versions: []string{"4.22.9"}},
		{Question: questions[3], Versions: []string{"4.22.10"}},
	}, nil))
	list := c.List()
	require.Equal(
		t,
		[]string{"5.0.0-ec.5", "4.22.11", "4.22.10", "4.22.10-multi", "4.22.9", "4.22.9-multi", "4.21.28", "4.21.27"},
		versions(list),
	)
	require.Equal(t, "beta", list[1].SupportLevel)
	require.Equal(t, "production", list[2].SupportLevel, "it is in a stable channel too")
	require.Equal(t, []string{"arm64", "x86_64", "ppc64le"}, list[4].CPUArchitectures)
	require.True(t, list[4].Default, "the settings decide")
	r, _, err := c.Choose(openshift.Wish{Version: "4.22.9"})
	require.NoError(t, err)
	require.Equal(t, "reg/ocp:4.22.9-x86_64", r.Image, "the settings win")
	c.Extend(nil)
	require.Len(t, c.List(), 5, "what was found before is replaced")
}

func TestReleaseSourcesAreRefused(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		"read release sources":             `{`,
		"openshift_version: require":       `[{"openshift_version":"4.22.1"}]`,
		"multi_cpu_architectures: require": `[{"openshift_version":"4.22","upgrade_channels":[{"cpu_architecture":"multi","channels":["stable"]}]}]`,
		"found \"vax\"":                    `[{"openshift_version":"4.22","upgrade_channels":[{"cpu_architecture":"vax","channels":["stable"]}]}]`,
		"found \"sparc\"":                  `[{"openshift_version":"4.22","multi_cpu_architectures":["sparc"]}]`,
		"found \"slow\"":                   `[{"openshift_version":"4.22","upgrade_channels":[{"cpu_architecture":"x86_64","channels":["slow"]}]}]`,
		"found 4.22 twice":                 `[{"openshift_version":"4.22"},{"openshift_version":"4.22"}]`,
	} {
		_, err := openshift.ParseReleaseSources([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func TestDomains(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", `""`, " , "} {
		got, err := openshift.ParseDomains(text)
		require.NoError(t, err)
		require.Empty(t, got)
	}
	got, err := openshift.ParseDomains("example.com:Z01/route53, lab.example.org:Z02/route53")
	require.NoError(t, err)
	require.Equal(t, []openshift.ManagedDomain{
		{Name: "example.com", ID: "Z01", Provider: "route53"}, {Name: "lab.example.org", ID: "Z02", Provider: "route53"},
	}, got)
	for _, text := range []string{"example.com", "example.com:Z01", "example.com:Z01/bind", ":Z01/route53", "a.b:1/route53,a.b:2/route53"} {
		_, err := openshift.ParseDomains(text)
		require.Error(t, err, text)
	}
}
