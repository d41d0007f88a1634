package service

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/app/settings"
	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/images/release"
	"slipway/internal/images/release/signature"
	"slipway/internal/platform/userids"
)

const someCertificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

// notInFIPS is the file of a machine whose kernel has no FIPS mode.
const notInFIPS = "/no/such/file"

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
		MirrorRegistries: write("registries.conf", conf),
		MirrorCA:         write("mirror.pem", someCertificate), RootCA: write("root.pem", someCertificate+"\n"),
		SingleNodeDNS: true, OKDPackages: "quay.io/okd/rpms", InsecurePolicy: true, TelemeterURL: "https://telemeter",
	}, notInFIPS)
	require.NoError(t, err)
	require.Equal(t, conf, d.discovery.Mirror.RegistriesConf)
	require.Equal(t, someCertificate, d.discovery.Mirror.CA)
	require.Equal(t, []installconfig.ImageSource{{Source: "quay.io/a", Mirrors: []string{"mirror/a"}}}, d.installConfig.Mirrors)
	require.Len(t, d.installConfig.TrustBundles, 2)
	require.Len(t, d.releases.TrustBundles, 2)
	require.Equal(t, []release.Mirror{{
		Prefix: "quay.io/a", Location: "quay.io/a", Locations: []release.MirrorLocation{{Location: "mirror/a", Tags: true, Digests: true}},
	}}, d.releases.Mirrors)
	require.True(t, d.manifests.SingleNodeDNS && d.discovery.InsecurePolicy)

	empty, err := readDeployment(settings.Deployment{}, notInFIPS)
	require.NoError(t, err)
	require.Equal(t, deployment{
		installConfig: installconfig.Options{NoFIPS: true},
		releases:      release.Options{Signatures: signature.Options{Policy: signature.Off}},
	}, empty)
	_, err = readDeployment(settings.Deployment{RootCA: write("none.pem", "x")}, notInFIPS)
	require.ErrorContains(t, err, "SLIPWAY_ROOT_CA: no PEM certificate found in")
	_, err = readDeployment(settings.Deployment{MirrorRegistries: write("bad.conf", "[")}, notInFIPS)
	require.ErrorContains(t, err, "SLIPWAY_MIRROR_REGISTRIES")
	_, err = readDeployment(settings.Deployment{MirrorCA: filepath.Join(dir, "missing")}, notInFIPS)
	require.ErrorContains(t, err, "SLIPWAY_MIRROR_CA")
}

func TestTheInstallerHasAUser(t *testing.T) {
	t.Parallel()
	d, err := readDeployment(settings.Deployment{InstallerUser: "65533"}, notInFIPS)
	require.NoError(t, err)
	require.Equal(t, &release.User{UID: 65533, GID: 65533}, d.releases.User)
	_, err = readDeployment(settings.Deployment{InstallerUser: "someone"}, notInFIPS)
	require.ErrorContains(t, err, "read INSTALLER_USER: require UID, UID:GID or FIRST-LAST")
}

func TestInstallersHaveAUserEachWhereTheMachineHasThem(t *testing.T) {
	t.Parallel()
	d, err := readDeployment(settings.Deployment{InstallerUser: "2002000000-2002000003"}, notInFIPS)
	require.NoError(t, err)
	require.Nil(t, d.releases.User)
	_, err = readDeployment(settings.Deployment{InstallerUser: "2002000003-2002000000"}, notInFIPS)
	require.ErrorContains(t, err, "read INSTALLER_USER: require FIRST-LAST")
	if os.Geteuid() != 0 {
		t.Skip("SKIP: only root runs programs as others")
	}
	var log bytes.Buffer
	s := &Service{logger: slog.New(slog.NewTextHandler(&log, nil))}
	o := release.Options{}
	require.NoError(t, s.chooseUsers(&o, d.installerIDs, filepath.Join(t.TempDir(), "leases")))
	require.NotNil(t, o.Users)
	require.Empty(t, log.String())

	accounts := &userids.Range{First: 65530, Last: 65540}
	o = release.Options{Sandbox: release.SandboxBestEffort}
	require.NoError(t, s.chooseUsers(&o, accounts, t.TempDir()))
	require.Nil(t, o.Users)
	require.Equal(t, &release.User{UID: 65533, GID: 65533}, o.User)
	require.Contains(t, log.String(), "installers of releases run as one user")
	o = release.Options{Sandbox: release.SandboxRequired}
	err = s.chooseUsers(&o, accounts, t.TempDir())
	require.ErrorContains(t, err, "INSTALLER_SANDBOX=required, INSTALLER_USER=65530-65540: require ids without an account, found ")
}

func TestClustersInFIPSModeNeedAMachineOrAVariable(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "fips_enabled")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for name, c := range map[string]struct {
		environment []string
		fips        string
		refuses     bool
	}{
		"a machine without":           {nil, file("0\n"), true},
		"a machine in FIPS mode":      {nil, file("1\n"), false},
		"a variable":                  {[]string{"A=b", "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION=true"}, file("0\n"), false},
		"a variable without a value":  {[]string{"OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION="}, file("0\n"), true},
		"a variable of the installer": {[]string{"HTTPS_PROXY=http://proxy:3128"}, notInFIPS, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := readDeployment(settings.Deployment{InstallerEnvironment: c.environment}, c.fips)
			require.NoError(t, err)
			require.Equal(t, c.refuses, d.installConfig.NoFIPS)
			require.Equal(t, c.environment, d.releases.Environment)
		})
	}
	for _, bad := range []string{"secret", "=secret", "a b=secret", "HOME=secret", "OPENSHIFT_INSTALL_INVOKER=secret"} {
		_, err := readDeployment(settings.Deployment{InstallerEnvironment: []string{bad}}, notInFIPS)
		require.ErrorContains(t, err, "read INSTALLER_ENVIRONMENT: the installer's environment")
		require.NotContains(t, err.Error(), "secret")
	}
}
