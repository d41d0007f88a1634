package openshift_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
)

func TestOSImages(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseOSImages([]byte(`[
		{"openshift_version":"4.20","cpu_architecture":"x86_64","url":"https://mirror.example/4.20.iso","version":"9.6.20250"},
		{"openshift_version":"4.22","cpu_architecture":"x86_64","url":"https://mirror.example/4.22.iso","version":"9.8.1"},
		{"openshift_version":"4.22.5","cpu_architecture":"x86_64","url":"https://mirror.example/4.22.5.iso","version":"9.8.2"},
		{"openshift_version":"4.22","cpu_architecture":"aarch64","url":"https://mirror.example/4.22-arm.iso","version":"9.8.1"}]`))
	require.NoError(t, err)
	for asked, want := range map[string]string{
		"4.22": "4.22.iso", "4.22.5": "4.22.5.iso", "4.22.9-multi": "4.22.5.iso", "4.21.3": "4.20.iso", "": "4.22.5.iso",
		"4.22.1": "4.22.iso",
	} {
		image, err := list.Find(asked, "")
		require.NoError(t, err, asked)
		require.Equal(t, "https://mirror.example/"+want, image.URL, asked)
	}
	image, err := list.Find("4.22", "arm64")
	require.NoError(t, err)
	require.Equal(t, "arm64", image.CPUArchitecture)
	for _, asked := range [][2]string{{"4.19", "x86_64"}, {"4.22", "s390x"}, {"new", "x86_64"}} {
		_, err = list.Find(asked[0], asked[1])
		require.ErrorIs(t, err, model.ErrInvalid)
	}
}

func TestOKDHasImagesOfItsOwn(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseOSImages([]byte(`[
		{"openshift_version":"4.19","cpu_architecture":"x86_64","url":"https://mirror.example/rhcos-4.19.iso","version":"9.6.1"},
		{"openshift_version":"4.21","cpu_architecture":"x86_64","url":"https://mirror.example/rhcos-4.21.iso","version":"9.6.2"},
		{"openshift_version":"4.20.0-okd-scos.13","cpu_architecture":"x86_64","url":"https://mirror.example/scos.iso","version":"10.0.1"},
		{"openshift_version":"4.21.0-rc.1","cpu_architecture":"x86_64","url":"https://mirror.example/rc.iso","version":"9.6.3"}]`))
	require.NoError(t, err)
	for asked, want := range map[string]string{
		"4.20.0-okd-scos.13":             "scos.iso",
		"4.20.0-okd-scos.14":             "scos.iso",
		"4.21.0-okd-scos.1":              "scos.iso", // the newest older image of OKD
		"4.19.0-okd-scos.4":              "rhcos-4.19.iso",
		"4.20.9":                         "rhcos-4.19.iso", // no OpenShift boots the system of OKD
		"4.21.0-rc.1":                    "rc.iso",
		"4.15.0-0.okd-2024-03-10-010116": "",
	} {
		image, found, err := list.Lookup(asked, "x86_64", "")
		require.NoError(t, err, asked)
		require.Equal(t, want != "", found, asked)
		if found {
			require.Equal(t, "https://mirror.example/"+want, image.URL, asked)
		}
	}
}

