package service

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/app/settings"
	"slipway/internal/hostconfig/installconfig"
)

const someCertificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

func TestDeploymentReachesHostsAndClusters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	conf := "[[registry]]\nlocation = \"quay.io/a\"\n[[registry.mirror]]\nlocation = \"mirror/a\"\n"
	d, err := readDeployment(settings.Deployment{
		MirrorRegistries: write("registries.conf", conf), MirrorCA: write("mirror.pem", someCertificate), RootCA: write("root.pem", someCertificate+"\n"),
		SingleNodeDNS: true, OKDPackages: "quay.io/okd/rpms", InsecurePolicy: true, TelemeterURL: "https://telemeter",
	})
	require.NoError(t, err)
	require.Equal(t, conf, d.discovery.Mirror.RegistriesConf)
	require.Equal(t, someCertificate, d.discovery.Mirror.CA)
	require.Equal(t, []installconfig.ImageSource{{Source: "quay.io/a", Mirrors: []string{"mirror/a"}}}, d.installConfig.Mirrors)
	require.Len(t, d.installConfig.TrustBundles, 2)
	require.True(t, d.manifests.SingleNodeDNS && d.discovery.InsecurePolicy)

	empty, err := readDeployment(settings.Deployment{})
	require.NoError(t, err)
	require.Equal(t, deployment{}, empty)
	_, err = readDeployment(settings.Deployment{RootCA: write("none.pem", "x")})
	require.ErrorContains(t, err, "SLIPWAY_ROOT_CA: require certificates in PEM")
	_, err = readDeployment(settings.Deployment{MirrorRegistries: write("bad.conf", "[")})
	require.ErrorContains(t, err, "SLIPWAY_MIRROR_REGISTRIES")
	_, err = readDeployment(settings.Deployment{MirrorCA: filepath.Join(dir, "missing")})
	require.ErrorContains(t, err, "SLIPWAY_MIRROR_CA")
}
