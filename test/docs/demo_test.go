package docs_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/demo"
	"slipway/test/built"
)

// atOnce is how many clusters the demo installs at the same time: more only wait for each other's processors.
const atOnce = 6

// TestEveryScenarioOfTheDemoIsInstalled runs `slipway-demo` with all kinds of clusters, as a user would, some at a time.
func TestEveryScenarioOfTheDemoIsInstalled(t *testing.T) {
	var out string
	for names := range slices.Chunk(demo.ScenarioNames(), atOnce) {
		out += runDemo(t, names)
	}
	require.Contains(t, out, "cluster demo-day-2 has 2 more nodes")
	for cluster, held := range map[string]string{
		"ha has its Machines": "bare metal hosts (5) that are free and have Machines",
		"vsphere has no Machines": "cluster demo-vsphere holds: all nodes (5), ready and without taints; " +
			"no machines; no machinesets; no controlplanemachinesets",
		"nutanix is initialized by its cloud":          "nodes that the cloud initialized",
		"external has its controller":                  "daemonsets oci-cloud-controller-manager; nodes that the cloud initialized",
		"none has nodes in the network that leads out": "the addresses of nodes in 192.168.122.0/24",
		"okd is of its own version":                    "clusterversions version with version 4.20.0-okd-scos.13",
		"fips is refused without a variable":           "cluster demo-fips is refused",
		"fips is accepted with it":                     "machineconfigs 99-master-fips with fips true",
		"arm64 has a node of arm64":                    "a node of arm64",
		"odf has its storage":                          "storageclusters ocs-storagecluster with flexibleScaling true",
		"cnv has its virtualization":                   "hyperconvergeds kubevirt-hyperconverged",
	} {
		require.Contains(t, out, held, cluster)
	}
}

// runDemo installs scenarios at the same time, and returns what the demo prints.
func runDemo(t *testing.T, names []string) string {
	t.Helper()
	program := built.Binary(t)
	dir, err := os.MkdirTemp("", "slipway-demo-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	cmd := exec.Command(
		built.Demo(t),
		"--service",
		program,
		"--scenario",
		strings.Join(names, ","),
		"--plain",
		"--speed",
		"100",
		"--data-dir",
		dir,
	)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "kept in %s\n%s", dir, out)
	require.Equal(t, len(names), strings.Count(string(out), " is installed after "), "%s", out)
	require.Equal(t, len(names), strings.Count(string(out), " holds: "), "each is looked at through its own API: %s", out)
	require.NoError(t, os.RemoveAll(dir))
	return string(out)
}
