package kube_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/api/kube/agentinstall"
	"slipway/internal/testing/await"
	"slipway/test/built"
)

// The service of one machine follows a hub in its own process.
func TestServiceFollowsAHubByItself(t *testing.T) {
	t.Parallel()
	tr := startHub(t)
	tr.data = built.StartDemo(t, built.Binary(t), built.FreeAddress(t), "SLIPWAY_KUBECONFIG="+tr.account)
	tr.service = built.Administrator(t, tr.data)
	env := tr.image(t, agentinstall.InfraEnvSpec{SSHAuthorizedKey: ""})
	require.Equal(t, "env", env.Name)
}

func TestServiceWorksWithoutItsHub(t *testing.T) {
	t.Parallel()
	const away = "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n" +
		"clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\nusers: [{name: a, user: {token: t}}]\n"
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(away), 0o600))
	data := built.StartDemo(t, built.Binary(t), built.FreeAddress(t), "SLIPWAY_KUBECONFIG="+kubeconfig)
	await.True(t, func() bool {
		log, err := os.ReadFile(filepath.Join(filepath.Dir(data), "service.log"))
		require.NoError(t, err)
		return bytes.Contains(log, []byte("the resources of the hub are not followed"))
	}, "the log does not say that the hub is away")
	_, err := built.Administrator(t, data).KubeObjects(t.Context())
	require.NoError(t, err)
}
