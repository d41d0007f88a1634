package agent_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/agent/agenttest"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/hostexec"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

// gated is a command that reports when it starts and ends when it is let go or killed.
type gated struct {
	started chan struct{}
	release chan struct{}
}

func newGated() *gated {
	return &gated{started: make(chan struct{}, 16), release: make(chan struct{}, 16)}
}

func (g *gated) run(ctx context.Context, c hostexec.Cmd) (hostexec.Result, error) {
	g.started <- struct{}{}
	select {
	case <-g.release:
		return hostexec.Result{}, nil
	case <-ctx.Done():
		return hostexectest.Hangs(ctx, c)
	}
}

func TestTheAgentRunsEveryStepOfTheCatalogueButThoseOfOtherAgents(t *testing.T) {
	t.Parallel()
	a := agent.New(agent.Options{})
	for _, row := range steps.All() {
		require.Equal(t, row.Agents != steps.OtherAgents, a.Runs(row.Type), row.Type)
	}
}

func TestStepsRunOnceHoweverOftenTheyAreOffered(t *testing.T) {
	t.Parallel()
	s, h, image := newService(t), newHost(t), newGated()
	s.IgnoresWait = true // offers the step again each second
	h.On("coreos-installer", image.run)
	h.start(t, s)
	s.Give("image-write-1", steps.ImageWrite, installArgs(t, "master", 3))
	<-image.started
	polls := len(s.Seen().Polls)
	s.Wait(t, "more polls", func() bool { return len(s.Polls) > polls+5 })
	image.release <- struct{}{}
	reply := s.AwaitReply(t, "image-write-1")
	require.Zero(t, reply.ExitCode)
	require.JSONEq(t, `{"device":"/dev/sda"}`, reply.Output)
	require.Equal(t, 1, h.Count("coreos-installer"))
}

func TestAStepThatWasRunningWhenTheAgentDiedIsReportedAsInterrupted(t *testing.T) {
	t.Parallel()
	s, h, image := newService(t), newHost(t), newGated()
	h.On("coreos-installer", image.run)
	first := h.start(t, s)
	s.Give("image-write-1", steps.ImageWrite, installArgs(t, "master", 3))
	<-image.started
	first.stop(t)
	require.Empty(t, s.Seen().Replies["image-write-1"], "a dying agent says nothing")

	second := h.start(t, s)
	reply := s.AwaitReply(t, "image-write-1")
	require.Equal(t, wire.ExitInterrupted, reply.ExitCode)
	require.True(t, strings.HasPrefix(reply.Error, "interrupted: "))
	h.awaitClosed(t, "image-write-1")
	s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
	s.AwaitReply(t, "domain-1")
	second.stop(t)
	// A poll that crossed the report brings the step again, and the same report after it.
	replies := s.Seen().Replies["image-write-1"]
	for _, again := range replies {
		require.Equal(t, reply, again)
	}
	h.start(t, s)
	s.Give("domain-2", wire.StepTypeDomainResolution, `{"domains":[]}`)
	s.AwaitReply(t, "domain-2")
	require.Len(t, s.Seen().Replies["image-write-1"], len(replies), "what was taken is not reported by another agent")
	require.Equal(t, 1, h.Count("coreos-installer"))
	require.Len(t, s.Seen().Registrations, 1, "a restart does not register")
}

func TestAStepThatWasDoneWhenTheAgentEndedIsReportedAsDone(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	started := make(chan struct{})
	h.On("coreos-installer", func(ctx context.Context, _ hostexec.Cmd) (hostexec.Result, error) {
		close(started)
		<-ctx.Done()
		return hostexec.Result{}, nil // the last block was just written
	})
	first := h.start(t, s)
	s.Give("image-write-1", steps.ImageWrite, installArgs(t, "master", 3))
	<-started
	first.stop(t)
	h.start(t, s)
	require.Zero(t, s.AwaitReply(t, "image-write-1").ExitCode)
	require.Equal(t, 1, h.Count("coreos-installer"))
}

func TestAFreshBootKnowsNothing(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	first := h.start(t, s)
	s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
	s.AwaitReply(t, "domain-1")
	first.stop(t)
	h.write(t, "/proc/sys/kernel/random/boot_id", "boot-2\n")
	h.start(t, s)
	s.Wait(t, "a second registration", func() bool { return len(s.Registrations) == 2 })
	require.NoDirExists(t, h.root.Path("/run/slipway-agent/boot-1"))
	require.DirExists(t, h.root.Path("/run/slipway-agent/boot-2"))
}

