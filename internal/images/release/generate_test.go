package release_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"slipway/internal/hostconfig/ignition"
	"slipway/internal/hostconfig/ignition/document"
	"slipway/internal/hostconfig/installconfig"
	"slipway/internal/images/release"
	"slipway/internal/model"
	"slipway/internal/sim/payload"
	"slipway/internal/testing/unraced"
	"slipway/internal/wire"
)

// installConfig writes the install-config of a cluster as the service does.
func installConfig(t *testing.T, masters, workers int) []byte {
	t.Helper()
	return installConfigOf(t, masters, workers, func(*model.Cluster) {})
}

// ecdsaKey is of a kind that FIPS 186-5 allows.
const ecdsaKey = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBB" +
	"AczwXpzFu9D49JdLoZjYhHVDpDDxKOgBv+dndGl2aQNlR2rxkj80xkVCjGHQ4Bx+zeDqrm1Utuk5HhuwnOpGKo="

// installConfigOf returns the install config of a cluster that change has changed.
func installConfigOf(t *testing.T, masters, workers int, change func(*model.Cluster)) []byte {
	t.Helper()
	c := &model.Cluster{
		Name: "one", BaseDNSDomain: "example.com", OpenShiftVersion: "4.20.33", ControlPlaneCount: masters,
		PullSecret: pullSecret, SSHPublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUBFNCkJIFJy2xcBfjnFyxd0BMqmKSbt3BEW1eZYMBX",
		Platform:        model.Platform{Type: "baremetal"},
		APIVIPs:         []model.VIP{{IP: netip.MustParseAddr("192.168.10.5")}},
		IngressVIPs:     []model.VIP{{IP: netip.MustParseAddr("192.168.10.6")}},
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.168.10.0/24")},
		ClusterNetworks: []model.ClusterNetwork{{CIDR: netip.MustParsePrefix("10.128.0.0/14"), HostPrefix: 23}},
		ServiceNetworks: []netip.Prefix{netip.MustParsePrefix("172.30.0.0/16")},
	}
	if masters == 1 {
		c.Platform.Type = "none"
	}
	change(c)
	var hosts []*model.Host
	for i := range masters + workers {
		role := model.RoleMaster
		if i >= masters {
			role = model.RoleWorker
		}
		if masters == 2 && i == masters {
			role = model.RoleArbiter
		}
		hosts = append(hosts, &model.Host{
			Role: role, RequestedHostname: string(role) + string(rune('0'+i)), InstallationDiskPath: "/dev/sda",
			Inventory: &wire.Inventory{Interfaces: []wire.Interface{{MacAddress: "52:54:00:00:00:0" + string(rune('0'+i))}}},
		})
	}
	cfg, err := installconfig.Build(c, hosts, installconfig.Options{})
	require.NoError(t, err)
	data, err := cfg.YAML()
	require.NoError(t, err)
	return data
}

func installer(t *testing.T, r *release.Releases, image string) *release.Installer {
	t.Helper()
	i, err := r.Installer(t.Context(), release.Need{Image: image, Platform: "baremetal", PullSecret: pullSecret})
	require.NoError(t, err)
	t.Cleanup(i.Close)
	return i
}

func bootstrapFile(t *testing.T, config []byte, path string) string {
	t.Helper()
	return bootstrapFiles(t, config)(path)
}

// bootstrapFiles reads a config once: a real one has megabytes.
func bootstrapFiles(t *testing.T, config []byte) func(path string) string {
	t.Helper()
	d, err := document.Parse(config)
	require.NoError(t, err)
	return func(path string) string {
		f, err := d.File(path)
		require.NoError(t, err)
		data, err := f.Content()
		require.NoError(t, err)
		return string(data)
	}
}

