package e2e_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/encryption"
	"slipway/internal/testing/vaulttest"
	"slipway/internal/wire"
	"slipway/test/built"
)

// A service whose keys were in clear has them sealed by a key service, rotates them, and is given them by systemd in the end.
func TestKeysAreSealedByAKeyServiceAndGivenBySystemd(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	domain, vault := "example.com", vaulttest.New(t)
	_, err := f.client.RegisterCluster(t.Context(), wire.ClusterCreateParams{
		Name: "kept", OpenshiftVersion: release, PullSecret: f.pullSecret, BaseDNSDomain: &domain,
	})
	require.NoError(t, err)
	clusters := func() {
		t.Helper()
		built.WaitReady(t, f.url)
		found, err := f.client.ListClusters(t.Context(), false)
		require.NoError(t, err)
		require.Len(t, found, 1)
	}
	keys := func(args ...string) string {
		t.Helper()
		cmd := f.command(t, append([]string{"keys"}, args...)...)
		cmd.Env = append(append(cmd.Env, vault.Environment()...), "SLIPWAY_KEY_SERVICE=hashivault://slipway")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	path := filepath.Join(f.dataDir, "keys")
	let := f.service.hold(t, syscall.SIGTERM)
	require.Contains(t, keys("seal"), path+" is sealed")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, encryption.Sealed(content))
	out := f.startRefused(t)
	require.Contains(t, out, path+": sealed by a key service: require --key-service")
	f.service.set(append(vault.Environment(), "SLIPWAY_KEY_SERVICE=hashivault://slipway")...)
	let()
	clusters()
	require.Regexp(t, `(?s)^key [0-9a-f]{8} encrypts from now on.*are encrypted with key`, keys("rotate", "--wait", "2m"))
	require.Regexp(t, `(?m)^[0-9a-f]{8} +decrypts `, keys("list"))
	require.Contains(t, f.refused(t, "keys", "list"), "require --key-service")

	let = f.service.hold(t, syscall.SIGTERM)
	credentials := filepath.Join(f.dir, "credentials")
	require.NoError(t, os.Mkdir(credentials, 0o700))
	require.NoError(t, os.Rename(path, filepath.Join(credentials, "slipway-keys")))
	require.Contains(t, f.startRefused(t), path+" is missing")
	f.service.set("CREDENTIALS_DIRECTORY=" + credentials)
	let()
	clusters()
	require.NoFileExists(t, path)

	let = f.service.hold(t, syscall.SIGTERM)
	defer let()
	require.NoError(t, os.Remove(filepath.Join(credentials, "slipway-keys")))
	_, err = encryption.File{Path: filepath.Join(credentials, "slipway-keys")}.LoadOrCreate()
	require.NoError(t, err)
	require.Regexp(t, `slipway-keys does not fit this database: require key [0-9a-f]{8}, in use since [^,]+, found [0-9a-f]{8}:`, f.startRefused(t))
}
