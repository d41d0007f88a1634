package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/postgrestest"
)

// command is the program under test, running.
type command struct {
	*exec.Cmd
	ready  string // the line that says so
	stderr bytes.Buffer
	mu     sync.Mutex
	out    bytes.Buffer // what it printed
}

// Write takes what the command prints.
func (c *command) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(text)
}

// said returns the output so far.
func (c *command) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

var addresses = regexp.MustCompile(`API (https?://\S+?)(?:,|$)`)

// api returns the address in the ready line.
func (c *command) api(t *testing.T) string {
	t.Helper()
	match := addresses.FindStringSubmatch(c.ready)
	require.NotNil(t, match, c.ready)
	return match[1]
}

func newCommand(t *testing.T, env []string, args ...string) *command {
	t.Helper()
	c := &command{Cmd: exec.Command(os.Args[0], args...)}
	c.Env = append(append(os.Environ(), commandEnv+"=1", "SLIPWAY_LISTEN=127.0.0.1:0", "SLIPWAY_TEMPORAL_PORT=0",
		"SLIPWAY_POSTGRES_USER="+postgrestest.Account()), env...)
	c.Stderr = &c.stderr
	// A group of its own takes the signals that a terminal would send to a whole group.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// start runs the command until it says that it is ready, and ends it with the test.
func start(t *testing.T, env []string, args ...string) *command {
	t.Helper()
	c := newCommand(t, env, args...)
	pipe, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		if c.ProcessState == nil {
			_ = c.Process.Signal(syscall.SIGTERM)
			_ = c.Wait()
		}
	})
	out := bufio.NewReader(pipe)
	line, err := out.ReadString('\n')
	require.NoError(t, err, "it said: %s", &c.stderr)
	c.ready = strings.TrimSpace(line)
	require.Contains(t, c.ready, "slipway is ready after ")
	go func() { _, _ = io.Copy(c, out) }()
	return c
}

// fails runs the command and returns the one line it ends with.
func fails(t *testing.T, env []string, args ...string) string {
	t.Helper()
	c := newCommand(t, env, args...)
	err := c.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Positive(t, exit.ExitCode())
	lines := strings.Split(strings.TrimSpace(c.stderr.String()), "\n")
	last := lines[len(lines)-1]
	require.True(t, strings.HasPrefix(last, "slipway: "), c.stderr.String())
	return last
}

func needPostgres(t *testing.T) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if _, err := exec.LookPath("initdb"); err != nil && len(found) == 0 {
		t.Skip("SKIP: this test needs PostgreSQL (apt-get install postgresql)")
	}
}

// dataFolder makes a folder that the database's user can reach, which t.TempDir is not.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "slipway-up-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// anyCertificate is for what anybody may read.
var anyCertificate = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // nothing is sent
}}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := anyCertificate.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

func requireReady(t *testing.T, api string) {
	t.Helper()
	code, body := get(t, api+"/ready")
	require.Equal(t, http.StatusOK, code, body)
	require.JSONEq(t, `{"status": "ready", "database": "ok", "keys": "ok", "temporal": "ok"}`, body)
}

func TestUpServesAndEndsWithTheTerminal(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := dataFolder(t)
	// systemd, as sd_notify(3) has it: newlines separate assignments.
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	require.NoError(t, err)
	defer systemd.Close()
	message := make([]byte, 4096)
	c := start(t, []string{"NOTIFY_SOCKET=" + filepath.Join(dir, "notify")}, "up", "--data-dir", dir)
	n, err := systemd.Read(message)
	require.NoError(t, err)
	require.Regexp(t, `^READY=1\nSTATUS=API https://127\.0\.0\.1:\d+, .*$`, string(message[:n]))
	api := c.api(t)
	requireReady(t, api)
	code, _ := get(t, api+"/health")
	require.Equal(t, http.StatusOK, code)
	code, page := get(t, api+"/temporal/")
	require.Equal(t, http.StatusUnauthorized, code, page)
	_, metrics := get(t, api+"/metrics")
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes", "temporal_service_requests_total"} {
		require.Contains(t, metrics, "\n"+name, "a metric of each kind")
	}

	t.Run("a second one says who holds the data folder", func(t *testing.T) {
		require.Contains(t, fails(t, nil, "up", "--data-dir", dir), "data folder is held by another process: "+dir+", pid ")
	})

	require.NoError(t, syscall.Kill(-c.Process.Pid, syscall.SIGINT))
	require.NoError(t, c.Wait(), c.stderr.String())
	n, err = systemd.Read(message)
	require.NoError(t, err)
	require.Equal(t, "STOPPING=1\nSTATUS=ending its parts", string(message[:n]))
	require.NoFileExists(t, filepath.Join(dir, "postgres", "postmaster.pid"), "the database was stopped too, and last")
	_, end, found := strings.Cut(c.stderr.String(), "shutting down") // a busy machine may make Temporal wait too long before
	require.True(t, found, c.stderr.String())
	require.NotContains(t, end, "level=ERROR")
}