func TestGenerateAHighlyAvailableCluster(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	p := serve(t, payload.Options{})
	r, dir := open(t, p, nil)
	out, err := installer(t, r, p.ReleaseImage("4.20.33")).Generate(t.Context(), release.GenerateInput{
		InstallConfig: installConfig(t, 3, 1),
		Manifests: map[string][]byte{
			"openshift/mine.yaml": []byte(
				"# first\n---\nkind: ConfigMap\nmetadata: {name: a}\n---\n\n---\nkind: Secret\nmetadata: {name: b}\n",
			),
			"manifests/other.json": []byte(`{"kind":"ConfigMap"}`),
			"manifests/cluster-scheduler-02-config.yml.patch_mine": []byte(
				"- op: replace\n  path: /spec/mastersSchedulable\n  value: true\n",
			),
		},
		BootstrapNodeIP: netip.MustParseAddr("192.168.10.10"),
	})
	require.NoError(t, err)
	require.Greater(t, len(out.Bootstrap), 3_000_000, "as big as a real one")
	file := bootstrapFiles(t, out.Bootstrap)
	require.Contains(t, file("/opt/openshift/openshift/mine-00.yaml"), "name: a")
	require.Contains(t, file("/opt/openshift/openshift/mine-01.yaml"), "name: b")
	require.JSONEq(t, `{"kind":"ConfigMap"}`, file("/opt/openshift/manifests/other.json"))
	require.Contains(
		t,
		file("/opt/openshift/manifests/cluster-scheduler-02-config.yml"),
		"mastersSchedulable: true",
	)
	require.Contains(
		t,
		file("/opt/openshift/manifests/cluster-infrastructure-02-config.yml"),
		"infrastructureTopology: HighlyAvailable",
	)
	require.Contains(
		t,
		file("/opt/openshift/openshift/openshift-install-manifests.yaml"),
		"invoker: assisted-installer",
	)
	require.Equal(t, pinned(t, p), file("/opt/openshift/release-image"))
	require.Equal(t, pullSecret.Reveal(), file("/root/.docker/config.json"))
	for role, config := range map[string][]byte{"master": out.Master, "worker": out.Worker} {
		require.NoError(t, document.Check(config))
		require.Contains(t, string(config), "https://api-int.one.example.com:22623/config/"+role)
	}
	require.Nil(t, out.Arbiter)
	require.Regexp(t, `^([a-zA-Z0-9]{5}-){3}[a-zA-Z0-9]{5}$`, out.KubeadminPassword.Reveal())
	var metadata struct{ ClusterName, InfraID, ClusterID string }
	require.NoError(t, json.Unmarshal(out.Metadata, &metadata))
	require.Equal(t, "one", metadata.ClusterName)
	checkKubeconfig(t, out.Kubeconfig)
	require.Contains(t, out.Log, "Ignition-Configs created")
	left, err := os.ReadDir(filepath.Join(dir, "work"))
	require.NoError(t, err)
	require.Empty(t, left)

	hosts := []*model.Host{
		{RequestedHostname: "master-0", Inventory: &wire.Inventory{Interfaces: []wire.Interface{{MacAddress: "52:54:00:00:00:00"}}}},
	}
	changed, err := ignition.Bootstrap(ignition.BootstrapInput{Config: out.Bootstrap, Hosts: hosts})
	require.NoError(t, err)
	require.NotContains(t, string(changed), "nmconnection")
	require.Contains(
		t,
		bootstrapFile(t, changed, "/opt/openshift/openshift/99_openshift-cluster-api_hosts-0.yaml"),
		"externallyProvisioned: true",
	)
}

// checkKubeconfig reads a kubeconfig as clients do and checks its certificate.
func checkKubeconfig(t *testing.T, data []byte) {
	t.Helper()
	var k struct {
		Clusters []struct{ Cluster map[string]string }
		Users    []struct{ User map[string]string }
	}
	require.NoError(t, yaml.Unmarshal(data, &k))
	require.Equal(t, "https://api.one.example.com:6443", k.Clusters[0].Cluster["server"])
	decode := func(text string) []byte {
		b, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		return b
	}
	require.True(t, x509.NewCertPool().AppendCertsFromPEM(decode(k.Clusters[0].Cluster["certificate-authority-data"])))
	pair, err := tls.X509KeyPair(decode(k.Users[0].User["client-certificate-data"]), decode(k.Users[0].User["client-key-data"]))
	require.NoError(t, err)
	require.Equal(t, []string{"system:masters"}, pair.Leaf.Subject.Organization)
	require.Equal(t, "system:admin", pair.Leaf.Subject.CommonName)
}

func TestGenerateASingleNode(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	p := serve(t, payload.Options{})
	r, _ := open(t, p, nil)
	i, err := r.Installer(t.Context(), release.Need{Image: p.ReleaseImage("4.20.33"), Platform: "none", PullSecret: pullSecret})
	require.NoError(t, err)
	defer i.Close()
	out, err := i.Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 1, 0), SingleNode: true})
	require.NoError(t, err)
	require.Contains(t, string(out.Bootstrap), "install-to-disk.service")
	require.JSONEq(t, ignition.Empty, string(out.Master))
	require.JSONEq(t, ignition.Empty, string(out.Worker))
	require.NotEmpty(t, out.KubeadminPassword.Reveal())
}

