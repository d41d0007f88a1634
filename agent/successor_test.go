package agent_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/agent/agenttest"
	"slipway/internal/client"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// attempts lists the programs that were begun and have not registered.
func attempts(t *testing.T, h *host) []string {
	t.Helper()
	found, err := filepath.Glob(h.root.Path("/run/slipway-agent/boot-1/tried-*"))
	require.NoError(t, err)
	return found
}

// begin lets an agent of version 1.0 become one of 2.0, whose program is then in dir.
// What becomes of that one is up to the test: it has not registered yet.
func begin(t *testing.T, s *service, h *host, dir string) {
	t.Helper()
	offering(s, newProgram)
	became, over := make(chan struct{}, 1), make(chan struct{})
	first := h.start(t, s, func(o *agent.Options) {
		o.Replace = agent.Replace{Dir: dir, Exec: func(string, string) error {
			became <- struct{}{}
			<-over // a program that runs does not return here
			return errors.New("the process ended")
		}}
	})
	s.Give("upgrade-1", wire.StepTypeUpgradeAgent, upgradeArgument(t, "2.0", newProgram))
	<-became
	first.cancel()
	close(over)
	first.stop(t)
	require.Len(t, attempts(t, h), 1)
}

// second makes an agent one of version 2.0 that must not become another.
func second(t *testing.T, s *service, dir string) func(*agent.Options) {
	t.Helper()
	return func(o *agent.Options) {
		o.Client = client.New(client.Options{BaseURL: s.URL, Token: token, AgentVersion: "2.0"})
		o.Replace = agent.Replace{Dir: dir, Exec: func(string, string) error { t.Error("became it twice"); return nil }}
	}
}

func TestAgentReturnsToAProgramThatCrashedOnlyAfterAWhile(t *testing.T) {
	t.Parallel()
	s, h, dir := newService(t), newHost(t), t.TempDir()
	begin(t, s, h, dir)
	s.SetFault(nil) // the program is not fetched again: there is none

	// The unit starts the old one again.
	became := make(chan struct{}, 1)
	h.start(t, s, func(o *agent.Options) {
		o.Replace = agent.Replace{Dir: dir, Exec: func(string, string) error {
			became <- struct{}{}
			return errors.New("the process ended")
		}}
	})
	s.Wait(t, "another registration", func() bool { return len(s.Registrations) == 2 })
	require.Equal(t, "1.0", s.Seen().Registrations[1].Get("discovery_agent_version"))
	s.Give("upgrade-2", wire.StepTypeUpgradeAgent, upgradeArgument(t, "2.0", newProgram))
	require.Equal(t, wire.UpgradeAgentResultFailure, result(t, s.AwaitReply(t, "upgrade-2")))
	require.Empty(t, became)

	for id, ago := range map[string]time.Duration{"upgrade-3": 20 * time.Minute, "upgrade-4, of a clock that was set back": -time.Hour} {
		begun := time.Now().Add(-ago)
		require.NoError(t, os.Chtimes(attempts(t, h)[0], begun, begun))
		s.Give(id, wire.StepTypeUpgradeAgent, upgradeArgument(t, "2.0", newProgram))
		require.Equal(t, wire.UpgradeAgentResultSuccess, result(t, s.AwaitReply(t, id)))
		<-became
	}
}

func TestAnUpgradeThatFailedIsNotCarriedThrough(t *testing.T) {
	t.Parallel()
	s, h, dir := newService(t), newHost(t), t.TempDir()
	begin(t, s, h, dir)
	posted, taken := make(chan struct{}, 10), make(chan struct{})
	s.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if agenttest.IsReply(r) {
			posted <- struct{}{}
			<-taken
		}
		return false
	})
	h.start(t, s, func(o *agent.Options) {
		o.Replace = agent.Replace{Dir: dir, Exec: func(string, string) error { t.Error("became it"); return io.ErrUnexpectedEOF }}
	})
	s.Give("upgrade-2", wire.StepTypeUpgradeAgent, upgradeArgument(t, "2.0", newProgram))
	<-posted
	require.NoError(t, os.Remove(attempts(t, h)[0])) // as another step does once the time is over
	close(taken)
	require.Equal(t, wire.UpgradeAgentResultFailure, result(t, s.AwaitReply(t, "upgrade-2")))
	await.True(t, func() bool {
		steps, err := os.ReadFile(h.root.Path("/run/slipway-agent/boot-1/steps.jsonl"))
		return err == nil && strings.Contains(string(steps), `"id":"upgrade-2","state":"closed"`)
	})
}

