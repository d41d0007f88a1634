package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/programsig"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

func TestRunningAgentBecomesTheOneOfTheService(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	program = append(program, 0) // the same program, but not the same file
	sum := sha256.Sum256(program)
	there := wire.AgentProgram{Path: "/agent/new", SHA256: hex.EncodeToString(sum[:])}
	signer := programsig.Signer{Seeds: func() [][]byte { return [][]byte{sum[:]} }} // any 32 bytes
	programs := map[string]wire.AgentProgram{}
	for _, architecture := range []string{"x86_64", runtime.GOARCH} {
		signed := there
		signed.Signatures, err = signer.Sign(programsig.Change{
			HostID: hostID, Boot: "boot-1", From: "old", To: "new", Architecture: architecture, SHA256: there.SHA256,
		})
		require.NoError(t, err)
		programs[architecture] = signed
	}
	argument, err := json.Marshal(wire.AgentUpgrade{AgentImage: "new", Programs: programs})
	require.NoError(t, err)

	versions := make(chan string, 10)
	hosts := "/api/assisted-install/v2/infra-envs/" + envID + "/hosts"
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+hosts, func(w http.ResponseWriter, r *http.Request) {
		versions <- r.Header.Get("discovery_agent_version")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{}`)
	})
	mux.HandleFunc("GET "+hosts+"/"+hostID+"/instructions", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(wire.Steps{NextInstructionSeconds: 1, Instructions: []wire.Step{
			{StepID: "upgrade-agent-1", StepType: wire.StepTypeUpgradeAgent, Args: []string{string(argument)}},
		}})
	})
	mux.HandleFunc("POST "+hosts+"/"+hostID+"/instructions",
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /agent/new", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(program) })
	s := httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)

	// The agent puts its next version beside itself.
	self := filepath.Join(t.TempDir(), "slipway-agent")
	require.NoError(t, os.WriteFile(self, program[:len(program)-1], 0o755))
	root, commands := machine(t)
	ca := filepath.Join(root, "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o644))
	agent := exec.Command(self, "--url", s.URL, "--infra-env-id", envID, "--agent-version", "old", "--host-id", hostID,
		"--root", root, "--cacert", ca)
	agent.Env = append(os.Environ(), commandEnv+"=1", "SLIPWAY_PROGRAM_KEY="+signer.PublicKey(), "PATH="+commands+":"+os.Getenv("PATH"))
	agent.Stderr = os.Stderr
	require.NoError(t, agent.Start())
	t.Cleanup(func() {
		_ = agent.Process.Kill()
		_ = agent.Wait()
	})
	require.Equal(t, "old", await.Receive(t, versions))
	require.Equal(t, "new", await.Receive(t, versions))
	target, err := os.Readlink("/proc/" + strconv.Itoa(agent.Process.Pid) + "/exe")
	require.NoError(t, err)
	require.Equal(t, "slipway-agent-"+there.SHA256[:12], filepath.Base(target), "the same process runs another program")
}

func TestVersionIsReplacedInArguments(t *testing.T) {
	t.Parallel()
	want := []string{"--url", "x", "-v", versionFlag, "2"}
	for _, arguments := range [][]string{
		{"--url", "x", versionFlag, "1", "-v"}, {versionFlag + "=1", "--url", "x", "-v"}, {"--url", "x", "-v"},
	} {
		require.Equal(t, want, withVersion(arguments, "2"))
	}
}
