package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/test/built"
)

// TestWizardOfTheConsoleInstallsACluster goes through the console of openshift-assisted in a browser (wizard/drive.mjs): three
// masters from "Create Cluster" to the kubeconfig, and its static networks with and without VLAN, two stacks and a bond.
func TestWizardOfTheConsoleInstallsACluster(t *testing.T) {
	for _, needed := range []string{"CHROMIUM", "PLAYWRIGHT", "CONSOLE"} {
		if os.Getenv(needed) == "" {
			t.Skip("SKIP: this test needs Chromium, Playwright and the console (make test-clients)")
		}
	}
	program, address := built.Binary(t), built.FreeAddress(t)
	// The console sends no credentials: a proxy with a login stands before it.
	built.StartDemo(t, program, address, "AUTH_TYPE=none", built.PlainHTTP)
	dir, err := filepath.Abs("wizard")
	require.NoError(t, err)
	work := t.TempDir()
	require.NoError(t, os.CopyFS(work, os.DirFS(dir)))
	t.Cleanup(func() { built.EndListed(t, filepath.Join(work, "pids")) })
	drive := exec.CommandContext(await.Context(t), "node", "drive.mjs", "http://"+address)
	drive.Dir = work
	drive.Env = append(drive.Environ(), "SLIPWAY_URL=http://"+address,
		"PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := drive.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "installed, kubeconfig\n")
	require.Equal(t, 8, strings.Count(string(out), " stored\n"), string(out))
	require.Contains(t, string(out), "kinds of requests, none refused\n")
}
