package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/wire"
)

func TestPagesOfTheService(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.create(t, "lab", "--operator", "lvm", "--control-plane", "1")
	for name, args := range map[string][]string{
		"versions":             {"versions"},
		"cluster-operators":    {"cluster", "operators", "lab"},
		"cluster-requirements": {"cluster", "requirements", "lab"},
		"cluster-platforms":    {"cluster", "platforms", "lab"},
		"cluster-ignore":       {"cluster", "ignore", "lab", "has-min-memory", "network-type-valid", "lvm-requirements-satisfied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, s.run(t, args...))
		})
	}
}

func TestCatalogueOfTheService(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.Contains(t, s.run(t, "operators", "list"), "\nlvm\n")
	require.Contains(t, s.run(t, "operators", "show", "mce"), "operator mce")
	require.Regexp(t, `(?m)^virtualization +.*cnv, `, s.run(t, "operators", "bundles", "--version", "4.20"))
	some := s.run(t, "features", "4.20", "--arch", "s390x", "--platform", "none")
	require.Regexp(t, `(?m)^MINIMAL_ISO +unavailable +cpuArchitecture$`, some)
	require.NotRegexp(t, `(?m)^SNO `, some)
	require.Regexp(t, `(?m)^SNO +supported$`, s.run(t, "features", "4.20", "--all"))
	_, err := run(t, s.url, "features", "moon")
	require.ErrorContains(t, err, "openshift_version")
}

func TestIgnoredValidationsAreTakenBack(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.create(t, "lab")
	s.run(t, "cluster", "ignore", "lab", "all")
	require.Contains(t, s.run(t, "cluster", "ignore", "lab", "--show"), "ignored of its hosts: all")
	require.Contains(t, s.run(t, "cluster", "ignore", "lab", "--none"), "ignored of its hosts: none")
}

func TestManifestsComeAndGo(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.create(t, "lab")
	motd := file(t, "99-motd.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: motd\n")
	require.Equal(
		t,
		"manifest openshift/99-motd.yaml added\n",
		s.run(t, "cluster", "manifests", "add", "lab", motd, "--folder", "openshift"),
	)
	golden(t, "manifests", s.run(t, "cluster", "manifests", "list", "lab"))
	require.Contains(t, s.run(t, "cluster", "manifests", "show", "lab", "99-motd.yaml", "--folder", "openshift"), "kind: ConfigMap")
	s.run(t, "cluster", "manifests", "remove", "lab", "99-motd.yaml", "--folder", "openshift")
	require.NotContains(t, s.run(t, "cluster", "manifests", "list", "lab"), "motd")
}

func TestInstallConfigIsOverridden(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.create(t, "lab")
	require.Equal(
		t,
		"install-config of cluster lab changed\n",
		s.run(t, "cluster", "install-config", "set", "lab", file(t, "o.yaml", "fips: true\n")),
	)
	require.Contains(t, s.run(t, "cluster", "install-config", "show", "lab"), "\nfips: true\n")
	path := filepath.Join(t.TempDir(), "install-config.yaml")
	require.Contains(t, s.run(t, "cluster", "install-config", "show", "lab", "--file", path), path)
	require.FileExists(t, path)
	_, err := run(t, s.url, "cluster", "install-config", "set", "lab", file(t, "o.yaml", "colour: red\n"))
	require.ErrorContains(t, err, "colour")
}

func TestInfraEnvIsSetUp(t *testing.T) {
	t.Parallel()
	s := newService(t)
	addresses := file(t, "addresses.yaml", `
- network_yaml: |
    interfaces:
    - name: eth0
      type: ethernet
      state: up
      ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.10, prefix-length: 24}]}
  mac_interface_map:
  - {mac_address: "52:54:00:00:00:01", logical_nic_name: eth0}
`)
	s.run(t, "infra-env", "create", "pool", "--pull-secret", s.secret, "--kernel-arg", "quiet")
	require.Contains(t, s.infraEnv(t, "pool").KernelArguments, "quiet")
	require.Contains(
		t,
		s.run(
			t,
			"infra-env",
			"set",
			"pool",
			"--static-network",
			addresses,
			"--ntp",
			"ntp.example.com",
			"--https-proxy",
			"http://proxy.example.com",
		),
		"pool changed",
	)
	e := s.infraEnv(t, "pool")
	require.Contains(t, e.StaticNetworkConfig, "192.0.2.10")
	require.Equal(t, "http://proxy.example.com", e.Proxy.HTTPSProxy)

	require.Contains(t, s.run(t, "infra-env", "url", "pool"), "/x86_64/")
	require.Contains(
		t,
		s.run(t, "infra-env", "url", "pool", "--of", "discovery.ign"),
		"http://service.example/api/assisted-install/v2/infra-envs/",
	)
	require.Equal(t, "InfraEnv pool has a new key\n", s.run(t, "infra-env", "rotate-key", "pool"))
	require.Equal(t, "InfraEnv pool deleted\n", s.run(t, "infra-env", "delete", "pool"))
}

