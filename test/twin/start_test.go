package twin

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/built"
)

// settings of the recorded service.
var settings = []string{
	"AUTH_TYPE=none", built.PlainHTTP, "DUMMY_IGNITION=true", "CLUSTER_MONITOR_INTERVAL=1s", "HOST_MONITOR_INTERVAL=1s",
	"TNA_CLUSTERS_SUPPORT=true", "TNF_CLUSTERS_SUPPORT=true", "NVIDIA_REQUIRE_GPU=true", "AMD_REQUIRE_GPU=true",
	"DISK_ENCRYPTION_SUPPORT=true", "IPV6_SUPPORT=true", "CHECK_CLUSTER_VERSION=False", "ENABLE_SINGLE_NODE_DNSMASQ=True",
	"PUBLIC_CONTAINER_REGISTRIES=quay.io,registry.ci.openshift.org", "AGENT_DOCKER_IMAGE=" + agentImage,
}

// start runs the binary until the test ends. TWIN_URL names a service that runs already.
func start(t *testing.T) service {
	t.Helper()
	if url := os.Getenv("TWIN_URL"); url != "" {
		return service{url}
	}
	program := built.Binary(t)
	// Not t.TempDir: its path is too long for the database's socket.
	dir, err := os.MkdirTemp("", "slipway-twin-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	log, err := os.Create(filepath.Join(dir, "service.log"))
	require.NoError(t, err)
	address := built.FreeAddress(t)
	cmd := exec.Command(program, "up", "--data-dir", filepath.Join(dir, "service"), "--listen", address, "--temporal-port", "0")
	cmd.Env = append(cmd.Environ(), settings...)
	for name, file := range map[string]string{
		"RELEASE_IMAGES": "release-images", "OS_IMAGES": "os-images", "HW_VALIDATOR_REQUIREMENTS": "hw-requirements",
	} {
		cmd.Env = append(cmd.Env, name+"="+compact(t, filepath.Join("testdata", file+".json")))
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = log.Close()
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	url := "http://" + address
	built.WaitReady(t, url)
	return service{url}
}

func compact(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, json.Compact(&out, text))
	return out.String()
}
