package cluster_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/wire"
)

// prove looks at the cluster as its user does, with what Slipway hands out.
func (b *bench) prove(t *testing.T) {
	t.Helper()
	cluster, err := b.service.Cluster(t.Context(), b.id)
	require.NoError(t, err)
	for i := range cluster.Hosts {
		h := &cluster.Hosts[i]
		require.Equal(t, wire.HostStatusInstalled, h.Status, h.RequestedHostname)
		require.Equal(t, wire.HostStageDone, h.Progress.CurrentStage, h.RequestedHostname)
		require.Equal(t, 1+b.machine(t, h).repeats, b.machine(t, h).written(), "images written to the disk of %s", b.machine(t, h).name)
		require.Equal(t, 1, b.machine(t, h).marked(firstBoot), "first boots of %s that end with a reboot", b.machine(t, h).name)
	}
	kube := b.kubectl(t, "kubeconfig")
	nodes := kube(t, "", "get", "nodes", "--output", "wide")
	fmt.Println("$ kubectl get nodes --output wide\n" + nodes)
	ready := kube(
		t,
		"",
		"get",
		"nodes",
		"--output",
		`jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}`,
	)
	for _, m := range b.machines {
		require.Contains(t, ready, m.name+"=True")
	}
	operators := kube(t, "", "get", "clusteroperators,clusterversion")
	fmt.Println("$ kubectl get clusteroperators,clusterversion\n" + operators)
	available := kube(
		t,
		"",
		"get",
		"clusteroperators",
		"--output",
		`jsonpath={range .items[*]}{.status.conditions[?(@.type=="Available")].status}{"\n"}{end}`,
	)
	require.NotEmpty(t, available)
	require.NotContains(t, available, "False")
	if b.gap != nil {
		b.gap.prove(t)
	}
	b.proveRogue(t, kube)
	b.proveLogs(t, cluster)
}

// kubectl runs the real one in the network of the machines, whose DNS it asks, with the
// credentials that Slipway hands out: kubeconfig, or kubeconfig-noingress before there is one.
func (b *bench) kubectl(t *testing.T, credentials string) func(t *testing.T, input string, args ...string) string {
	t.Helper()
	dir := b.site.dir
	out, err := exec.Command("tar", "--extract", "--zstd", "--file", b.release.kube, "--directory", dir, "bin/kubectl").CombinedOutput()
	require.NoError(t, err, "%s", out)
	config, err := b.service.ClusterCredentialsFile(t.Context(), b.id, credentials)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, credentials), config, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "resolv.conf"), []byte("nameserver "+gateway+"\n"), 0o644))
	return func(t *testing.T, input string, args ...string) string {
		t.Helper()
		// Its own mount namespace: this machine keeps its resolv.conf.
		const script = `mount --bind "$1" "$(readlink -f /etc/resolv.conf)" && shift && exec "$@"`
		command := append([]string{
			"netns", "exec", b.site.Name, "unshare", "--mount", "sh", "-euc", script, "sh", filepath.Join(dir, "resolv.conf"),
			filepath.Join(dir, "bin/kubectl"), "--kubeconfig", filepath.Join(dir, credentials), "--request-timeout", "60s",
		}, args...)
		run := exec.Command("ip", command...)
		run.Stdin = strings.NewReader(input)
		var stdout, stderr bytes.Buffer
		run.Stdout, run.Stderr = &stdout, &stderr
		require.NoError(t, run.Run(), "kubectl %s: %s", strings.Join(args, " "), stderr.String())
		return stdout.String()
	}
}

// proveRogue asks for the certificate of a node that no host of the cluster is, as a host would: it must not be approved. The controller
// is gone by now; the payload's request shows that the controller left such requests pending.
func (b *bench) proveRogue(t *testing.T, kube func(*testing.T, string, ...string) string) {
	t.Helper()
	requests := kube(
		t,
		"",
		"get",
		"certificatesigningrequests",
		"--output",
		`jsonpath={range .items[*]}{.metadata.name}={.status.conditions[0].type}{"\n"}{end}`,
	)
	fmt.Println("$ kubectl get certificatesigningrequests\n" + kube(t, "", "get", "certificatesigningrequests"))
	require.Contains(t, requests, rogueName+"=\n", "the rogue request is pending")
	require.Equal(t, 1, strings.Count(requests, "=\n"), "no other request is pending")
}

const rogueName = "rogue"

// askAsRogue sends a request for the certificate of a node that is no host of the cluster.
func (b *bench) askAsRogue(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	subject := pkix.Name{CommonName: "system:node:intruder", Organization: []string{"system:nodes"}}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	require.NoError(t, err)
	request := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	b.kubectl(
		t,
		"kubeconfig-noingress",
	)(
		t,
		fmt.Sprintf(`{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":%q},
		"spec":{"request":%q,"signerName":"kubernetes.io/kube-apiserver-client-kubelet","usages":["digital signature","client auth"]}}`,
			rogueName, request),
		"create",
		"--filename",
		"-",
		"--as",
		"system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
		"--as-group",
		"system:serviceaccounts",
		"--as-group",
		"system:authenticated",
	)
	b.timeline.say("rogue certificate request sent")
}

// proveLogs downloads the logs of all hosts and of the controller.
func (b *bench) proveLogs(t *testing.T, cluster *wire.Cluster) {
	t.Helper()
	for i := range cluster.Hosts {
		h := &cluster.Hosts[i]
		files := b.logs(t, wire.LogsTypeHost, h.ID)
		fmt.Printf("logs of %s: %s\n", b.machine(t, h).name, strings.Join(files, " "))
		require.NotEmpty(t, files)
	}
	files := b.logs(t, wire.LogsTypeController, uuid.Nil)
	fmt.Printf("logs of the controller: %s\n", strings.Join(files, " "))
	require.NotEmpty(t, files)
}

// logs lists the names and sizes of the files in an archive of logs.
func (b *bench) logs(t *testing.T, kind wire.LogsType, host uuid.UUID) (names []string) {
	t.Helper()
	var content bytes.Buffer
	require.NoError(t, b.service.ClusterLogs(t.Context(), b.id, kind, host, &content, client.WithRetry(0)))
	unpacked, err := gzip.NewReader(&content)
	require.NoError(t, err)
	for files := tar.NewReader(unpacked); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		require.NoError(t, err)
		if header.Typeflag == tar.TypeReg {
			names = append(names, fmt.Sprintf("%s (%d bytes)", header.Name, header.Size))
		}
	}
}