func TestHostIsSetUp(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.create(t, "lab")
	e := s.infraEnv(t, "lab_infra-env")
	id := s.host(t, e.ID, "m0")
	require.Equal(
		t,
		"host n0 is changed\n",
		s.run(
			t,
			"host",
			"set",
			"m0",
			"--cluster",
			"lab",
			"--hostname",
			"n0",
			"--role",
			"master",
			"--disk",
			"/dev/sdb",
			"--keep-disk",
			"sda",
			"--label",
			"site=lab",
			"--label",
			"rack=1",
			"--pool",
			"infra",
			"--fencing-address",
			"https://192.0.2.9/redfish/v1",
			"--fencing-user",
			"root",
			"--fencing-password",
			"calvin",
			"--fencing-insecure",
			"--installer-arg=--append-karg",
			"--installer-arg",
			"quiet",
			"--ignition",
			file(t, "h.ign", `{"ignition":{"version":"3.2.0"}}`),
			"--ignition-token",
			file(t, "token", "secret\n"),
		),
	)
	h, err := s.client.Host(t.Context(), e.ID, id)
	require.NoError(t, err)
	require.Equal(t, wire.HostRoleMaster, h.Role)
	require.Equal(t, "/dev/sdb", h.InstallationDiskPath)
	require.Equal(t, "wwn-sda", h.SkipFormattingDisks)
	require.JSONEq(t, `{"site":"lab","rack":"1"}`, h.NodeLabels)
	require.Equal(t, "infra", h.MachineConfigPoolName)
	require.JSONEq(t, `["--append-karg","quiet"]`, h.InstallerArgs)
	require.Contains(t, h.IgnitionConfigOverrides, "3.2.0")
	require.True(t, h.IgnitionEndpointTokenSet)
	require.Contains(t, h.FencingCredentials, "192.0.2.9")

	require.Contains(t, s.run(t, "host", "recheck", "n0", "container-images-available"), "is asked again")
	_, err = run(t, s.url, "host", "recheck", "n0", "has-min-memory")
	require.ErrorContains(t, err, "require")
	require.Equal(t, c.ID, h.ClusterID)
}

func TestHostOfThePoolIsBound(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.create(t, "lab")
	s.run(t, "infra-env", "create", "pool", "--pull-secret", s.secret)
	e := s.infraEnv(t, "pool")
	id := s.host(t, e.ID, "spare")
	s.changeHost(t, e.ID, id, func(h *model.Host) { h.Status = model.HostKnownUnbound })
	require.Equal(t, "host spare is bound to cluster lab\n", s.run(t, "host", "bind", "spare", "lab", "--infra-env", "pool"))
	h, err := s.client.Host(t.Context(), e.ID, id)
	require.NoError(t, err)
	require.Equal(t, c.ID, h.ClusterID)
	s.changeHost(t, e.ID, id, func(h *model.Host) { h.Status = model.HostKnown })
	require.Equal(t, "host spare leaves its cluster\n", s.run(t, "host", "unbind", "spare"))
}

func TestClustersThatRunTakeHosts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.Contains(
		t,
		s.run(t, "cluster", "import", "far", "--api-name", "api.far.example.com", "--id", uuid.NewString()),
		"cluster far imported",
	)
	require.Equal(t, "cluster far: adding-hosts\n", s.run(t, "wait", "cluster", "far", "--for", "adding-hosts"))
	s.run(t, "cluster", "set", "far", "--api-name", "api2.far.example.com")
	require.Equal(t, "api2.far.example.com", s.cluster(t, "far").APIVipDNSName)
	s.run(t, "infra-env", "create", "far_infra-env", "--cluster", "far", "--pull-secret", s.secret)
	e := s.infraEnv(t, "far_infra-env")
	id := s.host(t, e.ID, "w3")
	s.changeHost(t, e.ID, id, func(h *model.Host) { h.Status = model.HostKnown })
	require.Equal(t, "host w3 is being installed\n", s.run(t, "host", "install", "w3"))
	s.changeHost(t, e.ID, id, func(h *model.Host) { h.Status = model.HostAddedToExistingCluster })
	require.Contains(t, s.run(t, "wait", "host", "w3", "--for", "added-to-existing-cluster"), "w3 (worker): added-to-existing-cluster")

	_, err := run(t, s.url, "wait", "host", "w4", "--for", "known", "--timeout", "100ms")
	require.ErrorContains(t, err, "there is no host w4: time is over", "it might still have come")
	require.Equal(t, 6, cli.ExitCode(err))

	c := s.create(t, "lab")
	_, err = s.store.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.Status = model.ClusterInstalled
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "cluster lab: adding-hosts\n", s.run(t, "cluster", "add-hosts", "lab"))
}

func TestDownloadThatFailsLeavesNoFile(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.create(t, "lab")
	s.host(t, s.infraEnv(t, "lab_infra-env").ID, "worker-0")
	folder := t.TempDir()
	_, err := run(t, s.url, "cluster", "logs", "lab", "--host", "worker-0", "--file", filepath.Join(folder, "logs.tar.gz"))
	require.ErrorContains(t, err, "none were collected")
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}
