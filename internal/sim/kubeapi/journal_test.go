package kubeapi_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"slipway/internal/sim/kubeapi"
	"slipway/internal/testing/await"
)

func TestJournalKeepsObjectsOverARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kube.journal")
	first, url := start(t, kubeapi.Options{Journal: path})
	ctx, maps := await.Context(t), clientOf(t, url, kubeapi.UserAdmin).CoreV1().ConfigMaps("one")
	var last *corev1.ConfigMap
	for _, name := range []string{"kept", "deleted"} {
		var err error
		last, err = maps.Create(ctx, configMap(name, "1"), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, maps.Delete(ctx, "deleted", metav1.DeleteOptions{}))
	secrets := clientOf(t, url, kubeapi.UserAdmin).CoreV1().Secrets("")
	signers, err := secrets.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.NoError(t, first.Close(ctx))

	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"type":"ADDED","object":{"kind":"Conf`) // killed while it wrote
	require.NoError(t, err)
	require.NoError(t, file.Close())

	_, url = start(t, kubeapi.Options{Journal: path})
	client := clientOf(t, url, kubeapi.UserAdmin)
	list, err := client.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	require.Equal(t, "kept", list.Items[0].Name)
	again, err := client.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, signers.Items, again.Items, "the signer is the same")
	newer, err := client.CoreV1().ConfigMaps("one").Create(ctx, configMap("newer", "1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Greater(t, version(t, newer), version(t, last))
}

func version(t *testing.T, m *corev1.ConfigMap) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(m.ResourceVersion, 10, 64)
	require.NoError(t, err)
	return v
}

func TestJournalThatIsDamagedIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kube.journal")
	require.NoError(t, os.WriteFile(path, []byte("not json\n"), 0o600))
	_, err := kubeapi.New(kubeapi.Options{Journal: path})
	require.ErrorContains(t, err, "line 1")
}
