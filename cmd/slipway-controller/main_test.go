package main

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/testing/await"
	"slipway/internal/version"
	"slipway/internal/wire"
)

// commandEnv makes the test program the command itself.
const commandEnv = "SLIPWAY_CONTROLLER_TEST_COMMAND"

const clusterID = "11111111-1111-4111-8111-111111111111"

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// service shows one cluster, over TLS.
type service struct {
	*httptest.Server
	tokens chan string // the X-Secret-Key of each read of the cluster
}

func newService(t *testing.T, status model.ClusterStatus) *service {
	t.Helper()
	s := &service{tokens: make(chan string, 100)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/assisted-install/v2/clusters/"+clusterID, func(w http.ResponseWriter, r *http.Request) {
		s.tokens <- r.Header.Get("X-Secret-Key")
		_ = json.NewEncoder(w).Encode(wire.Cluster{ID: uuid.MustParse(clusterID), Status: wire.ClusterStatus(status)})
	})
	s.Server = httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	return s
}

// write makes a file with a content.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// kubeconfig names a kube API that does not answer.
func kubeconfig(t *testing.T) string {
	t.Helper()
	return write(t, "kubeconfig", `{"apiVersion":"v1","kind":"Config","current-context":"admin",
		"clusters":[{"name":"sno","cluster":{"server":"http://127.0.0.1:1"}}],
		"users":[{"name":"admin","user":{}}],
		"contexts":[{"name":"admin","context":{"cluster":"sno","user":"admin"}}]}`)
}

// command returns the controller with flags, on a host without a cluster of its own.
func command(flags ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], flags...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "KUBERNETES_SERVICE_") {
			c.Env = append(c.Env, variable)
		}
	}
	c.Env = append(c.Env, commandEnv+"=1")
	return c
}

// deployed returns the controller as a deployment starts it: with variables.
func deployed(t *testing.T, s *service, flags ...string) *exec.Cmd {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	c := command(append([]string{"--kubeconfig", kubeconfig(t)}, flags...)...)
	c.Env = append(c.Env, "CLUSTER_ID="+clusterID, "INVENTORY_URL="+s.URL, "PULL_SECRET_TOKEN=variable",
		"CA_CERT_PATH="+write(t, "ca.pem", string(ca)))
	return c
}

func TestControllerEndsWithTheInstallation(t *testing.T) {
	t.Parallel()
	s := newService(t, model.ClusterInstalled)
	log := filepath.Join(t.TempDir(), "controller.log")
	output, err := deployed(t, s, "--log-file", log).CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "installation ended")
	content, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, string(output), string(content), "the log goes to the file as well")
}

func TestTokenIsReadFromTheFileFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"the file comes before the variable":    {write(t, "token", "file\n"), "file"},
		"the variable is used without the file": {filepath.Join(t.TempDir(), "missing"), "variable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, model.ClusterInstalled)
			output, err := deployed(t, s, "--pull-secret-token-file", c.file).CombinedOutput()
			require.NoError(t, err, "%s", output)
			require.Equal(t, c.want, await.Receive(t, s.tokens))
		})
	}
}

func TestSignalEndsTheControllerWithoutAnError(t *testing.T) {
	t.Parallel()
	s := newService(t, model.ClusterInstalling)
	folder := t.TempDir()
	controller := deployed(t, s)
	controller.Env = append(controller.Env, "TMPDIR="+folder)
	require.NoError(t, controller.Start())
	t.Cleanup(func() { _ = controller.Process.Kill() })
	await.Receive(t, s.tokens)
	logs, err := filepath.Glob(filepath.Join(folder, "slipway-controller-*.log"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	require.NoError(t, controller.Process.Signal(syscall.SIGTERM))
	require.NoError(t, controller.Wait())
	require.NoFileExists(t, logs[0], "a log file of its own is removed")
}

func TestArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	with := func(more ...string) []string {
		return append([]string{"--cluster-id", clusterID, "--inventory-url", "http://127.0.0.1:1"}, more...)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"cluster and service are required": {nil, "missing flags: --cluster-id=UUID, --inventory-url=STRING"},
		"ids are UUIDs":                    {[]string{"--cluster-id", "x"}, "invalid UUID"},
		"certificates must be readable":    {with("--ca-cert-path", "/no/such/file"), "read the certificates"},
		"the token must be readable":       {with("--pull-secret-token-file", "/"), "read the token"},
		"the kubeconfig must be readable":  {with("--kubeconfig", "/no/such/file"), "read kubeconfig /no/such/file"},
		"outside a cluster one is named":   {with(), "outside of one, give --kubeconfig"},
		"the log file must be writable":    {with("--log-file", "/no/such/folder/log"), "open the log file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output, err := command(c.args...).CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(output), c.want)
		})
	}
}

func TestVersionIsPrinted(t *testing.T) {
	t.Parallel()
	output, err := command("--version").CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(output), "slipway-controller "+version.Number+" (")
}
