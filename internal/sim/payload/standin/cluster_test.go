package standin_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload/standin"
)

func TestOthersMayMakeTheBootstrapConfig(t *testing.T) {
	t.Parallel()
	dir := prepare(t, highlyAvailable)
	var got standin.Cluster
	var out bytes.Buffer
	code := standin.Main(standin.Call{
		Args: []string{"create", "ignition-configs", "--dir", dir},
		Env:  []string{"OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=registry/release:1"},
		Now:  time.Unix(1_800_000_000, 0), Stdout: &out, Stderr: &out,
		Bootstrap: func(c standin.Cluster) ([]byte, error) {
			got = c
			return []byte("theirs"), nil
		},
	})
	require.Zero(t, code, out.String())
	written, err := os.ReadFile(filepath.Join(dir, "bootstrap.ign"))
	require.NoError(t, err)
	require.Equal(t, "theirs", string(written))
	require.FileExists(t, filepath.Join(dir, "master.ign"))
	require.Equal(t, []string{"a", "b", "d"}, got.Masters)
	require.Equal(t, []string{"192.168.10.5"}, got.APIVIPs)
	require.Equal(t, 3, got.ControlPlane)
	require.False(t, got.InPlace)
	require.Contains(t, got.Files, "/opt/openshift/manifests/cluster-infrastructure-02-config.yml")
	require.Contains(t, string(got.Files["/opt/openshift/auth/kubeconfig"]), "api-int.")
}
