package conformance_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/wire"
	"slipway/test/built"
)

const pullSecret = `{"auths":{"cloud.openshift.com":{"auth":"dXNlcjpwYXNzd29yZAo=","email":"r@r.com"}}}`

// tester returns the program, put into the cache by `make schemathesis`.
func tester(t *testing.T) string {
	t.Helper()
	path := os.Getenv("SCHEMATHESIS")
	if _, err := os.Stat(path); path == "" || err != nil {
		t.Skip("SKIP: this test needs Schemathesis (make test-conformance installs it)")
	}
	return path
}

// TestAPIKeepsWhatItsDocumentPromises sends what the document allows and what it does
// not: no answer may be a fault of the service, have a status or a shape that is not in
// the document, or take what the document refuses. The time spent is MAX_TIME seconds.
func TestAPIKeepsWhatItsDocumentPromises(t *testing.T) {
	program := built.Binary(t)
	st := tester(t)
	dir := built.Folder(t, "conf")
	url := startService(t, program, dir)
	for _, d := range []struct {
		name, document string
		share          int // of the time, in percent
	}{{"v2", "/api/assisted-install/openapi", 80}, {"own", "/api/slipway/openapi", 20}} {
		name, document := d.name, d.document
		t.Run(name, func(t *testing.T) {
			config := filepath.Join(dir, name+".toml")
			require.NoError(t, os.WriteFile(config, settings(t, url), 0o600))
			cmd := exec.Command(
				st,
				"--config-file",
				config,
				"run",
				url+document,
				"--phases",
				"examples,coverage,fuzzing",
				"--max-time",
				strconv.Itoa(max(1, seconds(t)*d.share/100)),
				"--seed",
				"1",
				"--max-failures",
				"40",
				"--report",
				"ndjson",
				"--report-ndjson-path",
				filepath.Join(dir, name+".ndjson"),
				"--no-color",
			)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PYTHONHASHSEED=0")
			out, err := cmd.CombinedOutput()
			summary := out
			if at := bytes.LastIndex(out, []byte("= SUMMARY =")); at >= 0 && err == nil {
				summary = out[at:]
			}
			t.Logf("%s", summary)
			require.NoError(t, err, "kept in %s", dir)
		})
	}
}

// seconds returns how long to look for faults; CI looks shortly.
func seconds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("MAX_TIME")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "MAX_TIME")
	return n
}

// startService runs the binary until the test ends.
func startService(t *testing.T, program, dir string) string {
	t.Helper()
	address := built.FreeAddress(t)
	log, err := os.Create(filepath.Join(dir, "service.log"))
	require.NoError(t, err)
	cmd := exec.Command(program, "up", "--data-dir", filepath.Join(dir, "service"), "--listen", address, "--temporal-port", "0")
	cmd.Env = append(cmd.Environ(), "AUTH_TYPE=none", built.PlainHTTP) // each operation, with any caller
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = log.Close()
	})
	url := "http://" + address
	built.WaitReady(t, url)
	return url
}

// settings point the tester at objects that exist, so that it gets beyond 404. What it
// deletes are others.
func settings(t *testing.T, url string) []byte {
	t.Helper()
	c := client.New(client.Options{BaseURL: url, UserAgent: "slipway-conformance"})
	cluster, env, host := define(t, c)
	doomedCluster, doomedEnv, doomedHost := define(t, c)
	text, err := os.ReadFile("schemathesis.toml")
	require.NoError(t, err)
	hooks, err := filepath.Abs("hooks.py")
	require.NoError(t, err)
	return []byte(strings.NewReplacer(
		"DOOMED_CLUSTER", doomedCluster, "DOOMED_ENV", doomedEnv, "DOOMED_HOST", doomedHost,
		"CLUSTER_ID", cluster, "INFRA_ENV_ID", env, "HOST_ID", host, "HOOKS", hooks,
	).Replace(string(text)))
}

// define makes a cluster with an InfraEnv and a host in it.
func define(t *testing.T, c *client.Client) (cluster, infraEnv, host string) {
	t.Helper()
	domain := "example.com"
	made, err := c.RegisterCluster(t.Context(), wire.ClusterCreateParams{
		Name: "conformance", OpenshiftVersion: "4.22", PullSecret: pullSecret, BaseDNSDomain: &domain,
	})
	require.NoError(t, err)
	env, err := c.RegisterInfraEnv(t.Context(), wire.InfraEnvCreateParams{Name: "conformance", PullSecret: pullSecret, ClusterID: &made.ID})
	require.NoError(t, err)
	id := uuid.New()
	_, err = c.RegisterHost(t.Context(), env.ID, id)
	require.NoError(t, err)
	return made.ID.String(), env.ID.String(), id.String()
}
