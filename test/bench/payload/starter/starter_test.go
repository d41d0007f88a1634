package starter_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/stretchr/testify/require"
	"github.com/vincent-petithory/dataurl"

	"slipway/internal/sim/payload/pki"
	"slipway/internal/sim/payload/standin"
	"slipway/test/bench/payload/configs"
	"slipway/test/bench/payload/kube"
	"slipway/test/bench/payload/plan"
	"slipway/test/bench/payload/starter"
)

var now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func pair(t *testing.T, name string) pki.Pair {
	t.Helper()
	made, err := pki.Authority(name, now)
	require.NoError(t, err)
	return made
}

func cluster(t *testing.T) standin.Cluster {
	t.Helper()
	root := pair(t, "root")
	return standin.Cluster{
		Name: "bench", Domain: "bench.bench.example", Release: "registry:5000/release/ocp:4.20.5-x86_64", ControlPlane: 3,
		Masters:         []string{"a", "b", "c"},
		MachineNetworks: []string{"192.0.2.0/24"}, ServiceNetworks: []string{"172.30.0.0/16"}, ClusterNetworks: []string{"10.128.0.0/14"},
		APIVIPs: []string{"192.0.2.5"}, IngressVIPs: []string{"192.0.2.6"},
		Root: root, APISigner: pair(t, "api"), AdminSigner: pair(t, "admin-signer"), Admin: pair(t, "admin"), MCS: pair(t, "mcs"),
		Files: map[string][]byte{"/opt/openshift/manifests/a.yaml": []byte("a")},
	}
}

// unpack puts the files of a config into a folder and returns it, with the units by name.
func unpack(t *testing.T, config []byte) (string, map[string]string) {
	t.Helper()
	parsed, report, err := v3_2.Parse(config)
	require.NoError(t, err, report.String())
	require.Empty(t, report.Entries)
	dir := t.TempDir()
	for _, f := range parsed.Storage.Files {
		write(t, dir, f)
	}
	units := map[string]string{}
	for _, u := range parsed.Systemd.Units {
		if u.Contents != nil { // real configs mask units, and add to the system's
			units[u.Name] = *u.Contents
		}
	}
	return dir, units
}

func write(t *testing.T, dir string, f types.File) {
	t.Helper()
	data, err := dataurl.DecodeString(*f.Contents.Source)
	require.NoError(t, err)
	path := filepath.Join(dir, f.Path)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, data.Data, os.FileMode(*f.Mode)))
}

func TestBootstrapConfigLeadsToThoseOfTheRoles(t *testing.T) {
	t.Parallel()
	config, err := starter.Config(cluster(t), starter.Settings{Archives: []plan.Archive{{URL: "http://x/a", SHA256: "00"}}}, now)
	require.NoError(t, err)
	dir, units := unpack(t, config)
	archives, err := os.ReadFile(filepath.Join(dir, plan.Archives))
	require.NoError(t, err)
	require.Equal(t, "00 http://x/a\n", string(archives))
	// Whoever starts bootkube neither waits for the programs nor starts again what was handed over.
	require.Contains(
		t,
		units["bootkube.service"],
		"ExecStart=/usr/local/bin/bench-wait /opt/bench/.unpacked /opt/bench/bin/bench-node bootkube --role bootstrap\n",
	)
	require.NotContains(t, units["bootkube.service"], "After=network.target bench-payload.service")
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "machine-config-server", "bench-keepalived"} {
		require.Contains(t, units["bootkube.service"], name+".service", "bootkube wants it")
		require.Contains(t, units[name+".service"], "ConditionPathExists=!/opt/openshift/")
	}

	p, err := plan.Read(filepath.Join(dir, plan.File))
	require.NoError(t, err)
	require.Equal(t, "4.20.5", p.Version)
	keys := pki.Keys(filepath.Join(dir, plan.Keys))
	for role, has := range map[string]bool{plan.Master: true, plan.Worker: false} {
		config, err := configs.Node(p, role, keys, nil)
		require.NoError(t, err)
		tree, units := unpack(t, config)
		_, err = os.Stat(filepath.Join(tree, plan.Keys))
		require.Equal(t, has, err == nil, "only masters have keys")
		require.Equal(t, has, units["etcd.service"] != "")
		require.Contains(t, units, "kubelet.service")
		require.Contains(t, units, "bench-cri.service")
		require.FileExists(t, filepath.Join(tree, "etc/kubernetes/bootstrap-kubeconfig"))
		require.FileExists(t, filepath.Join(tree, "etc/ignition-machine-config-encapsulated.json"))
		for name, text := range units {
			switch name {
			case "bench-payload.service":
				require.NotContains(t, text, "ConditionPathExists")
			case "machine-config-daemon-firstboot.service":
				require.Contains(t, text, "ConditionPathExists=/etc/ignition-machine-config-encapsulated.json\n")
			default:
				require.Contains(t, text, "ConditionPathExists=!/etc/ignition-machine-config-encapsulated.json\n", name)
			}
		}
	}
}

func TestMachineConfigsAreMergedByRole(t *testing.T) {
	t.Parallel()
	config, err := starter.Config(cluster(t), starter.Settings{}, now)
	require.NoError(t, err)
	dir, _ := unpack(t, config)
	p, err := plan.Read(filepath.Join(dir, plan.File))
	require.NoError(t, err)
	base, err := configs.Node(p, plan.Worker, pki.Keys(filepath.Join(dir, plan.Keys)), nil)
	require.NoError(t, err)
	machineConfig := func(name, role string) string {
		return "{apiVersion: machineconfiguration.openshift.io/v1, kind: MachineConfig, metadata: {name: " + name +
			", labels: {machineconfiguration.openshift.io/role: " + role + "}}, spec: {config: {ignition: {version: 3.2.0}, " +
			"storage: {files: [{path: /etc/from, overwrite: true, mode: 420, contents: {source: 'data:," + name + "'}}]}}}}\n---\n"
	}
	objects, err := kube.Objects(
		[]byte(machineConfig("60-b", "worker") + machineConfig("50-a", "worker") + machineConfig("70-c", "master")),
	)
	require.NoError(t, err)
	found, err := configs.MachineConfigs(objects, plan.Worker)
	require.NoError(t, err)
	merged, err := configs.Merge(base, found)
	require.NoError(t, err)
	tree, _ := unpack(t, merged)
	from, err := os.ReadFile(filepath.Join(tree, "etc/from"))
	require.NoError(t, err)
	require.Equal(t, "60-b", string(from), "the last name wins")
}

func TestNetworksThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	c.APIVIPs = []string{"nowhere"}
	_, err := starter.Config(c, starter.Settings{}, now)
	require.True(t, err != nil && strings.Contains(err.Error(), "nowhere"), "found %v", err)
}
