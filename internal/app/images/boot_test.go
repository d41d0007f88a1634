package images_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/app/images"
	"slipway/internal/testing/httpclient"
)

func TestPlainListenerServesNothingButNetworkBoot(t *testing.T) {
	t.Parallel()
	const env = "/api/assisted-install/v2/infra-envs/00000000-0000-4000-8000-000000000001"
	s := httptest.NewServer(images.BootOnly(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.RequestURI())
	})))
	t.Cleanup(s.Close)
	for _, c := range []struct {
		method, target string
		open           bool
	}{
		{"GET", env + "/downloads/files?file_name=ipxe-script&api_key=x", true},
		{"GET", env + "/downloads/files?file_name=ipxe-script&ipxe_script_type=boot-order-control&mac=52:54:00:aa:bb:01", true},
		{"HEAD", "/boot-artifacts/kernel?version=4.20&arch=x86_64", true},
		{"GET", "/boot-artifacts/rootfs?version=4.20", true},
		{"GET", "/images/00000000-0000-4000-8000-000000000001/pxe-initrd?version=4.20&api_key=x", true},
		{"GET", env + "/downloads/files?file_name=discovery.ign&api_key=x", false},
		{"GET", env + "/downloads/files?file_name=ipxe-script&file_name=discovery.ign", false},
		{"GET", env + "/downloads/files", false},
		{"GET", env, false},
		{"POST", "/boot-artifacts/kernel", false},
		{"GET", "/boot-artifacts/../api/assisted-install/v2/clusters", false},
		{"GET", "/boot-artifacts/%2e%2e/api/assisted-install/v2/clusters", false},
		{"GET", "/images/00000000-0000-4000-8000-000000000001", false},
		{"GET", "/images/..%2fapi/pxe-initrd", false},
		{"GET", "/api/assisted-install/v2/clusters", false},
		{"GET", "/", false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.target, nil)
		require.NoError(t, err)
		request.Header.Set("User-Agent", "iPXE/1.21.1+git-20220113.fbbdc3926")
		response, err := httpclient.New(t).Transport.RoundTrip(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, c.open, response.StatusCode == http.StatusOK, "%s %s", c.method, c.target)
	}
}
