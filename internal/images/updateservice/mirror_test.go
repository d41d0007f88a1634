package updateservice_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/images/updateservice"
)

// digest stands in for a SHA-256 digest.
func digest(c string) string { return strings.Repeat(c, 64) }

// newMirror serves files as mirror.openshift.com/pub/openshift-v4 does: folders by the names of architectures that
// RPM has, "latest" beside the folders of builds. (Read in the addresses of openshift/assisted-service,
// data/default_os_images.json, and in public installation guides; the mirror itself was not asked.)
func newMirror(t *testing.T, files map[string]string) *updateservice.Mirror {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, found := files[r.URL.Path]
		switch {
		case text == "500":
			http.Error(w, "down", http.StatusInternalServerError)
		case !found:
			http.NotFound(w, r)
		default:
			fmt.Fprint(w, text)
		}
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL + "/pub/openshift-v4")
	require.NoError(t, err)
	return &updateservice.Mirror{Base: base, Client: server.Client()}
}

func TestTheMirrorNamesTheNewestLiveImage(t *testing.T) {
	t.Parallel()
	m := newMirror(t, map[string]string{
		"/pub/openshift-v4/aarch64/dependencies/rhcos/4.18/latest/sha256sum.txt": digest("a") + "  rhcos-4.18.30-aarch64-live-kernel-aarch64\n" +
			digest("b") + "  rhcos-4.18.30-aarch64-live.aarch64.iso\n" + digest("c") + "  rhcos-live.aarch64.iso\n",
		"/pub/openshift-v4/aarch64/dependencies/rhcos/4.18/latest/rhcos-id.txt": "418.94.202511191518-0\n",
		"/pub/openshift-v4/x86_64/dependencies/rhcos/4.22/latest/sha256sum.txt": digest("d") + " *rhcos-4.22.8-x86_64-live-iso.x86_64.iso\n",
	})
	image, err := m.Image(t.Context(), "4.18", "arm64")
	require.NoError(t, err)
	require.Equal(t, "4.18", image.OpenShiftVersion)
	require.Equal(t, "arm64", image.CPUArchitecture)
	require.Equal(t, "418.94.202511191518-0", image.Version)
	require.Equal(t, digest("b"), image.SHA256)
	require.Equal(t, m.Base.String()+"/aarch64/dependencies/rhcos/4.18/4.18.30/rhcos-4.18.30-aarch64-live.aarch64.iso", image.URL)

	image, err = m.Image(t.Context(), "4.22", "x86_64")
	require.NoError(t, err)
	require.Equal(t, "4.22.8", image.Version, "without rhcos-id.txt: the build's")
	require.Equal(t, m.Base.String()+"/x86_64/dependencies/rhcos/4.22/4.22.8/rhcos-4.22.8-x86_64-live-iso.x86_64.iso", image.URL)
}

func TestWhatTheMirrorLacksIsNoFailure(t *testing.T) {
	t.Parallel()
	m := newMirror(t, map[string]string{
		"/pub/openshift-v4/x86_64/dependencies/rhcos/4.20/latest/sha256sum.txt": digest("a") + "  rhcos-4.19.1-x86_64-live.x86_64.iso\n",
		"/pub/openshift-v4/s390x/dependencies/rhcos/4.20/latest/sha256sum.txt":  "500",
	})
	_, err := m.Image(t.Context(), "4.20", "x86_64")
	require.ErrorIs(t, err, updateservice.ErrNoImage, "images of another version only")
	_, err = m.Image(t.Context(), "4.20", "ppc64le")
	require.ErrorIs(t, err, updateservice.ErrNoImage)
	_, err = m.Image(t.Context(), "4.20", "s390x")
	require.NotErrorIs(t, err, updateservice.ErrNoImage)
	sums := m.Base.String() + "/s390x/dependencies/rhcos/4.20/latest/sha256sum.txt"
	require.ErrorContains(t, err, "OpenShift 4.20 (s390x): read "+sums+": require status 200, found 500")
	_, err = m.Image(t.Context(), "4.20", "riscv64")
	require.ErrorContains(t, err, "require x86_64, arm64, ppc64le or s390x")
}
