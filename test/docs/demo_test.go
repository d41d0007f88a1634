package docs_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/demo"
	"slipway/test/built"
)

// TestEveryScenarioOfTheDemoIsInstalled runs `slipway-demo` with all kinds of clusters at
// the same time, as a user would.
func TestEveryScenarioOfTheDemoIsInstalled(t *testing.T) {
	program := built.Binary(t)
	dir, err := os.MkdirTemp("", "slipway-demo-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	names := demo.ScenarioNames()
	cmd := exec.Command(
		built.Demo(t),
		"--service",
		program,
		"--scenario",
		strings.Join(names, ","),
		"--plain",
		"--speed",
		"100",
		"--timeout",
		"6m",
		"--data-dir",
		dir,
	)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "kept in %s\n%s", dir, out)
	require.Equal(t, len(names), strings.Count(string(out), " is installed after "), "%s", out)
	require.Contains(t, string(out), "cluster demo-day-2 has 2 more nodes")
	require.NoError(t, os.RemoveAll(dir))
}
