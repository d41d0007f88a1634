package vm_test

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/cluster/openshift"
	"slipway/internal/sim/payload"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
	"slipway/test/bench/coreos"
	"slipway/test/bench/vm"
	"slipway/test/built"
)

// The first of these is the newest version whose hosts take keyfiles, the second the
// oldest whose hosts apply NMState themselves (docs/reference/images.md, "Static networks
// from 4.18 on").
const (
	keyfiles = "4.17"
	nmstate  = "4.18"
)

// requirements of an emulated machine.
const requirements = `[{"version":"default",
	"master":{"cpu_cores":1,"ram_mib":1536,"disk_size_gb":20,"installation_disk_speed_threshold_ms":1000,"network_latency_threshold_ms":1000,"packet_loss_percentage":10},
	"arbiter":{"cpu_cores":1,"ram_mib":1536,"disk_size_gb":20,"installation_disk_speed_threshold_ms":1000,"network_latency_threshold_ms":1000,"packet_loss_percentage":10},
	"worker":{"cpu_cores":1,"ram_mib":1536,"disk_size_gb":20,"installation_disk_speed_threshold_ms":1000,"network_latency_threshold_ms":1000,"packet_loss_percentage":10},
	"sno":{"cpu_cores":1,"ram_mib":1536,"disk_size_gb":20,"installation_disk_speed_threshold_ms":1000},
	"edge-worker":{"cpu_cores":1,"ram_mib":1536,"disk_size_gb":15,"installation_disk_speed_threshold_ms":1000}}]`

// service is `slipway up` with the bench's live image, on the loopback interface.
type service struct {
	client *client.Client
	local  string // host:port here
	remote string // the same, as machines see it
	// registry has the releases, host:port here
	registry string
}

func newService(t *testing.T, system coreos.Artifacts) *service {
	t.Helper()
	// Not t.TempDir: the folder above it is closed to the user of the database.
	dir, err := os.MkdirTemp("", "slipway-vm-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	served, err := payload.Serve(t.Context(), payload.Options{
		Versions: []string{
			keyfiles + ".0",
			nmstate + ".0",
		}, Architecture: "amd64", InstallerCommand: []string{"/bin/false"}, // no cluster is installed
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = served.Close() })
	address := built.FreeAddress(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	s := &service{
		client:   client.New(client.Options{BaseURL: "http://" + address}),
		local:    address,
		remote:   net.JoinHostPort(vm.HostAddress, port),
		registry: served.Address(),
	}

	var images openshift.OSImages
	var releases []map[string]any
	for _, version := range []string{keyfiles, nmstate} {
		images = append(
			images,
			openshift.OSImage{OpenShiftVersion: version, CPUArchitecture: "x86_64", URL: system.LiveISO, Version: version + ".bench"},
		)
		releases = append(
			releases,
			map[string]any{
				"openshift_version": version,
				"version":           version + ".0",
				"cpu_architecture":  "x86_64",
				"url":               served.ReleaseImage(version + ".0"),
			},
		)
	}
	up := exec.Command(program(t), "up", "--listen", address, "--data-dir", filepath.Join(dir, "data"),
		"--temporal-port", "0", "--installer-user", "0",
		"--base-url", "http://"+s.remote, "--image-service-url", "http://"+s.remote,
		"--os-images", text(t, images), "--release-images", text(t, releases), "--agent-binaries", agents(t))
	up.Env = append(os.Environ(), "HW_VALIDATOR_REQUIREMENTS="+requirements, "SLIPWAY_INSECURE_REGISTRY="+served.Address(),
		"AUTH_TYPE=none", "SLIPWAY_INSECURE_OPEN=true", built.PlainHTTP, built.ExistingUser(), // firmware knows no authority of ours
		"INSTALLER_IMAGE="+served.ReleaseImage(keyfiles+".0")) // hosts pull it, and do not run it
	log, err := os.Create(filepath.Join(dir, "service.log"))
	require.NoError(t, err)
	up.Stdout, up.Stderr = log, log
	up.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, up.Start())
	t.Cleanup(func() {
		_ = up.Process.Signal(syscall.SIGTERM)
		_ = up.Wait()
		_ = log.Close()
		if t.Failed() {
			t.Logf("the service's files are kept in %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	built.WaitReady(t, "http://"+address)
	return s
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

// environment makes an InfraEnv.
func (s *service) environment(t *testing.T, name string, image wire.ImageType, change func(*wire.InfraEnvCreateParams)) *wire.InfraEnv {
	t.Helper()
	architecture := wire.InfraEnvCreateParamsCPUArchitecture("x86_64")
	openShift := keyfiles
	params := wire.InfraEnvCreateParams{
		Name: name, ImageType: &image, OpenshiftVersion: &openShift, CPUArchitecture: &architecture,
		PullSecret: `{"auths":{"registry.example":{"auth":"dXNlcjpwYXNzd29yZA=="}}}`,
	}
	change(&params)
	e, err := s.client.RegisterInfraEnv(t.Context(), params)
	require.NoError(t, err)
	return e
}

// download writes what is at an address for machines to a file.
func (s *service) download(t *testing.T, address, file string) {
	t.Helper()
	response, err := http.Get(strings.Replace(address, s.remote, s.local, 1)) //nolint:gosec // the test's own service
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode, address)
	out, err := os.Create(file)
	require.NoError(t, err)
	_, err = io.Copy(out, response.Body)
	require.NoError(t, errors.Join(err, out.Close()))
}

// inventory waits until a machine's agent has registered and said what the machine is.
func (s *service) inventory(t *testing.T, m *vm.Machine, infraEnv uuid.UUID) wire.Inventory {
	t.Helper()
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	limit := time.After(await.Limit(t))
	registered := false
	for {
		hosts, err := s.client.ListHosts(t.Context(), infraEnv)
		require.NoError(t, err)
		if len(hosts) == 1 && !registered {
			registered = true
			m.Mark("agent registered")
		}
		if len(hosts) == 1 && hosts[0].Inventory != "" {
			m.Mark("inventory")
			var inventory wire.Inventory
			require.NoError(t, json.Unmarshal([]byte(hosts[0].Inventory), &inventory))
			return inventory
		}
		select {
		case <-ticker.C:
		case <-m.Done():
			require.Fail(t, "the machine switched itself off")
		case <-limit:
			require.Fail(t, "no inventory")
		}
	}
}