func TestRepliesReachTheService(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"after errors of the service": status(http.StatusInternalServerError),
		"after it did not let us in":  status(http.StatusUnauthorized),
		"after broken connections":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"after a lost host":           status(http.StatusNotFound),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			var refused atomic.Int32
			s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
				if !agenttest.IsReply(r) || refused.Add(1) > 4 {
					return false
				}
				answer(w, r)
				return true
			})
			h.start(t, s)
			s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
			s.AwaitReply(t, "domain-1")
		})
	}
}

func TestRepliesOutliveTheAgent(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.On("wipefs", hostexectest.Prints(""))
	tried := make(chan struct{}, 100)
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if agenttest.IsReply(r) {
			tried <- struct{}{}
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return agenttest.IsReply(r)
	})
	first := h.start(t, s)
	s.Give("disk-clean-1", steps.DiskClean, installArgs(t, "master", 3))
	<-tried
	first.stop(t)
	s.SetFault(nil)
	h.start(t, s)
	reply := s.AwaitReply(t, "disk-clean-1")
	require.Zero(t, reply.ExitCode)
	require.Contains(t, reply.Output, "signatures of /dev/sda")
	require.Equal(t, 1, h.Count("wipefs"))
}

func TestAReplyWhoseAnswerWasLostIsPostedAgain(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	var posts atomic.Int32
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if agenttest.IsReply(r) && posts.Add(1) == 1 {
			s.ServeHTTP(w, r)
			panic(http.ErrAbortHandler)
		}
		return false
	})
	h.start(t, s)
	s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
	s.Wait(t, "the same reply twice", func() bool { return len(s.Replies["domain-1"]) == 2 })
	require.Equal(t, s.Seen().Replies["domain-1"][0], s.Seen().Replies["domain-1"][1])
}

func TestAnOutputTheServiceRefusesBecomesAFailure(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	var posts atomic.Int32
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if !agenttest.IsReply(r) || posts.Add(1) > 1 {
			return false
		}
		w.WriteHeader(http.StatusBadRequest)
		return true
	})
	h.start(t, s)
	s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
	reply := s.AwaitReply(t, "domain-1")
	require.Equal(t, -1, reply.ExitCode)
	require.Contains(t, reply.Error, "the service refused the output")
}

func TestAReplyNobodyWantsIsGivenUp(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.On("shutdown", hostexectest.Prints(""))
	posts := make(chan struct{}, 100)
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		if agenttest.IsReply(r) {
			posts <- struct{}{}
			w.WriteHeader(http.StatusNotFound)
		}
		return agenttest.IsReply(r)
	})
	h.start(t, s)
	s.Give("reboot-1", steps.Reboot, installArgs(t, "master", 3))
	for range 6 {
		<-posts
	}
	s.SetFault(nil)
	s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
	s.AwaitReply(t, "domain-1")
	require.Empty(t, s.Seen().Replies["reboot-1"])
	require.Zero(t, h.Count("shutdown"), "who is not heard does not leave")
}

func TestStepsFailClearly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind wire.StepType
		args []string
		code int
		text string
	}{
		"an unknown type":             {"execute", []string{"rm"}, -1, `unknown step type "execute"`},
		"too few arguments":           {wire.StepTypeNtpSynchronizer, nil, -1, "require 1 argument, found 0"},
		"too many arguments":          {wire.StepTypeVerifyVips, []string{"[]", "[]"}, -1, "require 1 argument, found 2"},
		"an argument that is no JSON": {wire.StepTypeVerifyVips, []string{"{"}, -1, "read the argument"},
		"a missing disk":              {steps.ImageWrite, []string{`{"boot_device":"/dev/sdx"}`}, -1, "look for device /dev/sdx"},
		"a command that fails": {
			wire.StepTypeNtpSynchronizer, []string{`{"ntp_source":""}`}, 7, "exit status 7: 506 Cannot talk [redacted]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			h.On("chronyc", hostexectest.Fails(7, "506 Cannot talk "+token))
			h.start(t, s)
			s.Give("step-1", c.kind, c.args...)
			reply := s.AwaitReply(t, "step-1")
			require.Equal(t, c.code, reply.ExitCode)
			require.Contains(t, reply.Error, c.text)
			require.Equal(t, c.kind, reply.StepType)
		})
	}
}

