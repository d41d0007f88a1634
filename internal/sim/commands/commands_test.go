package commands_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/sim"
	"slipway/internal/sim/commands"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// process is the first argument that makes the test binary one of the commands.
const process = "as-process"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == process {
		var line commands.Commands
		parser := kong.Must(&line, kong.BindTo(context.Background(), (*context.Context)(nil)))
		selected, err := parser.Parse(os.Args[2:])
		if err == nil {
			err = selected.Run()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writer is a service that commands one image-write after the other to one host.
type writer struct {
	mu      sync.Mutex
	exits   []int
	left    int // how many writes are to succeed
	changed chan struct{}
}

func (s *writer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	host := path.Base(path.Dir(r.URL.Path))
	switch {
	case path.Base(r.URL.Path) == "hosts":
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{}`))
	case strings.HasSuffix(r.URL.Path, "/downloads/ignition"):
		_, _ = w.Write([]byte(`{"ignition":{"version":"3.2.0"}}`))
	case path.Base(r.URL.Path) == "progress":
	case r.Method == http.MethodGet:
		answer := wire.Steps{NextInstructionSeconds: 1, PostStepAction: wire.Continue}
		step, kind := len(s.exits), steps.ImageWrite
		if step == 0 {
			kind = steps.IgnitionFetch
		}
		if s.left > 0 {
			args := fmt.Sprintf(
				`{"boot_device":"/dev/sda","host_id":%q,"cluster_id":%q,"infra_env_id":%q,"role":"worker","controller_image":"c",`+
					`"installer_image":"i"}`,
				host,
				uuid.Nil,
				uuid.Nil,
			)
			answer.Instructions = []wire.Step{{StepType: kind, StepID: fmt.Sprintf("%s-%d", kind, step), Args: []string{args}}}
		}
		_ = json.NewEncoder(w).Encode(answer)
	case r.Method == http.MethodPost:
		var reply wire.StepReply
		_ = json.NewDecoder(r.Body).Decode(&reply)
		s.exits = append(s.exits, reply.ExitCode)
		if reply.StepType == steps.ImageWrite && reply.ExitCode == 0 {
			s.left--
		}
		w.WriteHeader(http.StatusNoContent)
		s.changed <- struct{}{}
	}
}

// machineProcess starts a machine as a process.
func machineProcess(t *testing.T, url, dir string) *exec.Cmd {
	t.Helper()
	ignition := filepath.Join(dir, "discovery.ign")
	require.NoError(t, os.WriteFile(ignition, fmt.Appendf(nil, `{"ignition":{"version":"3.1.0"},"systemd":{"units":[{"name":"agent.service",`+
		`"contents":"[Service]\nExecStart=/usr/local/bin/agent --url %s --infra-env-id %s --agent-version a\n"}]}}`, url, uuid.NewString()), 0o600))
	command := exec.Command(os.Args[0], process, "machine", "--root", filepath.Join(dir, "machine"), "--site", filepath.Join(dir, "site"),
		"--ignition", ignition, "--name", "worker-0", "--address", "192.0.2.9/24", "--steps", "install",
		"--speed", "600")
	command.Stderr = os.Stderr
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	return command
}

func TestMachineKilledWhileWritingSaysSoAndWritesAgainWhenCommanded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	service := &writer{left: 1, changed: make(chan struct{}, 100)}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	machine := machineProcess(t, server.URL, dir)
	await.True(t, func() bool { return count(t, dir, sim.EventWriteStarted) == 1 })
	require.NoError(t, machine.Process.Kill())
	_ = machine.Wait()
	require.Zero(t, count(t, dir, sim.EventWriteFinished))

	machineProcess(t, server.URL, dir)
	for done := false; !done; {
		await.Receive(t, service.changed, "the machine did not write again")
		service.mu.Lock()
		done = service.left == 0
		service.mu.Unlock()
	}
	require.Equal(t, []int{0, wire.ExitInterrupted, 0}, service.exits, "fetched, interrupted, written")
	require.Equal(t, 2, count(t, dir, sim.EventWriteStarted))
	require.Equal(t, 1, count(t, dir, sim.EventWriteFinished))
	require.Equal(t, 1, count(t, dir, sim.EventPoweredOn), "a killed process is no reboot")
}

func count(t *testing.T, dir string, event sim.Event) int {
	t.Helper()
	entries, err := sim.ReadLog(filepath.Join(dir, "machine"))
	require.NoError(t, err)
	n := 0
	for _, e := range entries {
		if e.Event == event {
			n++
		}
	}
	return n
}

func TestInstallerTakesTheArgumentsOfOpenshiftInstall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var line commands.Commands
	out, err := os.Create(filepath.Join(dir, "out"))
	require.NoError(t, err)
	parser, err := kong.New(&line, kong.Bind(&commands.Process{Stdout: out, Stderr: out, Now: time.Now}))
	require.NoError(t, err)
	selected, err := parser.Parse([]string{"installer", "create", "manifests", "--dir", dir, "--log-level", "debug"})
	require.NoError(t, err)
	var code commands.ExitError
	require.ErrorAs(t, selected.Run(), &code)
	require.NotZero(t, code.ExitCode(), "there is no install-config")
	said, err := os.Open(out.Name())
	require.NoError(t, err)
	require.True(t, bufio.NewScanner(said).Scan(), "it says what is wrong")
}
