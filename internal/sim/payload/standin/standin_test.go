package standin_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload/standin"
)

const sshKeyLine = "sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUBFNCkJIFJy2xcBfjnFyxd0BMqmKSbt3BEW1eZYMBX\n"

const highlyAvailable = `
apiVersion: v1
baseDomain: example.com
metadata: {name: one}
compute: [{name: worker, replicas: 1}]
controlPlane: {name: master, replicas: 3}
networking:
  networkType: OVNKubernetes
  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}]
  machineNetwork: [{cidr: 192.168.10.0/24}]
  serviceNetwork: [172.30.0.0/16]
platform:
  baremetal:
    apiVIPs: [192.168.10.5]
    ingressVIPs: [192.168.10.6]
    hosts:
    - {name: a, role: master, bootMACAddress: "52:54:00:00:00:01", bootMode: UEFI, hardwareProfile: ""}
    - {name: b, role: master, bootMACAddress: "52:54:00:00:00:02", bootMode: legacy, hardwareProfile: ""}
    - {name: d, role: master, bootMACAddress: "52:54:00:00:00:04", bootMode: UEFI, hardwareProfile: ""}
    - {name: c, role: worker, bootMACAddress: "52:54:00:00:00:03", bootMode: legacy, hardwareProfile: ""}
pullSecret: '{"auths":{"quay.io":{"auth":"eDp5"}}}'
` + sshKeyLine

// withArbiter has two masters and an arbiter.
func withArbiter() string {
	return strings.NewReplacer("replicas: 3", "replicas: 2", "{name: d, role: master,", "{name: d, role: arbiter,").
		Replace(highlyAvailable) + "arbiter: {name: arbiter, replicas: 1}\n"
}

// Platforms of virtual machines, with values as the real program wants them.
const (
	vSphere = `platform:
  vsphere:
    apiVIPs: [192.168.10.5]
    ingressVIPs: [192.168.10.6]
    vcenters: [{server: a.invalid, user: b, password: c, datacenters: [d]}]
    failureDomains:
    - {name: e, region: f, zone: g, server: a.invalid,
       topology: {datacenter: d, computeCluster: /d/host/c, networks: [n], datastore: /d/datastore/s}}
`
	nutanix = `platform:
  nutanix:
    apiVIPs: [192.168.10.5]
    ingressVIPs: [192.168.10.6]
    prismCentral: {endpoint: {address: a.invalid, port: 9440}, username: a, password: b}
    prismElements: [{uuid: b, name: c, endpoint: {address: a.invalid, port: 9440}}]
    subnetUUIDs: [d]
`
)

// run runs a command over a folder and returns its exit code and what it said.
func run(dir string, args ...string) (int, string) { return runWith(nil, dir, args...) }

// runWith runs it with more variables.
func runWith(env []string, dir string, args ...string) (int, string) {
	var out bytes.Buffer
	code := standin.Main(standin.Call{
		Args: append(args, "--dir", dir, "--log-level=debug"),
		Env: append([]string{
			"OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=old", "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=registry/release:1",
		}, env...),
		Now: time.Unix(1_800_000_000, 0), Stdout: &out, Stderr: &out,
	})
	return code, out.String()
}

func TestPullSecretsNeedTheKeyOfAnEntryAndNotItsValue(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{`"auth":""`, `"auth":null`, `"credsStore":"desktop"`} {
		config := strings.Replace(highlyAvailable, `"auth":"eDp5"`, entry, 1)
		require.Contains(t, config, entry)
		code, out := run(prepare(t, config), "create", "manifests")
		require.Zero(t, code, out)
	}
}

func prepare(t *testing.T, installConfig string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "install-config.yaml"), []byte(installConfig), 0o600))
	return dir
}

