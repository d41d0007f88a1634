package images_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/built"
)

// TestImagesWithTokens downloads an image where addresses end, by both services.
func TestImagesWithTokens(t *testing.T) {
	d := newDeployment(t)
	address, images := built.FreeAddress(t), built.FreeAddress(t)
	d.url = "https://" + address
	d.env = append(
		d.env,
		"SLIPWAY_LOG_LEVEL=debug",
		"SLIPWAY_DATA_DIR="+filepath.Join(d.dir, "data"),
		"IMAGE_SERVICE_BASE_URL=http://"+images,
		"OS_IMAGES="+osImages(t, liveISO(t, "rhcos-422")),
	)
	d.start(t, "up", address, "up")
	built.WaitReady(t, d.url)
	d.start(t, "images", images, "images", "--service-url", d.url, "--service-ca", filepath.Join(d.dir, "data", "tls", "ca.pem"))
	built.WaitReady(t, "http://"+images)
	secret := filepath.Join(d.dir, "pull-secret.json")
	require.NoError(t, os.WriteFile(secret, []byte(`{"auths":{"cloud.openshift.com":{"auth":"dTpw"}}}`), 0o600))
	d.slipway(t, "infra-env", "create", "lab", "--pull-secret", secret)

	full := readISO(t, d.download(t, "full"))
	require.Equal(t, d.slipway(t, "infra-env", "ignition", "lab"), string(full.ignition(t)))

	out, err := d.command("infra-env", "url", "lab").Output()
	require.NoError(t, err)
	old := strings.TrimSpace(string(out))
	require.Contains(t, old, "http://"+images+"/byapikey/")
	require.Equal(t, http.StatusOK, get(t, old).StatusCode)
	require.Equal(t, http.StatusUnauthorized, get(t, strings.Replace(old, "/byapikey/", "/byapikey/x", 1)).StatusCode)
	require.Equal(
		t,
		http.StatusUnauthorized,
		get(t, "http://"+images+"/byid/"+d.lab(t).ID.String()+"/"+version+"/x86_64/full.iso").StatusCode,
	)
	d.slipway(t, "infra-env", "rotate-key", "lab")
	require.Equal(t, http.StatusUnauthorized, get(t, old).StatusCode, "the key was replaced")
	require.Equal(t, http.StatusUnauthorized, get(t, strings.Replace(old, "http://"+images, d.url, 1)).StatusCode, "by the other service too")
	d.download(t, "minimal")
	for _, log := range []string{"up.log", "images.log"} {
		text, err := os.ReadFile(filepath.Join(d.dir, log))
		require.NoError(t, err)
		require.NotContains(t, string(text), strings.Split(old, "/")[4], "the token of an address is in %s", log)
	}
}
