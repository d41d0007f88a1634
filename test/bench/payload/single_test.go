package payload_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const singleNodeConfig = `apiVersion: v1
baseDomain: bench.example
metadata: {name: bench}
networking:
  networkType: OVNKubernetes
  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}]
  machineNetwork: [{cidr: 10.88.0.0/24}]
  serviceNetwork: [172.30.0.0/16]
compute: [{name: worker, replicas: 0}]
controlPlane: {name: master, replicas: 1}
platform: {none: {}}
bootstrapInPlace: {installationDisk: /dev/vda}
pullSecret: '{"auths":{"quay.io":{"auth":"eDp5"}}}'
sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUBFNCkJIFJy2xcBfjnFyxd0BMqmKSbt3BEW1eZYMBX
`

const job = `apiVersion: batch/v1
kind: Job
metadata: {name: bench-job, namespace: bench-jobs}
spec:
  template:
    spec:
      restartPolicy: OnFailure
      hostNetwork: true
      nodeSelector: {node-role.kubernetes.io/master: ""}
      containers: [{name: it, image: "registry/bench-job:1"}]
`

// A single node starts its control plane from the live image, keeps it in its own config,
// and continues from its disk with all it had.
func TestSingleNodeKeepsItsCluster(t *testing.T) {
	l := newLab(t)
	assets := l.generate(t, singleNodeConfig, "single-node-ignition-config", map[string]string{
		"openshift/50-job.yaml": job,
		"openshift/50-config.yaml": "{apiVersion: machineconfiguration.openshift.io/v1, kind: MachineConfig, metadata: {name: 50-mine, " +
			"labels: {machineconfiguration.openshift.io/role: master}}, spec: {config: {ignition: {version: 3.2.0}, storage: {files: " +
			"[{path: /etc/mine, mode: 420, contents: {source: 'data:,mine'}}]}}}}\n",
		"openshift/50-odd.yaml": "{apiVersion: bench.example.com/v1, kind: Oddity, metadata: {name: odd, namespace: odd-things}, " +
			"spec: {any: thing}}\n",
	})
	config, err := os.ReadFile(filepath.Join(assets, "bootstrap-in-place-for-live-iso.ign"))
	require.NoError(t, err)
	h := l.host(t, "master-0", 1)
	h.install(t, config, "-live")
	h.resolve(t, h.address)
	h.start(t, "live", "node-image-overlay.service", "bootkube.service", "approve-csr.service", "progress.service")
	h.waitFor(t, "bootkube is done", 3*time.Minute, func() bool { return h.has("/opt/openshift/.bootkube.done") })
	master, err := os.ReadFile(h.path("/opt/openshift/master.ign"))
	require.NoError(t, err)
	h.off()

	h.install(t, master, "-disk")
	h.resolve(t, h.address)
	require.True(t, h.has("/etc/mine"), "machine configs are merged in")
	h.start(t, "isolate")
	kubeconfig := filepath.Join(assets, "auth/kubeconfig")
	ask := func(args ...string) string {
		out, _ := h.kubectl(kubeconfig, args...)
		return strings.TrimSpace(out)
	}
	h.waitFor(t, "the node is ready", 1*time.Minute, func() bool {
		return strings.Contains(ask("get", "nodes", "--no-headers"), " Ready ")
	})
	h.waitFor(t, "the job runs to its end", time.Minute, func() bool {
		return ask("get", "job", "-n", "bench-jobs", "bench-job", "-o", "jsonpath={.status.succeeded}") == "1"
	})
	h.waitFor(t, "all is available", 2*time.Minute, func() bool {
		return ask("get", "clusterversion", "version", "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`) == "True"
	})
	require.Equal(t, "thing", ask("get", "oddities.bench.example.com", "-n", "odd-things", "odd", "-o", "jsonpath={.spec.any}"))
	require.Contains(
		t,
		ask("get", "configmap", "-n", "openshift-config-managed", "default-ingress-cert", "-o", "yaml"),
		"BEGIN CERTIFICATE",
	)
	t.Log("\n" + ask("get", "nodes,clusteroperators,clusterversions,csr,routes", "-A"))
}