func TestManifestsThenIgnition(t *testing.T) {
	t.Parallel()
	dir := prepare(t, highlyAvailable)
	code, out := run(dir, "create", "manifests")
	require.Zero(t, code, out)
	require.Contains(t, out, `level=info msg="Consuming Install Config from target directory"`)
	require.NoFileExists(t, filepath.Join(dir, "install-config.yaml"))
	infrastructure, err := os.ReadFile(filepath.Join(dir, "manifests/cluster-infrastructure-02-config.yml"))
	require.NoError(t, err)
	require.Contains(t, string(infrastructure), "infrastructureTopology: SingleReplica", "one worker")
	require.FileExists(t, filepath.Join(dir, "openshift/99_openshift-cluster-api_hosts-3.yaml"))

	code, out = run(dir, "create", "ignition-configs")
	require.Zero(t, code, out)
	require.NoDirExists(t, filepath.Join(dir, "manifests"))
	for _, name := range []string{"bootstrap.ign", "master.ign", "worker.ign"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		config, report, err := v3_2.Parse(data)
		require.NoError(t, err, report.String())
		if name == "bootstrap.ign" {
			require.Greater(t, len(data), 3_000_000)
			require.Len(t, config.Systemd.Units, 16)
		} else {
			require.Len(t, config.Ignition.Config.Merge, 1)
			require.Len(t, config.Ignition.Security.TLS.CertificateAuthorities, 1)
		}
	}
	require.FileExists(t, filepath.Join(dir, "auth/kubeconfig"))
	data, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	require.NoError(t, err)
	var metadata map[string]any
	require.NoError(t, json.Unmarshal(data, &metadata))
	require.Equal(t, "one", metadata["clusterName"])
}

func TestIgnitionWithoutManifestsFirst(t *testing.T) {
	t.Parallel()
	dir := prepare(t, withArbiter())
	code, out := run(dir, "create", "ignition-configs")
	require.Zero(t, code, out)
	require.FileExists(t, filepath.Join(dir, "arbiter.ign"))
}

func TestSingleNode(t *testing.T) {
	t.Parallel()
	config := strings.NewReplacer("replicas: 1", "replicas: 0", "replicas: 3", "replicas: 1").Replace(highlyAvailable)
	config = config[:strings.Index(config, "platform:")] + "platform: {none: {}}\n" + config[strings.Index(config, "pullSecret"):]
	dir := prepare(t, config+"bootstrapInPlace: {installationDisk: /dev/sda}\n")
	code, out := run(dir, "create", "single-node-ignition-config")
	require.Zero(t, code, out)
	require.FileExists(t, filepath.Join(dir, "bootstrap-in-place-for-live-iso.ign"))
	require.NoFileExists(t, filepath.Join(dir, "master.ign"))
	require.FileExists(t, filepath.Join(dir, "auth/kubeadmin-password"))

	code, out = run(prepare(t, config), "create", "manifests")
	require.Equal(t, 3, code)
	require.Contains(t, out, "bootstrapInPlace.installationDisk: Required value")
	code, _ = run(prepare(t, highlyAvailable), "create", "single-node-ignition-config")
	require.Equal(t, 3, code)
}

func TestPlatformsAndTopologies(t *testing.T) {
	t.Parallel()
	begin, end := strings.Index(highlyAvailable, "platform:"), strings.Index(highlyAvailable, "pullSecret")
	on := func(platform string) string { return highlyAvailable[:begin] + platform + "\n" + highlyAvailable[end:] }
	two := func(more string) string {
		return strings.Replace(highlyAvailable, "replicas: 3", "replicas: 2"+more, 1)
	}
	for name, c := range map[string]struct{ config, want string }{
		"none":     {on("platform: {none: {}}"), "type: None"},
		"external": {on("platform: {external: {platformName: oci, cloudControllerManager: External}}"), "state: External"},
		"vsphere":  {on(vSphere), "type: VSphere"},
		"nutanix":  {on(nutanix), "type: Nutanix"},
		"arbiter":  {withArbiter(), "controlPlaneTopology: HighlyAvailableArbiter"},
		"fencing": {
			two(
				", fencing: {credentials: [{hostName: a, address: x, username: u, password: p}, {hostName: b, address: y, username: u, "+
					"password: p}]}",
			) + "featureSet: TechPreviewNoUpgrade\n",
			"controlPlaneTopology: DualReplica",
		},
		"dual stack": {
			strings.NewReplacer(
				"hostPrefix: 23}]", "hostPrefix: 23}, {cidr: 'fd01::/48', hostPrefix: 64}]",
				"192.168.10.0/24}]", "192.168.10.0/24}, {cidr: 'fd00:10::/64'}]",
				"[172.30.0.0/16]", "[172.30.0.0/16, 'fd02::/112']",
				"[192.168.10.5]", "[192.168.10.5, 'fd00:10::5']",
			).Replace(highlyAvailable),
			"type: BareMetal",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := prepare(t, c.config)
			code, out := run(dir, "create", "manifests")
			require.Zero(t, code, out)
			infrastructure, err := os.ReadFile(filepath.Join(dir, "manifests/cluster-infrastructure-02-config.yml"))
			require.NoError(t, err)
			require.Contains(t, string(infrastructure), c.want)
		})
	}
}

