package agent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/internal/client"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// newProgram starts, brokenProgram does not.
const (
	newProgram    = "#!/bin/sh\n[ \"$*\" = --version ] # of version 2.0\n"
	brokenProgram = "#!/bin/sh\necho no such library >&2\nexit 1\n"
)

// offering makes the service offer a program.
func offering(s *service, content string) {
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/agent/slipway-agent-new" {
			return false
		}
		_, _ = io.WriteString(w, content)
		return true
	})
}

func upgradeArgument(t *testing.T, version, content string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(content))
	program := wire.AgentProgram{Path: "/agent/slipway-agent-new", SHA256: hex.EncodeToString(sum[:])}
	programs := map[string]wire.AgentProgram{"x86_64": program, "arm64": program}
	programs[runtime.GOARCH] = program // one of them, or another
	text, err := json.Marshal(wire.AgentUpgrade{AgentImage: version, Programs: programs})
	require.NoError(t, err)
	return string(text)
}

func result(t *testing.T, reply wire.StepReply) wire.UpgradeAgentResult {
	t.Helper()
	require.Zero(t, reply.ExitCode, reply.Error)
	var response wire.UpgradeAgentResponse
	require.NoError(t, json.Unmarshal([]byte(reply.Output), &response))
	require.Equal(t, "2.0", response.AgentImage)
	return response.Result
}

func TestAgentBecomesTheVersionOfTheServiceAndRegistersAgain(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	offering(s, newProgram)
	dir, became, over := t.TempDir(), make(chan string, 1), make(chan struct{})
	first := h.start(t, s, func(o *agent.Options) {
		o.Replace = agent.Replace{Dir: dir, Exec: func(program, version string) error {
			content, err := os.ReadFile(program)
			if err == nil {
				became <- version + ": " + string(content)
				<-over // a program that runs does not return here
				err = errors.New("the process ended")
			}
			return err
		}}
	})
	s.Give("upgrade-1", wire.StepTypeUpgradeAgent, upgradeArgument(t, "2.0", newProgram))
	require.Equal(t, wire.UpgradeAgentResultSuccess, result(t, s.AwaitReply(t, "upgrade-1")))
	require.Equal(t, "2.0: "+newProgram, <-became)
	first.cancel()
	close(over)
	first.stop(t)

	h.start(t, s, func(o *agent.Options) {
		o.Client = client.New(client.Options{BaseURL: s.URL, Token: token, AgentVersion: "2.0"})
		o.Replace = agent.Replace{Dir: dir, Exec: func(string, string) error { t.Error("became it twice"); return nil }}
	})
	s.Wait(t, "another registration", func() bool { return len(s.Registrations) == 2 })
	require.Equal(t, "2.0", s.Seen().Registrations[1].Get("discovery_agent_version"))
	await.True(t, func() bool { return len(attempts(t, h)) == 0 }, "it has proved itself")
}

func TestAgentStaysWhatItIsWithoutTheRightProgram(t *testing.T) {
	t.Parallel()
	never := func(string, string) error { return io.ErrUnexpectedEOF }
	for name, c := range map[string]struct {
		argument func(t *testing.T) string
		exec     func(string, string) error
		offered  string
	}{
		"when the program is another one": {func(t *testing.T) string { return upgradeArgument(t, "2.0", "other") }, never, newProgram},
		"when there is none":              {func(*testing.T) string { return `{"agent_image":"2.0"}` }, never, newProgram},
		"when it cannot be replaced":      {func(t *testing.T) string { return upgradeArgument(t, "2.0", newProgram) }, nil, newProgram},
		"when the program does not start": {
			func(t *testing.T) string { return upgradeArgument(t, "2.0", brokenProgram) }, never, brokenProgram,
		},
		"when it is no program": {func(t *testing.T) string { return upgradeArgument(t, "2.0", "text") }, never, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			offering(s, c.offered)
			dir := t.TempDir()
			h.start(t, s, func(o *agent.Options) { o.Replace = agent.Replace{Dir: dir, Exec: c.exec} })
			s.Give("upgrade-1", wire.StepTypeUpgradeAgent, c.argument(t))
			require.Equal(t, wire.UpgradeAgentResultFailure, result(t, s.AwaitReply(t, "upgrade-1")))
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}