func TestAProgramIsTriedAgainInTheNextBoot(t *testing.T) {
	t.Parallel()
	s, h, dir := newService(t), newHost(t), t.TempDir()
	begin(t, s, h, dir)
	h.write(t, "/proc/sys/kernel/random/boot_id", "boot-2\n")
	became := make(chan struct{}, 1)
	h.start(t, s, func(o *agent.Options) {
		o.Replace = agent.Replace{Dir: dir, Exec: func(string, string) error {
			became <- struct{}{}
			return errors.New("the process ended")
		}}
	})
	s.Give("upgrade-2", wire.StepTypeUpgradeAgent, upgradeArgument(t, "2.0", newProgram))
	require.Equal(t, wire.UpgradeAgentResultSuccess, result(t, s.AwaitReply(t, "upgrade-2")))
	<-became
}

func TestNewAgentWaitsForAServiceThatIsAway(t *testing.T) {
	t.Parallel()
	s, h, dir := newService(t), newHost(t), t.TempDir()
	begin(t, s, h, dir)
	var refused atomic.Int32
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		away := agenttest.IsRegistration(r) && refused.Add(1) < 20
		if away {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return away
	})
	h.start(t, s, second(t, s, dir))
	s.Wait(t, "another registration", func() bool { return len(s.Registrations) == 2 })
	require.Equal(t, "2.0", s.Seen().Registrations[1].Get("discovery_agent_version"))
	await.True(t, func() bool { return len(attempts(t, h)) == 0 }, "it has proved itself")
}

func TestNewAgentThatDoesNotGetRegisteredGivesWayToTheOldOne(t *testing.T) {
	t.Parallel()
	s, h, dir := newService(t), newHost(t), t.TempDir()
	begin(t, s, h, dir)
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{}`)
		return true
	})
	successor := h.start(t, s, second(t, s, dir))
	require.ErrorContains(t, await.Receive(t, successor.done, "it is still there"), "did not get registered")
	successor.done <- nil // for the end of the test
	waited := time.Duration(0)
	for _, pause := range h.slept() {
		if pause == time.Second {
			waited += pause
		}
	}
	require.InDelta(t, 10*time.Minute, waited, float64(time.Minute), "a service may be away for a while")

	s.SetFault(nil)
	h.start(t, s, func(o *agent.Options) {
		o.Replace = agent.Replace{Dir: dir, Exec: func(string, string) error { t.Error("became it again"); return nil }}
	})
	// The last registration of the agents that gave way may be answered late.
	s.Wait(t, "a registration of the old agent", func() bool {
		last := len(s.Registrations) - 1
		return last > 0 && s.Registrations[last].Get("discovery_agent_version") == "1.0"
	})
	s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
	s.AwaitReply(t, "domain-1")
}

func TestAProgramThatCannotBeRunIsGivenUp(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	offering(s, newProgram)
	tried := make(chan struct{}, 10)
	h.start(t, s, func(o *agent.Options) {
		o.Replace = agent.Replace{Dir: t.TempDir(), Exec: func(string, string) error {
			tried <- struct{}{}
			return errors.New("no room for it")
		}}
	})
	s.Give("upgrade-1", wire.StepTypeUpgradeAgent, upgradeArgument(t, "2.0", newProgram))
	<-tried
	s.Give("upgrade-2", wire.StepTypeUpgradeAgent, upgradeArgument(t, "2.0", newProgram))
	require.Equal(t, wire.UpgradeAgentResultFailure, result(t, s.AwaitReply(t, "upgrade-2")))
	require.Empty(t, tried)
}