func TestMachineConfigsMustHoldIgnition(t *testing.T) {
	t.Parallel()
	for config, fails := range map[string]bool{
		"{ignition: {version: 3.2.0}, storage: {files: [{path: relative}]}}":                      true,
		"{ignition: {version: 2.1.0}, storage: {files: [{filesystem: root, path: /etc/a}]}}":      true,
		"{ignition: {version: 2.2.0}, storage: {files: [{filesystem: root, path: /etc/a.conf}]}}": false,
	} {
		dir := prepare(t, highlyAvailable)
		code, out := run(dir, "create", "manifests")
		require.Zero(t, code, out)
		manifest := []byte("kind: MachineConfig\nmetadata: {name: x}\nspec: {config: " + config + "}\n")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "openshift/x.yaml"), manifest, 0o600))
		code, out = run(dir, "create", "ignition-configs")
		if !fails {
			require.Zero(t, code, out)
			continue
		}
		require.Equal(t, 1, code)
		require.Contains(t, out, "load manifest openshift/x.yaml: read Ignition")
	}
}

func TestInstallConfigsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, want string }{
		"a value of another type": {"replicas: 3", "replicas: [3]", "failed to unmarshal"},
		"no name":                 {"{name: one}", "{}", "metadata.name"},
		"another version":         {"apiVersion: v1", "apiVersion: v2", "apiVersion"},
		"a VIP elsewhere":         {"192.168.10.5", "192.168.99.5", "platform.baremetal.apiVIPs"},
		"a network with a host":   {"192.168.10.0/24", "192.168.10.1/24", "networking.machineNetwork"},
		"an impossible prefix":    {"hostPrefix: 23", "hostPrefix: 8", "networking.clusterNetwork"},
		"the same address twice":  {"52:54:00:00:00:02", "52:54:00:00:00:01", "platform.baremetal.hosts"},
		"too few hosts":           {"replicas: 3", "replicas: 4", "not enough hosts found"},
		"two platforms":           {"platform:", "platform:\n  none: {}", "must specify one of the platforms"},
		"a bad pull secret":       {`"auth":"eDp5"`, `"identitytoken":"x"`, "pullSecret"},
		"no registry at all":      {`"quay.io":{"auth":"eDp5"}`, "", "pullSecret"},
		"no certificate":          {"sshKey:", "additionalTrustBundle: x\nsshKey:", "additionalTrustBundle"},
		"no control plane":        {"replicas: 3", "replicas: 0", "controlPlane.replicas"},
		"no workers' pool":        {"[{name: worker, replicas: 1}]", "[{name: other}]", "compute"},
		"two without fencing":     {"replicas: 3", "replicas: 2", "there should be exactly two fencing credentials"},
		"fencing of three": {
			"replicas: 3", "replicas: 3, fencing: {credentials: [{address: a}]}", "there should not be any fencing credentials configured",
		},
		"half a dual stack":    {"[172.30.0.0/16]", "[172.30.0.0/16, 'fd02::/112']", "dual-stack"},
		"two VIPs of a family": {"[192.168.10.5]", "[192.168.10.5, 192.168.10.7]", "only one VIP of a family"},
		"no VIP":               {"[192.168.10.5]", "[]", "at least one VIP"},
		"a bad domain":         {"example.com", "example..com", "baseDomain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, highlyAvailable, c.old)
			code, out := run(prepare(t, strings.Replace(highlyAvailable, c.old, c.new, 1)), "create", "manifests")
			require.Equal(t, 3, code, out)
			require.Contains(t, out, c.want)
			require.Contains(t, out, "level=error")
		})
	}
	code, _ := run(t.TempDir(), "create", "manifests")
	require.Equal(t, 3, code, "no install-config at all")
}

func TestCommandLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"the version":     {[]string{"version"}, 0, "release image registry/release:1"},
		"no such command": {[]string{"create", "nothing"}, 1, `unknown command "create nothing"`},
		"no such option":  {[]string{"create", "manifests", "--nothing"}, 1, "unknown flag: --nothing"},
		"no such folder":  {[]string{"create", "manifests", "--dir", "/no/such/folder"}, 1, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			code := standin.Main(
				standin.Call{
					Args:   c.args,
					Env:    []string{"OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=registry/release:1"},
					Stdout: &out,
					Stderr: &out,
				},
			)
			require.Equal(t, c.code, code)
			require.Contains(t, out.String(), c.want)
		})
	}
	var out bytes.Buffer
	require.Equal(t, 1, standin.Main(standin.Call{Args: []string{"create", "manifests", "--dir"}, Stdout: &out, Stderr: &out}))
}
