package helm_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"slipway/internal/testing/await"
	"slipway/internal/testing/pgtest"
	"slipway/test/built"
	"slipway/test/hub"
)

// trial has the ports and addresses that the pods of a test run with.
type trial struct {
	api, worker, images int
	temporal            string
	database            string
}

// values writes the file of values of a trial on this machine.
func (tr trial) values(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
image: {repository: registry.example.com/slipway-replica}
baseURL: https://127.0.0.1:%[1]d
tls: {mode: generate}
database: {url: %[4]q}
blobs: {url: "s3://bucket"}
temporal: {address: %[5]q}
api: {port: %[1]d}
worker: {port: %[2]d}
images: {port: %[3]d, baseURL: "https://127.0.0.1:%[3]d", apiURL: "https://127.0.0.1:%[1]d", storage: {persistent: false}}
`, tr.api, tr.worker, tr.images, tr.database, tr.temporal), 0o600))
	return file
}

// The Job and the pods of a release run as processes: they find keys, certificate and settings where the chart puts them, as a user that
// writes nothing but its volumes, against a real PostgreSQL and a real Temporal. The object store is a folder: the address is replaced.
func TestPodsRunAsProcesses(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("SKIP: pods with roots of their own need root")
	}
	for _, name := range []string{"unshare", "setpriv", "chroot"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("SKIP: this test needs %s", name)
		}
	}
	helm, temporal, binary := tool(t, "HELM"), tool(t, "TEMPORAL_CLI"), built.Binary(t)
	url := pgtest.URL(t)
	port := built.FreePorts(t, 4)
	tr := trial{port, port + 1, port + 2, net.JoinHostPort("127.0.0.1", strconv.Itoa(port+3)), url}
	startTemporal(t, temporal, tr.temporal)
	m, err := render(t.Context(), helm, tr.values(t))
	require.NoError(t, err)

	objects := built.Folder(t, "objects")
	require.NoError(t, os.Chmod(objects, 0o777)) //nolint:gosec // the pods' user writes there
	n := &node{binary: binary, contents: contents(t, m), files: []string{socketOf(t, url), objects}}
	all := map[string]pod{}
	for _, p := range pods(t, m) {
		for i, env := range p.spec.Containers[0].Env {
			if env.Name == "SLIPWAY_BLOB_URL" {
				p.spec.Containers[0].Env[i].Value = "file://" + objects
			}
		}
		all[p.component] = p
	}

	migrate := n.start(t, all["migrate"])
	<-migrate.Ended
	require.Equal(t, 0, migrate.ProcessState.ExitCode(), text(t, migrate))
	require.Contains(t, text(t, migrate), "database is up to date")

	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(n.contents["lab-slipway-tls"]["ca.crt"]))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	token := ""
	for _, component := range []string{"worker", "api", "images"} {
		p := all[component]
		running := n.start(t, p)
		for _, probe := range []*corev1.Probe{
			p.container(t).StartupProbe, p.container(t).LivenessProbe, p.container(t).ReadinessProbe,
		} {
			passes(t, client, running, p.container(t), probe)
		}
		require.NotContains(t, text(t, running), `"level":"ERROR"`)
		if component == "api" {
			token = strings.TrimSpace(n.exec(t, running, "context", "token")) // as the chart's notes say
		}
	}

	request, err := http.NewRequestWithContext(
		t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/api/assisted-install/v2/clusters", tr.api), nil,
	)
	require.NoError(t, err)
	for credential, want := range map[string]int{"": http.StatusUnauthorized, "Bearer " + token: http.StatusOK} {
		request.Header.Set("Authorization", credential)
		answer, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode)
	}
	// The image service asks the API, by the authority of the chart: it passes the API's answer on.
	answer, err := client.Get(fmt.Sprintf("https://127.0.0.1:%d/byapikey/wrong/4.20/x86_64/full.iso", tr.images))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
}

// startTemporal starts Temporal's development server at an address, and waits until it listens.
func startTemporal(t *testing.T, program, address string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	server := exec.Command(program, "server", "start-dev", "--headless", "--ip", host, "--port", port, "--log-level", "error")
	hub.Run(t, "temporal", filepath.Join(t.TempDir(), "temporal.log"), server)
	await.True(t, func() bool {
		connection, err := net.DialTimeout("tcp", address, time.Second)
		return err == nil && connection.Close() == nil
	}, "Temporal does not listen")
}

// passes waits until a probe succeeds, as a kubelet asks it.
func passes(t *testing.T, client *http.Client, p *hub.Process, c corev1.Container, probe *corev1.Probe) {
	t.Helper()
	var number int32
	for _, port := range c.Ports {
		if port.Name == probe.HTTPGet.Port.StrVal {
			number = port.ContainerPort
		}
	}
	address := fmt.Sprintf("%s://127.0.0.1:%d%s", strings.ToLower(string(probe.HTTPGet.Scheme)), number, probe.HTTPGet.Path)
	last := ""
	await.True(t, func() bool {
		select {
		case <-p.Ended:
			require.Failf(t, "the process has ended", "%s", text(t, p))
		default:
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(probe.TimeoutSeconds)*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		require.NoError(t, err)
		response, err := client.Do(request)
		if err != nil {
			last = err.Error()
			return false
		}
		defer response.Body.Close()
		last = response.Status
		return response.StatusCode == http.StatusOK
	}, address, &last)
}

// contents returns the contents of the Secrets and ConfigMaps that the chart renders.
func contents(t *testing.T, m manifests) map[string]map[string][]byte {
	t.Helper()
	all := map[string]map[string][]byte{}
	for _, object := range m {
		content := map[string][]byte{}
		for _, member := range []string{"data", "stringData"} {
			values, _ := object.Object[member].(map[string]any)
			for key, value := range values {
				text := []byte(value.(string))
				if object.GetKind() == "Secret" && member == "data" {
					var err error
					text, err = base64.StdEncoding.DecodeString(value.(string))
					require.NoError(t, err)
				}
				content[key] = text
			}
		}
		if kind := object.GetKind(); kind == "Secret" || kind == "ConfigMap" {
			all[object.GetName()] = content
		}
	}
	return all
}

// socketOf returns the folder of the socket in the address of a database.
func socketOf(t *testing.T, url string) string {
	t.Helper()
	_, rest, found := strings.Cut(url, "host=")
	require.True(t, found, url)
	folder, _, _ := strings.Cut(rest, " ")
	return folder
}

// text returns what a process has printed.
func text(t *testing.T, p *hub.Process) string {
	t.Helper()
	content, err := os.ReadFile(p.Log)
	require.NoError(t, err)
	return string(content)
}