func TestStopInstallationEndsWhatRuns(t *testing.T) {
	t.Parallel()
	s, h, image := newService(t), newHost(t), newGated()
	h.On("coreos-installer", image.run)
	h.start(t, s)
	s.Give("image-write-1", steps.ImageWrite, installArgs(t, "master", 3))
	<-image.started
	s.Give("stop-installation-1", wire.StepTypeStopInstallation)
	require.Zero(t, s.AwaitReply(t, "stop-installation-1").ExitCode)
	reply := s.AwaitReply(t, "image-write-1")
	require.Equal(t, -1, reply.ExitCode)
	require.Contains(t, reply.Error, "stopped: the installation was called off")
	s.Give("image-write-2", steps.ImageWrite, installArgs(t, "master", 3))
	<-image.started
	image.release <- struct{}{}
	require.Zero(t, s.AwaitReply(t, "image-write-2").ExitCode)
}

func TestANewerStepReplacesTheOneItRepeats(t *testing.T) {
	t.Parallel()
	s, h, image := newService(t), newHost(t), newGated()
	h.On("coreos-installer", image.run)
	h.start(t, s)
	s.Give("image-write-1", steps.ImageWrite, installArgs(t, "master", 3))
	<-image.started
	s.Give("image-write-2", steps.ImageWrite, installArgs(t, "master", 3))
	<-image.started
	reply := s.AwaitReply(t, "image-write-1")
	require.Equal(t, wire.ExitInterrupted, reply.ExitCode)
	image.release <- struct{}{}
	require.Zero(t, s.AwaitReply(t, "image-write-2").ExitCode)
}

func TestASecondInstallStepIsRefused(t *testing.T) {
	t.Parallel()
	s, h, image := newService(t), newHost(t), newGated()
	s.NextSeconds = 1
	h.Succeeds(hostexectest.OfInstallation...)
	h.On("coreos-installer", image.run)
	h.start(t, s, func(o *agent.Options) { o.AgentSteps = model.InstallStep })
	s.Give("install-1", wire.StepTypeInstall, installArgs(t, "master", 3))
	<-image.started
	s.Give("install-2", wire.StepTypeInstall, installArgs(t, "master", 3))
	require.Equal(t, 125, s.AwaitReply(t, "install-2").ExitCode)
	image.release <- struct{}{}
	require.Zero(t, s.AwaitReply(t, "install-1").ExitCode)
	require.Equal(t, 1, h.Count("shutdown -r +1"))
	var stages []string
	for _, progress := range s.Seen().Progress {
		stages = append(stages, strings.TrimSpace(string(*progress.CurrentStage)+" "+*progress.ProgressInfo))
	}
	require.Contains(t, strings.Join(stages, "\n"), "Installing master\nWriting image to disk\nRebooting")
}

func TestRebootAnswersFirst(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	rebooted := make(chan bool, 1)
	h.On("shutdown", func(context.Context, hostexec.Cmd) (hostexec.Result, error) {
		s.Read(func() { rebooted <- len(s.Replies["reboot-1"]) == 1 })
		return hostexec.Result{}, nil
	})
	h.start(t, s)
	s.Give("reboot-1", steps.Reboot, installArgs(t, "master", 3))
	require.True(t, <-rebooted, "the service knows before the host goes")
	require.JSONEq(t, `{}`, s.AwaitReply(t, "reboot-1").Output)
}

func TestARebootThatWasAcknowledgedIsCarriedThrough(t *testing.T) {
	t.Parallel()
	s, h, shutdown := newService(t), newHost(t), newGated()
	h.On("shutdown", shutdown.run)
	first := h.start(t, s)
	s.Give("reboot-1", steps.Reboot, installArgs(t, "master", 3))
	<-shutdown.started
	first.stop(t)
	second := h.start(t, s)
	<-shutdown.started
	shutdown.release <- struct{}{}
	s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
	s.AwaitReply(t, "domain-1")
	second.stop(t)
	h.start(t, s)
	s.Give("domain-2", wire.StepTypeDomainResolution, `{"domains":[]}`)
	s.AwaitReply(t, "domain-2")
	require.Equal(t, 2, h.Count("shutdown"))
	require.Len(t, s.Seen().Replies["reboot-1"], 1)
}