func TestRolesRunAloneAgainstOthers(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := dataFolder(t)
	up := start(t, nil, "up", "--data-dir", dir)
	_, frontend, found := strings.Cut(up.ready, ", Temporal 127")
	require.True(t, found, up.ready)
	env := []string{
		"TEMPORAL_ADDRESS=127" + frontend,
		"TEMPORAL_CONFIG_FILE=" + filepath.Join(dir, "temporal", "temporal.toml"),
		"SLIPWAY_DATABASE_URL=postgres:///slipway?user=slipway&host=" + filepath.Join(dir, "run"),
	}
	api, worker := start(t, env, "api", "--data-dir", dir).api(t), start(t, env, "worker", "--data-dir", dir).api(t)
	requireReady(t, api)
	requireReady(t, worker)

	// By the names of https://docs.temporal.io/references/sdk-metrics.
	const slots = `temporal_worker_task_slots_available{namespace="slipway",task_queue="slipway",worker_type="WorkflowWorker"} `
	for _, process := range []string{up.api(t), worker, api} {
		_, page := get(t, process+"/metrics")
		require.Contains(t, page, `temporal_request_total{namespace="slipway",operation="DescribeNamespace"} `)
		require.Equal(t, process != api, strings.Contains(page, slots), "processes with a worker have its slots")
	}

	t.Run("but not a second server on one database", func(t *testing.T) {
		require.Contains(t, fails(t, env[2:], "up", "--data-dir", dir),
			"another process runs the Temporal server on this database: slipway engine ")
	})
}

func TestCommandsSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	_, port, err := net.SplitHostPort(taken.Addr().String())
	require.NoError(t, err)
	dir := t.TempDir()
	for _, tc := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{
			"a port for the API", nil,
			[]string{"up", "--data-dir", dir, "--listen", taken.Addr().String()},
			"address " + taken.Addr().String() + " is taken by another process: choose another with --listen",
		},
		{
			"a port for Temporal", nil,
			[]string{"up", "--data-dir", dir, "--temporal-port", port},
			"port " + port + " for Temporal's frontend service is taken by another process: choose others with --temporal-port",
		},
		{"a Temporal for a worker", nil, []string{"worker", "--data-dir", dir, "--database-url", "postgres:///none"}, "require TEMPORAL_ADDRESS"},
		{
			"a retention that Temporal takes",
			[]string{"SLIPWAY_WORKFLOW_RETENTION=36h"},
			[]string{"up", "--data-dir", dir},
			"read --workflow-retention: require whole days in hours, at least 24h, such as 720h, found 36h0m0s",
		},
		{
			"an order among versions",
			[]string{"WORKER_BUILD_ID=blue"},
			[]string{"up", "--data-dir", dir},
			`read WORKER_BUILD_ID: require a semantic version such as 0.1.0+20261123.1, found "blue"`,
		},
		{"a database for an API", nil, []string{"api", "--data-dir", dir}, "missing flags: --database-url=URL"},
		{
			"a database that answers", nil,
			[]string{"up", "--data-dir", dir, "--database-url", "postgres://127.0.0.1:" + port + "/none?connect_timeout=1"},
			"connect to database: ",
		},
	} {
		t.Run("when it is "+tc.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, fails(t, tc.env, tc.args...), tc.want)
		})
	}
}
