package cluster_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/cluster/openshift"
	"slipway/test/bench/coreos"
	"slipway/test/built"
)

const (
	servicePort = "8090"
	serviceURL  = "https://" + gateway + ":" + servicePort
)

// requirements of emulated machines, as a node of the bench.
const requirements = `[{"version":"default",
	"master":{"cpu_cores":1,"ram_mib":3072,"disk_size_gb":20,"installation_disk_speed_threshold_ms":1000,"network_latency_threshold_ms":1000,"packet_loss_percentage":10},
	"arbiter":{"cpu_cores":1,"ram_mib":2048,"disk_size_gb":20,"installation_disk_speed_threshold_ms":1000,"network_latency_threshold_ms":1000,"packet_loss_percentage":10},
	"worker":{"cpu_cores":1,"ram_mib":1536,"disk_size_gb":20,"installation_disk_speed_threshold_ms":1000,"network_latency_threshold_ms":1000,"packet_loss_percentage":10},
	"sno":{"cpu_cores":1,"ram_mib":4096,"disk_size_gb":20,"installation_disk_speed_threshold_ms":1000},
	"edge-worker":{"cpu_cores":1,"ram_mib":1536,"disk_size_gb":15,"installation_disk_speed_threshold_ms":1000}}]`

// service is `slipway up` in the network of the machines.
type service struct {
	*client.Client
	site *site
	env  []string
	cmd  *exec.Cmd
	http *http.Client
}

func newService(t *testing.T, l *site, g *gap, r release, system coreos.Artifacts) *service {
	t.Helper()
	s := &service{site: l, env: []string{
		built.ExistingUser(),
		"RELEASE_IMAGES=" + r.offers(t), "HW_VALIDATOR_REQUIREMENTS=" + requirements,
		"INSTALLER_IMAGE=" + r.image,
		"OS_IMAGES=" + text(
			t,
			openshift.OSImages{{OpenShiftVersion: "4.20", CPUArchitecture: "x86_64", URL: system.LiveISO, Version: "420.bench"}},
		),
	}}
	if g == nil {
		s.env = append(s.env, "SLIPWAY_INSECURE_REGISTRY="+registry)
	} else {
		s.env = append(s.env, g.settings(t)...)
	}
	anyCertificate := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // until its authority is known
	s.http = &http.Client{Transport: &http.Transport{DialContext: l.Dial, TLSClientConfig: anyCertificate}}
	s.start(t)
	s.waitReady(t)
	admin := built.Admin(t, filepath.Join(l.dir, "service"))
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(admin.Authority))
	s.http = &http.Client{Transport: &http.Transport{
		DialContext: l.Dial, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}
	s.Client = client.New(client.Options{
		BaseURL: serviceURL, UserToken: admin.Secret(), UserAgent: "slipway-bench", HTTPClient: s.http,
	})
	return s
}

func (s *service) start(t *testing.T) {
	t.Helper()
	s.cmd = s.site.Start(t, filepath.Join(s.site.dir, "service.log"), s.env, absolute(t, *program),
		"up", "--data-dir", filepath.Join(s.site.dir, "service"), "--listen", gateway+":"+servicePort, "--base-url", serviceURL,
		"--image-service-url", serviceURL, "--temporal-port", "0", "--agent-binaries", filepath.Dir(absolute(t, *program)),
		// The stand-in of the installer reads its own files, in folders of this test.
		"--installer-user", "0", "--installer-paths", filepath.Join(s.site.dir, "payload")+":"+filepath.Join(s.site.dir, "installer.json"))
}

func (s *service) waitReady(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		response, err := s.http.Get(serviceURL + "/ready")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, 5*time.Minute, 100*time.Millisecond, "the service is not ready")
}

// crash kills the service as a power cut would, its database and its Temporal server with
// it, and starts it again.
func (s *service) crash(t *testing.T) {
	t.Helper()
	require.NoError(t, syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL))
	_ = s.cmd.Wait()
	s.start(t)
	s.waitReady(t)
}

// download writes what is at an address of the service to a file.
func (s *service) download(t *testing.T, address, file string) {
	t.Helper()
	response, err := s.http.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode, address)
	out, err := os.Create(file)
	require.NoError(t, err)
	_, err = io.Copy(out, response.Body)
	require.NoError(t, err)
	require.NoError(t, out.Close())
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}
