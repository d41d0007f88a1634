package steps_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/agent/agenttest"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// offer makes the service offer a program, and returns the argument of the step.
func (h *host) offer(t *testing.T, version string, program []byte) (arg, place string) {
	t.Helper()
	sum := sha256.Sum256(program)
	hash := hex.EncodeToString(sum[:])
	h.Change(func() { h.programs[version] = program })
	there := wire.AgentProgram{Path: "/agent/" + version, SHA256: hash}
	return argument(
			t,
			wire.AgentUpgrade{AgentImage: version, Programs: map[string]wire.AgentProgram{"x86_64": there, runtime.GOARCH: there}},
		),
		filepath.Join(
			h.dir,
			"slipway-agent-"+hash[:12],
		)
}

func (h *host) runs(t *testing.T) string {
	t.Helper()
	program, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(h.agent.Process.Pid), "exe"))
	require.NoError(t, err)
	return program
}

func TestRunningAgentIsReplacedByAnotherOne(t *testing.T) {
	t.Parallel()
	h := newHost(t, "upgrade")
	h.start(t, "--agent-version", "1.0")
	current, err := os.ReadFile(h.program)
	require.NoError(t, err)
	// The same program, but not the same file.
	arg, place := h.offer(t, "2.0", append(current, 0))
	found := answer[wire.UpgradeAgentResponse](t, h, wire.StepTypeUpgradeAgent, arg)
	require.Equal(t, wire.UpgradeAgentResponse{AgentImage: "2.0", Result: wire.UpgradeAgentResultSuccess}, found)
	h.awaitVersions(t, "1.0", "2.0")
	require.Equal(t, place, h.runs(t), "the same process")
	require.NotContains(t, h.log(t), token)
	// It serves as the old one did.
	require.Empty(t, answer[wire.DomainResolutionResponse](t, h, wire.StepTypeDomainResolution, `{"domains":[]}`).Resolutions)
}

func (h *host) log(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(h.dir, "agent.log"))
	require.NoError(t, err)
	return string(content)
}

func TestProgramsThatDoNotStartAreNotTaken(t *testing.T) {
	t.Parallel()
	h := newHost(t, "badup")
	h.start(t, "--agent-version", "1.0")
	current, err := os.ReadFile(h.program)
	require.NoError(t, err)
	for version, program := range map[string][]byte{
		"half": current[:len(current)/2],
		// of another machine
		"foreign": append([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"), current[20:]...),
		"failing": []byte("#!/bin/sh\nexit 3\n"),
	} {
		arg, place := h.offer(t, version, program)
		for range 2 { // the second time without fetching it
			found := answer[wire.UpgradeAgentResponse](t, h, wire.StepTypeUpgradeAgent, arg)
			require.Equal(t, wire.UpgradeAgentResultFailure, found.Result, version)
			require.NoFileExists(t, place)
			h.Change(func() { h.programs[version] = nil })
		}
	}
	require.Equal(t, h.program, h.runs(t))
	require.Equal(t, []string{"1.0"}, h.versions())
}

func TestAgentComesBackWhenItsSuccessorCrashes(t *testing.T) {
	t.Parallel()
	h := newHost(t, "crash")
	h.restarts = true
	h.start(t, "--agent-version", "1.0")
	// It can tell its version, but not run.
	arg, _ := h.offer(t, "2.0", []byte("#!/bin/sh\n[ \"$*\" = --version ] || { echo \"panic: nil map\" >&2; exit 2; }\n"))
	require.Equal(t, wire.UpgradeAgentResultSuccess, answer[wire.UpgradeAgentResponse](t, h, wire.StepTypeUpgradeAgent, arg).Result)
	h.awaitVersions(t, "1.0", "1.0")
	require.Contains(t, h.log(t), "panic: nil map")
	require.Equal(t, wire.UpgradeAgentResultFailure, answer[wire.UpgradeAgentResponse](t, h, wire.StepTypeUpgradeAgent, arg).Result)
	require.Equal(t, 1, strings.Count(h.log(t), "panic: nil map"), "it was begun once")
}

// kill ends a program that runs on the host.
func (h *host) kill(t *testing.T, program string) {
	t.Helper()
	runs := func(pid int) bool {
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		return path == program
	}
	pids := h.Processes(t)
	at := slices.IndexFunc(pids, runs)
	require.GreaterOrEqual(t, at, 0, "%s does not run", program)
	require.NoError(t, syscall.Kill(pids[at], syscall.SIGKILL))
	await.True(t, func() bool { return !runs(pids[at]) })
}

func TestSuccessorIsNotGivenUpForGoodWhenTheServiceIsAway(t *testing.T) {
	t.Parallel()
	h := newHost(t, "away")
	h.restarts = true
	h.start(t, "--agent-version", "1.0")
	current, err := os.ReadFile(h.program)
	require.NoError(t, err)
	arg, place := h.offer(t, "2.0", append(current, 0))
	upgrade := func() wire.UpgradeAgentResult {
		return answer[wire.UpgradeAgentResponse](t, h, wire.StepTypeUpgradeAgent, arg).Result
	}
	var refused atomic.Int32
	h.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if !agenttest.IsRegistration(r) {
			return false
		}
		refused.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	require.Equal(t, wire.UpgradeAgentResultSuccess, upgrade())
	await.True(t, func() bool { return refused.Load() > 2 }, "attempts to register")
	require.Equal(t, []string{"1.0"}, h.versions())

	// Somebody restarts the agent just then. The unit's agent comes back.
	h.kill(t, place)
	h.SetFault(nil)
	h.awaitVersions(t, "1.0", "1.0")
	require.Equal(t, wire.UpgradeAgentResultFailure, upgrade(), "it may have crashed")

	marks, err := filepath.Glob(h.place("/run/slipway-agent/*/tried-*"))
	require.NoError(t, err)
	require.Len(t, marks, 1)
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(marks[0], long, long))
	require.Equal(t, wire.UpgradeAgentResultSuccess, upgrade())
	h.awaitVersions(t, "1.0", "1.0", "2.0")
	await.True(t, func() bool { _, err := os.Stat(marks[0]); return err != nil }, "it has proved itself")

	// A restart from here on is no fault.
	h.kill(t, place)
	require.Equal(t, wire.UpgradeAgentResultSuccess, upgrade())
	h.awaitVersions(t, "1.0", "1.0", "2.0", "2.0")
}
