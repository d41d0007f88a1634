package helm_test

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"slipway/internal/images/imageservice"
	"slipway/internal/platform/auth"
	"slipway/internal/platform/encryption"
	"slipway/internal/version"
	"slipway/test/built"
)

// settingsOf returns the file of settings of a case.
func settingsOf(t *testing.T, m manifests) string {
	t.Helper()
	for _, object := range m {
		if object.GetKind() == "ConfigMap" {
			if text := read[corev1.ConfigMap](t, m, "ConfigMap", object.GetName()).Data["slipway.yaml"]; text != "" {
				return text
			}
		}
	}
	require.Fail(t, "no settings are rendered")
	return ""
}

// The program accepts the file of settings of each case.
func TestTheProgramReadsTheSettings(t *testing.T) {
	t.Parallel()
	slipway := built.Binary(t)
	for _, name := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "slipway.yaml")
			text := []byte(settingsOf(t, of(t, name)))
			mirrors := filepath.Join(filepath.Dir(file), "registries.conf") // a volume of the pods
			require.NoError(t, os.WriteFile(mirrors, nil, 0o600))
			text = bytes.ReplaceAll(text, []byte("/mirror/registries.conf"), []byte(mirrors))
			require.NoError(t, os.WriteFile(file, text, 0o600))
			check := exec.Command(slipway, "config", "check", "--config", file)
			check.Env = []string{"SLIPWAY_DATA_DIR=" + t.TempDir()}
			out, err := check.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "settings are in order")
		})
	}
}

func TestSettingsThatTheChartAdds(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]any{
		"smallest": {"allowed-hosts": []any{"lab-slipway-api", "lab-slipway-api.assisted", "lab-slipway-api.assisted.svc"}},
		"trial": {"allowed-hosts": []any{
			"lab.example.com", "lab-slipway-api", "lab-slipway-api.assisted", "lab-slipway-api.assisted.svc",
		}},
		"large":     {"connections-per-address": 20000.},
		"openshift": {"connections-per-address": 20000.},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var found map[string]any
			require.NoError(t, yaml.Unmarshal([]byte(settingsOf(t, of(t, name))), &found))
			for setting, value := range want {
				require.Equal(t, value, found[setting], setting)
			}
			if name == "smallest" {
				require.NotContains(t, found, "connections-per-address", "hosts come with their own addresses")
			}
		})
	}
}

// The chart makes keys as the service does for itself.
func TestTheServiceReadsTheKeysOfTheChart(t *testing.T) {
	t.Parallel()
	secret := read[corev1.Secret](t, of(t, "smallest"), "Secret", "lab-slipway-keys")
	require.True(t, *secret.Immutable)
	require.Equal(t, "keep", secret.Annotations["helm.sh/resource-policy"])
	dir := t.TempDir()
	for name, content := range secret.Data {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	keys, err := encryption.File{Path: filepath.Join(dir, "keys")}.Read()
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.Equal(t, byte(2), keys[0].Header()[0], "each kind of values has a key of its own")
	private, public, err := auth.LoadOrCreateKeys(filepath.Join(dir, "token.key"))
	require.NoError(t, err)
	require.Equal(t, string(secret.Data["token.key"]), private.Reveal())
	_, err = auth.NewLocal(auth.LocalOptions{Mode: auth.ModeLocal, PrivateKey: private, PublicKey: public})
	require.NoError(t, err, "a key of P-256")

	again, err := render(t.Context(), tool(t, "HELM"), filepath.Join(chart, "ci", "smallest-values.yaml"))
	require.NoError(t, err)
	require.NotEqual(t, secret.Data, read[corev1.Secret](t, again, "Secret", "lab-slipway-keys").Data, "each release has its own")
}

// One host for API and images: the proxy divides their paths.
func TestPathsOfImagesAreTheServices(t *testing.T) {
	t.Parallel()
	var paths []string
	for _, object := range of(t, "openshift") {
		if object.GetKind() != "Route" {
			continue
		}
		spec := object.Object["spec"].(map[string]any)
		require.Equal(t, "slipway.apps.example.com", spec["host"])
		require.Equal(t, "edge", spec["tls"].(map[string]any)["termination"])
		service := spec["to"].(map[string]any)["name"]
		if path, found := spec["path"]; found {
			require.Equal(t, "lab-slipway-images", service)
			paths = append(paths, path.(string))
		} else {
			require.Equal(t, "lab-slipway-api", service)
		}
	}
	require.ElementsMatch(t, imageservice.Paths, paths)
}

func TestHostsOfTheIngress(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]string{
		"large":     {"slipway.example.com": "assisted-api", "images.example.com": "assisted-images"},
		"no-images": {"slipway.example.com": "lab-slipway-api"},
	} {
		found := map[string]string{}
		ingress := read[networkingv1.Ingress](t, of(t, name), "Ingress", map[string]string{"large": "assisted", "no-images": "lab-slipway"}[name])
		for _, rule := range ingress.Spec.Rules {
			require.Len(t, rule.HTTP.Paths, 1)
			found[rule.Host] = rule.HTTP.Paths[0].Backend.Service.Name
		}
		require.Equal(t, want, found)
	}
}

// The image service finds the API by a name of its certificate.
func TestTheImageServiceFindsTheAPI(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"smallest":  "https://slipway.example.com",
		"trial":     "https://lab-slipway-api.assisted.svc:443",
		"large":     "https://assisted-api.assisted.svc:443",
		"openshift": "http://lab-slipway-api.assisted.svc:443",
	} {
		m := of(t, name)
		for _, p := range pods(t, m) {
			if p.component != "images" {
				continue
			}
			for _, env := range p.container(t).Env {
				if env.Name == "SLIPWAY_URL" {
					require.Equal(t, want, env.Value)
				}
			}
		}
		if name == "large" {
			address, err := url.Parse(want)
			require.NoError(t, err)
			for _, object := range m {
				if object.GetKind() == "Certificate" {
					require.Contains(t, object.Object["spec"].(map[string]any)["dnsNames"], address.Hostname())
				}
			}
		}
	}
}

func TestTheChartHasTheVersionOfTheProgram(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	require.NoError(t, err)
	var found struct{ Version, AppVersion string }
	require.NoError(t, yaml.Unmarshal(text, &found))
	require.Equal(t, version.Number, found.Version)
	require.Equal(t, version.Number, found.AppVersion)
}
