package main

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/testing/await"
	"slipway/internal/version"
	"slipway/internal/wire"
)

// commandEnv makes the test program the command itself.
const commandEnv = "SLIPWAY_AGENT_TEST_COMMAND"

const (
	envID  = "22222222-2222-4222-8222-222222222222"
	hostID = "33333333-3333-4333-8333-333333333333"
)

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// service commands one image-write, over and over until it has a reply, and passes on
// what it hears.
type service struct {
	*httptest.Server
	registered chan string // the X-Secret-Key of each registration
	replies    chan wire.StepReply
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{registered: make(chan string, 10), replies: make(chan wire.StepReply, 10)}
	hosts := "/api/assisted-install/v2/infra-envs/" + envID + "/hosts"
	step := wire.Step{StepID: "image-write-1", StepType: steps.ImageWrite, Args: []string{
		`{"boot_device":"/dev/disk0","role":"master","host_id":"` + hostID + `","infra_env_id":"` + envID + `","cluster_id":"` + envID + `"}`,
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+hosts, func(w http.ResponseWriter, r *http.Request) {
		s.registered <- r.Header.Get("X-Secret-Key")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{}`)
	})
	mux.HandleFunc("GET "+hosts+"/"+hostID+"/instructions", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(wire.Steps{Instructions: []wire.Step{step}, NextInstructionSeconds: 1})
	})
	mux.HandleFunc("POST "+hosts+"/"+hostID+"/instructions", func(w http.ResponseWriter, r *http.Request) {
		var reply wire.StepReply
		_ = json.NewDecoder(r.Body).Decode(&reply)
		s.replies <- reply
		w.WriteHeader(http.StatusNoContent)
	})
	s.Server = httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	return s
}

// machine makes a root with what the agent looks at, and a coreos-installer that never ends.
func machine(t *testing.T) (root, commands string) {
	t.Helper()
	root, commands = t.TempDir(), t.TempDir()
	for path, content := range map[string]string{
		"/proc/sys/kernel/random/boot_id": "boot-1\n", "/dev/disk0": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(content), 0o644))
	}
	script := "#!/bin/sh\necho $$ >> " + root + "/writers\nexec sleep 1000\n"
	require.NoError(t, os.WriteFile(filepath.Join(commands, "coreos-installer"), []byte(script), 0o755))
	return root, commands
}

func launch(t *testing.T, s *service, root, commands string) *exec.Cmd {
	t.Helper()
	ca := filepath.Join(root, "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	require.NoError(t, os.WriteFile(ca, block, 0o644))
	agent := exec.Command(os.Args[0], "--url", s.URL, "--infra-env-id", envID, "--host-id", hostID, "--root", root, "--cacert", ca)
	agent.Env = append(os.Environ(), commandEnv+"=1", "PULL_SECRET_TOKEN=secret", "PATH="+commands+":"+os.Getenv("PATH"))
	agent.Stderr = os.Stderr
	require.NoError(t, agent.Start())
	t.Cleanup(func() {
		_ = agent.Process.Kill()
		_ = agent.Wait()
	})
	return agent
}

func TestKilledAgentLosesNothing(t *testing.T) {
	t.Parallel()
	s := newService(t)
	root, commands := machine(t)
	first := launch(t, s, root, commands)
	require.Equal(t, "secret", await.Receive(t, s.registered))
	writer := awaitWriter(t, root)
	require.NoError(t, first.Process.Kill())
	await.True(t, func() bool { return gone(writer) }, "the writing continues without an agent")

	second := launch(t, s, root, commands)
	reply := await.Receive(t, s.replies)
	require.Equal(t, wire.ExitInterrupted, reply.ExitCode)
	require.Contains(t, reply.Error, "interrupted")
	require.Empty(t, s.registered, "a restart does not register again")
	content, err := os.ReadFile(filepath.Join(root, "writers"))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(content), "\n"), "the step ran once")
	require.NoError(t, second.Process.Signal(syscall.SIGTERM))
	require.NoError(t, second.Wait())
}

// awaitWriter waits for the process id of the coreos-installer that runs.
func awaitWriter(t *testing.T, root string) int {
	t.Helper()
	var pid int
	await.True(t, func() bool {
		content, err := os.ReadFile(filepath.Join(root, "writers"))
		if err != nil || !strings.HasSuffix(string(content), "\n") {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(content)))
		return err == nil
	})
	return pid
}

func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"the service is required": {[]string{"--infra-env-id", envID}, "missing flags: --url"},
		"ids are UUIDs":           {[]string{"--url", "http://x", "--infra-env-id", "x"}, "invalid UUID"},
		"certificates must be readable": {
			[]string{"--url", "http://x", "--infra-env-id", envID, "--cacert", "/no/such/file"}, "read the certificates",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := exec.Command(os.Args[0], c.args...)
			agent.Env = append(os.Environ(), commandEnv+"=1")
			output, err := agent.CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(output), c.want)
		})
	}
}

func TestVersionIsPrinted(t *testing.T) {
	t.Parallel()
	agent := exec.Command(os.Args[0], "--version")
	agent.Env = append(os.Environ(), commandEnv+"=1")
	output, err := agent.CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(output), "slipway-agent "+version.Number+" (")
}
