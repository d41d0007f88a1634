package coreos_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/payload/pki"
	"slipway/test/bench/coreos"
)

// TestProgramsOfTheArchiveMakeACluster runs etcd, the API server, the controllers, a kubelet
// and the container runtime of the archive, joins the node by TLS bootstrap, and runs a job
// that uses what pods are given.
func TestProgramsOfTheArchiveMakeACluster(t *testing.T) {
	t.Parallel()
	archive := kubeArchive(t)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/kube")))
	unpack := exec.Command("tar", "--zstd", "-x", "-C", dir, "-f", archive)
	out, err := unpack.CombinedOutput()
	require.NoError(t, err, string(out))
	writePKI(t, filepath.Join(dir, "pki"))
	programs := fmt.Sprintf(`{"programs": {"hello": %q, "sleeper": "/bin/sleep"}}`, filepath.Join(dir, "hello.sh"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cri.json"), []byte(programs), 0o600))

	cluster := exec.CommandContext(
		t.Context(),
		"unshare",
		"--net",
		"--mount",
		"--uts",
		"--pid",
		"--fork",
		"--mount-proc",
		"--kill-child",
		"sh",
		filepath.Join(dir, "cluster.sh"),
	)
	cluster.Env = append(os.Environ(), "DIR="+dir, "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	cluster.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err = cluster.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, line := range []string{
		"apiserver ready", "node ready", "job complete",
		"log: arguments: two words more", "log: environment: from the map", "log: mounted: from the map",
		"log: alias: 192.0.2.3 alias.example", "log: service: 172.30.0.1", "log: asked the API",
		"pods ended", "sleeper was started: 1",
	} {
		require.Contains(t, strings.Split(string(out), "\n"), line, string(out))
	}
}

// kubeArchive returns the archive that was built last, or skips the test.
func kubeArchive(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIP: a cluster in namespaces needs root")
	}
	for _, name := range []string{"unshare", "zstd", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("SKIP: this test needs %s", name)
		}
	}
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	archive, err := coreos.FindKube(coreos.Dir(cache), coreos.KubeOptions{Source: "../kube"})
	if err != nil {
		t.Skip(
			"SKIP: the programs of a cluster are not built, or their sources have changed since (go run ./test/bench/coreos/buildkube " +
				"test/bench/kube)",
		)
	}
	return archive
}

// writePKI writes an authority, the certificates it signed, and the kubeconfigs of the cluster.
func writePKI(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.Mkdir(dir, 0o700))
	authority, err := pki.Authority("bench", time.Now())
	require.NoError(t, err)
	keys := pki.Keys(dir)
	require.NoError(t, keys.Store("ca", authority))
	require.NoError(
		t,
		keys.Issue(
			authority,
			"apiserver",
			pki.Subject{Name: "kube-apiserver", Hosts: []string{"localhost", "127.0.0.1", "10.88.0.11"}},
			time.Now(),
		),
	)
	require.NoError(t, keys.Issue(authority, "admin", pki.Subject{Name: "admin", Groups: []string{"system:masters"}}, time.Now()))
	write(t, filepath.Join(dir, "tokens.csv"), "secret-of-the-bench,bench-node-bootstrapper,bench-node-bootstrapper\n")
	write(
		t,
		filepath.Join(dir, "admin.kubeconfig"),
		kubeconfig(dir, fmt.Sprintf("client-certificate: %[1]s/admin.crt, client-key: %[1]s/admin.key", dir)),
	)
	write(t, filepath.Join(dir, "bootstrap.kubeconfig"), kubeconfig(dir, "token: secret-of-the-bench"))
}

func kubeconfig(dir, user string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: bench, cluster: {server: "https://127.0.0.1:6443", certificate-authority: %s/ca.crt}}]
users: [{name: bench, user: {%s}}]
contexts: [{name: bench, context: {cluster: bench, user: bench}}]
current-context: bench
`, dir, user)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}