func TestOSImagesAreRefused(t *testing.T) {
	t.Parallel()
	const good = `{"openshift_version":"4.22","cpu_architecture":"arm64","url":"https://mirror.example/a.iso","version":"9"}`
	for want, text := range map[string]string{
		"read operating system images": `{`,
		"openshift_version: require":   `[{"cpu_architecture":"x86_64","url":"https://a/b","version":"9"}]`,
		"found \"\"":                   `[{"openshift_version":"4.22","url":"https://a/b","version":"9"}]`,
		"found \"vax\"":                `[{"openshift_version":"4.22","cpu_architecture":"vax","url":"https://a/b","version":"9"}]`,
		"url of version 4.22":          `[{"openshift_version":"4.22","cpu_architecture":"x86_64","url":"a.iso","version":"9"}]`,
		"require one, found none":      `[{"openshift_version":"4.22","cpu_architecture":"x86_64","url":"https://a/b"}]`,
		"4.22 for arm64 twice":         "[" + good + "," + good + "]",
	} {
		_, err := openshift.ParseOSImages([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func TestOSImagesOfATypeAreApart(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseOSImages([]byte(`[
		{"openshift_version":"4.22","cpu_architecture":"x86_64","url":"https://mirror.example/all.iso","version":"9","type":"disconnected-iso"},
		{"openshift_version":"4.20","cpu_architecture":"x86_64","url":"https://mirror.example/live.iso","version":"9"}]`))
	require.NoError(t, err)
	image, err := list.Find("4.22", "x86_64")
	require.NoError(t, err)
	require.Equal(t, "https://mirror.example/live.iso", image.URL)
	image, found, err := list.Lookup("4.22", "x86_64", openshift.TypeDisconnectedISO)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "https://mirror.example/all.iso", image.URL)
	require.Equal(t, "4.22 (x86_64, disconnected-iso)", image.Key().String())
	_, found, err = list.Lookup("4.20", "x86_64", openshift.TypeDisconnectedISO)
	require.NoError(t, err)
	require.False(t, found)
}

func TestAMinorVersionIsServedByItsNewestPatch(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseOSImages([]byte(`[
		{"openshift_version":"4.22.3","cpu_architecture":"x86_64","url":"https://mirror.example/3.iso","version":"9"},
		{"openshift_version":"4.22.5","cpu_architecture":"x86_64","url":"https://mirror.example/5.iso","version":"9"},
		{"openshift_version":"4.20","cpu_architecture":"x86_64","url":"https://mirror.example/old.iso","version":"9"}]`))
	require.NoError(t, err)
	for asked, want := range map[string]string{"4.22": "5.iso", "4.22.4": "3.iso", "4.22.1": "old.iso", "4.21": "old.iso"} {
		image, err := list.Find(asked, "x86_64")
		require.NoError(t, err)
		require.Equal(t, "https://mirror.example/"+want, image.URL, asked)
	}
}

func TestOSImagesMayBeFiles(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("AB", 32)
	list, err := openshift.ParseOSImages([]byte(`[
		{"openshift_version":"4.22","cpu_architecture":"x86_64","url":"/srv/images/100%.iso","version":"9","sha256":"sha256:` + sum + `"},
		{"openshift_version":"4.21","cpu_architecture":"x86_64","url":"file:///srv/a%20b/../c.iso","version":"9"},
		{"openshift_version":"4.20","cpu_architecture":"x86_64","url":"http://mirror.example/a.iso","version":"9"}]`))
	require.NoError(t, err)
	require.Equal(t, "/srv/images/100%.iso", list[0].Path)
	require.Equal(t, strings.ToLower(sum), list[0].SHA256)
	require.Equal(t, "/srv/c.iso", list[1].Path)
	require.Empty(t, list[2].Path)

	shown, err := json.Marshal(list[2])
	require.NoError(t, err)
	require.JSONEq(
		t,
		`{"openshift_version":"4.20","cpu_architecture":"x86_64","url":"http://mirror.example/a.iso","version":"9"}`,
		string(shown),
		"the API shows no more than its document has",
	)
}

func TestNewOSImageIsChecked(t *testing.T) {
	t.Parallel()
	image, err := openshift.NewOSImage("4.22", "aarch64", "")
	require.NoError(t, err)
	require.Equal(t, "arm64", image.CPUArchitecture)
	_, err = openshift.NewOSImage("new", "arm64", "")
	require.ErrorContains(t, err, "openshift_version: require one such as 4.22")
	_, err = openshift.NewOSImage("4.22", "", "")
	require.ErrorContains(t, err, "cpu_architecture")
	_, err = openshift.NewOSImage("4.22", "arm64", "minimal")
	require.ErrorContains(t, err, "require none or disconnected-iso")
}

func TestOSImageOfASystemBuildIsThatBuildOrNone(t *testing.T) {
	t.Parallel()
	list, err := openshift.ParseOSImages([]byte(`[
		{"openshift_version":"4.21","cpu_architecture":"x86_64","url":"https://mirror.example/21.iso","version":"9.6.20251212-1"},
		{"openshift_version":"4.20","cpu_architecture":"x86_64","url":"https://mirror.example/20.iso","version":"420.96.202511010000-0"}]`))
	require.NoError(t, err)
	for asked, want := range map[string]string{
		"420.96.202511010000-0": "20.iso",
		"9.6.20251212-1":        "21.iso",
		"420.96.202512010000-0": "",
		"9.6.20251213-0":        "",
		"4.20":                  "20.iso",
		"4.20.7":                "20.iso",
		"4.21.1":                "21.iso",
	} {
		image, found, err := list.Lookup(asked, "x86_64", "")
		require.NoError(t, err, asked)
		require.Equal(t, want != "", found, asked)
		if found {
			require.Equal(t, "https://mirror.example/"+want, image.URL, asked)
		}
	}
	_, found, err := list.Lookup("420.96.202511010000-0", "arm64", "")
	require.NoError(t, err)
	require.False(t, found)
}
