package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
	"slipway/test/built"
)

// A start whose files do not fit the database is refused, names the file and leaves no other in its place.
func TestStartWithoutTheFilesOfItsDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	domain := "example.com"
	_, err := f.client.RegisterCluster(t.Context(), wire.ClusterCreateParams{
		Name: "kept", OpenshiftVersion: release, PullSecret: f.pullSecret, BaseDNSDomain: &domain,
	})
	require.NoError(t, err)
	let := f.service.hold(t, syscall.SIGTERM)
	other := newFleet(t)
	otherHeld := other.service.hold(t, syscall.SIGTERM)
	defer otherHeld()

	for _, file := range []struct{ name, missing, foreign string }{
		{"keys", "is missing: this database holds secrets", "does not fit this database"},
		{"token.key", "is missing: this database was used with the token key", "does not fit this database: require the token key"},
		{"tls/ca.pem", "is missing: this database was used with the authority", "does not fit this database: require the authority"},
	} {
		at := filepath.Join(f.dataDir, file.name)
		saved, moved := map[string][]byte{}, []string{file.name}
		if file.name == "tls/ca.pem" {
			moved = append(moved, "tls/ca.key")
		}
		for _, name := range moved {
			saved[name], err = os.ReadFile(filepath.Join(f.dataDir, name))
			require.NoError(t, err)
			require.NoError(t, os.Remove(filepath.Join(f.dataDir, name)))
		}
		for range 2 { // a refused start leaves everything as it was
			out := f.startRefused(t)
			require.Contains(t, out, at)
			require.Contains(t, out, file.missing)
			require.NoFileExists(t, at)
		}
		for _, name := range moved {
			foreign, err := os.ReadFile(filepath.Join(other.dataDir, name))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(f.dataDir, name), foreign, 0o600))
		}
		out := f.startRefused(t)
		require.Contains(t, out, at)
		require.Contains(t, out, file.foreign)
		for name, content := range saved {
			require.NoError(t, os.WriteFile(filepath.Join(f.dataDir, name), content, 0o600))
		}
	}

	let()
	built.WaitReady(t, f.url)
	clusters, err := f.client.ListClusters(t.Context(), false)
	require.NoError(t, err)
	require.Len(t, clusters, 1, "with its own files the service starts as it was")
}

// A token key that is lost for good is replaced once, by a flag.
func TestLostTokenKeyIsReplacedByAFlag(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	let := f.service.hold(t, syscall.SIGTERM)
	require.NoError(t, os.Remove(filepath.Join(f.dataDir, "token.key")))
	require.Contains(t, f.startRefused(t), "--replace-identity")
	f.service.args = append(f.service.args, "--replace-identity")
	let()
	built.WaitReady(t, f.url)
	let = f.service.hold(t, syscall.SIGTERM)
	f.service.args = f.service.args[:len(f.service.args)-1]
	let()
	built.WaitReady(t, f.url)
	_, err := f.client.ListClusters(t.Context(), false)
	require.Error(t, err, "tokens of before are refused")
	_, err = built.Administrator(t, f.dataDir).ListClusters(t.Context(), false)
	require.NoError(t, err)
}

// startRefused starts the service while it is held, and returns what it says when it ends by itself.
func (f *fleet) startRefused(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), f.program, f.service.args...)
	cmd.Env = append(os.Environ(), f.service.env...)
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "the service starts: %s", out)
	return string(out)
}
