package hostexec_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/await"
)

// atOnce is how many commands the helper runs at the same time.
const atOnce = 40

func TestExecKeepsNoThreadsOfCommandsThatAreOver(t *testing.T) {
	t.Parallel()
	helper := exec.Command(os.Args[0], "-test.run=^TestHelperRunsManyCommands$", "-test.v")
	helper.Env = append(os.Environ(), "HELPER_THREADS=1")
	out, err := helper.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "threads counted")
}

// TestHelperRunsManyCommands counts threads in a process where no other test makes any.
func TestHelperRunsManyCommands(t *testing.T) {
	if os.Getenv("HELPER_THREADS") == "" {
		t.Skip("only as a process of another test")
	}
	var all, running sync.WaitGroup
	running.Add(atOnce)
	// Each command ends when the file of the gate is there.
	gate := filepath.Join(t.TempDir(), "open")
	for range atOnce {
		all.Go(func() {
			_, err := hostexec.Exec{}.Run(t.Context(), hostexec.Cmd{
				Name: "sh", Args: []string{"-c", "echo begun; until [ -e " + gate + " ]; do sleep 0.1; done"},
				Output: func([]byte) { running.Done() },
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	require.Greater(t, threads(t), atOnce/2, "running commands hold their threads")
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	all.Wait()
	await.True(t, func() bool { return threads(t) < atOnce/2 }, "threads stay: %d", threads(t))
	t.Log("threads counted")
}

func threads(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	return len(entries)
}
