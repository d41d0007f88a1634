package payload_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/stretchr/testify/require"
	"github.com/vincent-petithory/dataurl"
)

const compactConfig = `apiVersion: v1
baseDomain: bench.example
metadata: {name: bench}
networking:
  networkType: OVNKubernetes
  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}]
  machineNetwork: [{cidr: 10.88.0.0/24}]
  serviceNetwork: [172.30.0.0/16]
compute: [{name: worker, replicas: 1}]
controlPlane: {name: master, replicas: 3}
platform: {none: {}}
pullSecret: '{"auths":{"quay.io":{"auth":"eDp5"}}}'
sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUBFNCkJIFJy2xcBfjnFyxd0BMqmKSbt3BEW1eZYMBX
`

// fetch gets the config of a role as Ignition does: what the pointer config leads to.
func (h *host) fetch(t *testing.T, assets, role string) []byte {
	t.Helper()
	pointer, err := os.ReadFile(filepath.Join(assets, role+".ign"))
	require.NoError(t, err)
	parsed, report, err := v3_5.ParseCompatibleVersion(pointer)
	require.NoError(t, err, report.String())
	authority, err := dataurl.DecodeString(*parsed.Ignition.Security.TLS.CertificateAuthorities[0].Source)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(authority.Data))
	source := strings.Replace(*parsed.Ignition.Config.Merge[0].Source, "api-int."+domain, h.lab.api.String(), 1)
	client := &http.Client{Transport: &http.Transport{
		DialContext:     h.space.Dial,
		TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "api-int." + domain, MinVersion: tls.VersionTLS12},
	}}
	var config []byte
	h.waitFor(t, "its config is served", 2*time.Minute, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, source, nil)
		require.NoError(t, err)
		request.Header.Set("User-Agent", "Ignition/2.27.0")
		request.Header.Set("Accept", "application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1")
		response, err := client.Do(request)
		if err != nil || response.StatusCode != http.StatusOK {
			return false
		}
		defer response.Body.Close()
		config, err = io.ReadAll(response.Body)
		return err == nil
	})
	return config
}

// move points the name of the API to another host, for all hosts: what floating
// addresses do elsewhere.
func (l *lab) move(t *testing.T, to netip.Addr, hosts ...*host) {
	t.Helper()
	l.api = to
	for _, h := range hosts {
		h.resolve(t, to)
	}
}

// members lists the names of etcd's members that vote, as one of them says.
func (h *host) members(t *testing.T) []string {
	t.Helper()
	out, err := h.run("env", "ETCDCTL_API=3", filepath.Join(h.root, "opt/bench/bin/etcdctl"), "member", "list", "--write-out=json",
		"--endpoints=https://"+h.address.String()+":2379", "--cacert="+h.path("/opt/bench/pki/etcd-signer.crt"),
		"--cert="+h.path("/var/lib/bench/pki/etcd.crt"), "--key="+h.path("/var/lib/bench/pki/etcd.key"))
	if err != nil {
		return nil
	}
	var list struct {
		Members []struct {
			Name      string `json:"name"`
			IsLearner bool   `json:"isLearner"`
		} `json:"members"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	var names []string
	for _, m := range list.Members {
		if !m.IsLearner && m.Name != "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// Two masters join the bootstrap host, carry the cluster while that leaves, and take it
// back as the third; a worker joins; a master comes back after its power was cut.
func TestMastersTakeOverTheCluster(t *testing.T) {
	l := newLab(t)
	assets := l.generate(t, compactConfig, "ignition-configs", map[string]string{"openshift/50-job.yaml": job})
	config, err := os.ReadFile(filepath.Join(assets, "bootstrap.ign"))
	require.NoError(t, err)
	first, second, third, worker := l.host(t, "master-0", 1), l.host(t, "master-1", 2), l.host(t, "master-2", 3), l.host(t, "worker-0", 11)
	first.install(t, config, "-live")
	l.move(t, first.address, first)
	require.NoError(t, os.WriteFile(first.path("/opt/openshift/assisted-install-bootstrap"), nil, 0o600))
	first.start(t, "live", "node-image-overlay.service", "bootkube.service", "approve-csr.service", "progress.service")
	for _, h := range []*host{second, third} {
		h.install(t, h.fetch(t, assets, "master"), "-disk")
		h.resolve(t, first.address)
		h.start(t, "isolate")
	}
	fetched, err := filepath.Glob(first.path("/var/log/containers/*machine-config-server*.log"))
	require.NoError(t, err)
	require.Len(t, fetched, 1)
	lines, err := os.ReadFile(fetched[0])
	require.NoError(t, err)
	require.Regexp(t, `address:"10\.88\.0\.12:\d+" User-Agent:"Ignition`, string(lines))

	kubeconfig := filepath.Join(assets, "auth/kubeconfig")
	ask := func(args ...string) string {
		out, _ := second.kubectl(kubeconfig, args...)
		return strings.TrimSpace(out)
	}
	first.waitFor(t, "bootkube is done", 4*time.Minute, func() bool { return first.has("/opt/openshift/.bootkube.done") })
	require.Len(t, second.members(t), 3, "the bootstrap host is still a member of etcd")
	l.move(t, second.address, first, second, third)
	first.waitFor(t, "progress has ended", time.Minute, func() bool {
		said, _ := os.ReadFile(first.path("/var/log/progress.service.log"))
		return strings.Contains(string(said), "progress.service ended: 0")
	})
	first.waitFor(t, "etcd has left it", 2*time.Minute, func() bool {
		names := second.members(t)
		return len(names) == 2 && !strings.Contains(strings.Join(names, " "), "bootstrap")
	})
	first.off()

	first.install(t, first.fetch(t, assets, "master"), "-disk")
	worker.install(t, worker.fetch(t, assets, "worker"), "-disk")
	require.False(t, worker.has("/opt/bench/pki"), "workers have no keys")
	l.move(t, second.address, first, worker)
	first.start(t, "isolate")
	worker.start(t, "isolate")
	first.waitFor(t, "it votes in etcd", 2*time.Minute, func() bool { return len(second.members(t)) == 3 })
	// No other client approves what comes after the handover: here the test is the controller.
	second.waitFor(t, "all nodes are ready", 3*time.Minute, func() bool {
		for _, line := range strings.Split(ask("get", "csr", "--no-headers"), "\n") {
			if name, _, _ := strings.Cut(line, " "); strings.HasSuffix(line, " Pending") {
				ask("certificate", "approve", name)
			}
		}
		return strings.Count(ask("get", "nodes", "--no-headers"), " Ready ") == 4
	})
	second.waitFor(t, "all is available", 2*time.Minute, func() bool {
		return ask("get", "clusterversion", "version", "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`) == "True"
	})
	t.Log("\n" + ask("get", "nodes,clusteroperators,clusterversions,csr,jobs", "-A"))

	third.off()
	second.waitFor(t, "the loss of a master is reported", 4*time.Minute, func() bool {
		return strings.HasPrefix(
			ask("get", "clusteroperator", "etcd", "-o", `jsonpath={.status.conditions[?(@.type=="Available")].message}`),
			"2 of 3 ",
		)
	})
	third.start(t, "isolate")
	second.waitFor(t, "it is back", 2*time.Minute, func() bool {
		return strings.HasPrefix(
			ask("get", "clusteroperator", "etcd", "-o", `jsonpath={.status.conditions[?(@.type=="Available")].message}`),
			"3 of 3 ",
		)
	})
}