func TestGenerateUsesTheBareMetalInstallerOfOldReleases(t *testing.T) {
	unraced.Test(t)
	t.Parallel()
	p := serve(t, payload.Options{Versions: []string{"4.14.71"}})
	r, dir := open(t, p, nil)
	_, err := installer(t, r, p.ReleaseImage("4.14.71")).Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 0)})
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{64}-openshift-baremetal-install$`, programs(t, dir)[0])
}

func TestGenerateTellsWhatTheInstallerRefuses(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	r, _ := open(t, p, nil)
	i := installer(t, r, p.ReleaseImage("4.20.33"))
	for name, c := range map[string]struct {
		config    []byte
		manifests map[string][]byte
		want      string
	}{
		"a cluster without a name": {[]byte("apiVersion: v1\npullSecret: x\n"), nil, "metadata.name: Required value"},
		"an arbiter of another name": {
			append(installConfig(t, 3, 1), []byte("\narbiter: {replicas: 1, name: a}\n")...), nil, "arbiter.name: Unsupported value",
		},
		"fips by a program that cannot": {
			append(installConfigOf(t, 3, 1, func(c *model.Cluster) { c.SSHPublicKey = ecdsaKey }), []byte("\nfips: true\n")...), nil,
			"fips: Forbidden: target cluster is in FIPS mode",
		},
		"a manifest without a kind": {
			installConfig(t, 3, 1), map[string][]byte{"manifests/a.yaml": []byte("a: b")}, "Object 'Kind' is missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := i.Generate(t.Context(), release.GenerateInput{InstallConfig: c.config, Manifests: c.manifests})
			var failure *release.GenerateError
			require.ErrorAs(t, err, &failure)
			require.ErrorContains(t, err, c.want)
			require.Contains(t, failure.Log, "level=error")
			require.Positive(t, failure.ExitCode)
		})
	}
}

func TestGenerateRefusesManifestsByName(t *testing.T) {
	t.Parallel()
	p := serve(t, payload.Options{})
	r, _ := open(t, p, nil)
	i := installer(t, r, p.ReleaseImage("4.20.33"))
	for name, c := range map[string]struct{ path, content, want string }{
		"another folder":          {"tls/ca.crt", "", "require a manifest in manifests/ or openshift/"},
		"a way out":               {"manifests/../../x.yaml", "", "require a manifest in"},
		"a hidden file":           {"manifests/.x.yaml", "", "require a manifest in"},
		"no YAML":                 {"manifests/x.yaml", "a: b: c", "manifests/x.yaml is not valid YAML: document 1 at line 1"},
		"a patch of nothing":      {"manifests/x.yaml.patch", "[{op: remove, path: /a}]", "the installer made no manifest x.yaml"},
		"a patch without a name":  {"manifests/x.patch", "[]", "require a patch named after a manifest"},
		"a patch that is no list": {"manifests/x.yaml.patch", "a: b", "must be a list of operations"},
		"a patch that cannot be": {
			"openshift/cluster-dns-02-config.yml.patch", "[{op: replace, path: /a/b, value: 1}]",
			"apply patch cluster-dns-02-config.yml.patch",
		},
		"a patch that makes a file of the installer unreadable to the nodes": {
			"manifests/cluster-dns-02-config.yml.patch", "[{op: add, path: /metadata/labels, value: {a: 1}}]",
			"cannot read document 1 of cluster-dns-02-config.yml: DNS: json: cannot unmarshal number",
		},
		"a patch that copies much": {
			"manifests/x.yaml.patch", "[" + repeat("{op: copy, from: /a, path: /b}", 9) + "]", "at most 8 copy operations",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := i.Generate(t.Context(), release.GenerateInput{
				InstallConfig: installConfig(t, 3, 0), Manifests: map[string][]byte{c.path: []byte(c.content)},
			})
			require.ErrorIs(t, err, model.ErrInvalid)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func repeat(text string, n int) string {
	all := text
	for range n - 1 {
		all += ", " + text
	}
	return all
}

func TestGenerateKeepsSecretsOutOfErrors(t *testing.T) {
	t.Parallel()
	p := serve(
		t,
		payload.Options{},
		"/bin/sh",
		"-c",
		`cat "$4/install-config.yaml"; echo c29tZWJvZHk6c29tZXRoaW5n something; env; exit 7`,
		"installer",
	)
	r, _ := open(t, p, func(o *release.Options) { o.Environment = []string{"HTTP_PROXY=http://proxy:3128"} })
	_, err := installer(t, r, p.ReleaseImage("4.20.33")).Generate(t.Context(), release.GenerateInput{InstallConfig: installConfig(t, 3, 0)})
	var failure *release.GenerateError
	require.True(t, errors.As(err, &failure))
	require.Equal(t, 7, failure.ExitCode)
	for _, text := range []string{failure.Log, err.Error()} {
		require.NotContains(t, text, "c29tZWJvZHk6c29tZXRoaW5n")
		require.NotContains(t, text, "something")
	}
	require.Contains(t, failure.Log, "[redacted]")
	require.Contains(t, failure.Log, "baseDomain: example.com")
	require.Contains(t, failure.Log, "HTTP_PROXY=http://proxy:3128")
	require.NotContains(t, failure.Log, "GOCACHE", "nothing of the service's environment")
}
