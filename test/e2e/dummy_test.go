package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

func TestClusterIsInstalledWithDummyIgnitionAndWithoutARegistry(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "DUMMY_IGNITION=true")
	require.NoError(t, f.registry.Close())
	f.define(t, fast)
	f.discover(t, fast)
	f.install(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	password, err := f.client.ClusterCredentialsFile(t.Context(), f.id, "kubeadmin-password")
	require.NoError(t, err)
	require.Contains(t, string(password), "dummy")
	config, err := f.client.InstallConfig(t.Context(), f.id)
	require.NoError(t, err)
	require.Contains(t, config, `"baseDomain":"example.com"`, "the install-config is a real one")
}
