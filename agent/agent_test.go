package agent_test

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/agent"
	"slipway/agent/agenttest"
	"slipway/internal/model"
	"slipway/internal/testing/await"
	"slipway/internal/testing/hostexectest"
	"slipway/internal/wire"
)

func TestAgentRegistersAndHoldsAPoll(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	h.start(t, s)
	s.Wait(t, "a poll", func() bool { return len(s.Polls) > 0 })
	require.Equal(t, "fine", s.Seen().Registrations[0].Get("Slipway-Steps"))
	require.Equal(t, token, s.Seen().Registrations[0].Get("X-Secret-Key"))
	require.Equal(t, "1.0", s.Seen().Registrations[0].Get("discovery_agent_version"))
	require.Equal(t, "wait=30", s.Seen().Polls[0].Get("Prefer"))
	require.Equal(t, "boot-1", s.Seen().Registrations[0].Get("Slipway-Boot"))
	require.Equal(t, "boot-1", s.Seen().Polls[0].Get("Slipway-Boot"))
	s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
	require.Zero(t, s.AwaitReply(t, "domain-1").ExitCode)
}

func TestAForeignAgentAnnouncesNothing(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	s.NextSeconds = 7
	h.start(t, s, func(o *agent.Options) { o.AgentSteps = model.InstallStep })
	s.Wait(t, "polls", func() bool { return len(s.Polls) > 3 })
	require.Empty(t, s.Seen().Registrations[0].Get("Slipway-Steps"))
	require.Empty(t, s.Seen().Polls[0].Get("Prefer"))
	require.Empty(t, s.Seen().Registrations[0].Get("Slipway-Boot"))
	require.Empty(t, s.Seen().Polls[0].Get("Slipway-Boot"))
	require.Contains(t, h.slept(), 7*time.Second)
}

func TestAgentPollsAtThePaceOfTheService(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		next    int
		atLeast time.Duration
		atMost  time.Duration
	}{
		"the interval it asks for":           {60, time.Minute, time.Minute},
		"a second, if it asks for none":      {0, 0, time.Second},
		"a second, if it asks for less":      {-5, 0, time.Second},
		"ten minutes, if it asks for a week": {604800, 10 * time.Minute, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			s.IgnoresWait, s.NextSeconds = true, c.next
			h.start(t, s)
			s.Wait(t, "polls", func() bool { return len(s.Polls) > 20 })
			pauses := h.slept()
			for _, pause := range pauses {
				require.GreaterOrEqual(t, pause, c.atLeast)
				require.LessOrEqual(t, pause, c.atMost)
			}
			require.Equal(t, c.atMost, pauses[len(pauses)-1], "it never polls without end")
		})
	}
}

func TestAgentRegistersAgain(t *testing.T) {
	t.Parallel()
	t.Run("when the service forgot the host", func(t *testing.T) {
		t.Parallel()
		s, h := newService(t), newHost(t)
		s.IgnoresWait, s.NextSeconds = true, 1
		h.start(t, s)
		s.Wait(t, "a poll", func() bool { return len(s.Polls) > 0 })
		s.Change(func() { s.Registered = false })
		s.Wait(t, "a second registration", func() bool { return len(s.Registrations) == 2 })
		require.Empty(t, s.Seen().Registrations[0].Get("Slipway-Registration"))
		require.Equal(t, "again", s.Seen().Registrations[1].Get("Slipway-Registration"), "a user may have deleted it")
	})
	t.Run("when the service says so", func(t *testing.T) {
		t.Parallel()
		s, h := newService(t), newHost(t)
		h.start(t, s)
		s.Wait(t, "a poll", func() bool { return len(s.Polls) > 0 })
		s.Change(func() { s.ExitNext = true })
		s.Wait(t, "a second registration", func() bool { return len(s.Registrations) == 2 })
	})
	t.Run("with growing pauses, when it does not last", func(t *testing.T) {
		t.Parallel()
		s, h := newService(t), newHost(t)
		s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
			if agenttest.IsPoll(r) {
				w.WriteHeader(http.StatusNotFound)
			}
			return agenttest.IsPoll(r)
		})
		h.start(t, s)
		s.Wait(t, "registrations", func() bool { return len(s.Registrations) > 12 })
		require.Greater(t, longest(h.slept()), 2*time.Minute)
		s.SetFault(nil)
		s.Wait(t, "a poll", func() bool { return len(s.Polls) > 0 })
	})
}

// An image's token proves no host, and may have ended: the token of the host proves it.
func TestAgentProvesItsHostWhenItRegistersAgain(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	var proofs, ended []string
	s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		sent := r.Header.Get("X-Secret-Key")
		switch {
		case agenttest.IsPoll(r):
		case slices.Contains(ended, sent):
			proofs = append(proofs, sent)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/hosts"):
			proofs = append(proofs, sent)
			w.Header().Set("Slipway-Token", "host-"+strconv.Itoa(len(proofs)))
		}
		return false
	})
	h.start(t, s)
	s.Wait(t, "a poll", func() bool { return len(s.Polls) > 0 })
	s.Change(func() { s.ExitNext = true })
	s.Wait(t, "a second registration", func() bool { return len(s.Registrations) == 2 })
	s.Change(func() { require.Equal(t, []string{token, "host-1"}, proofs) })
	s.Wait(t, "a poll", func() bool { return s.Polls[len(s.Polls)-1].Get("X-Secret-Key") == "host-2" })
	s.Change(func() { ended = []string{"host-2"}; s.ExitNext = true })
	s.Wait(t, "a third registration", func() bool { return len(s.Registrations) == 3 })
	s.Change(func() { require.Equal(t, []string{token, "host-1", "host-2", token}, proofs) })
}

func longest(pauses []time.Duration) time.Duration {
	var found time.Duration
	for _, pause := range pauses {
		found = max(found, pause)
	}
	return found
}

func TestNoAnswerStopsTheAgent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		atMost time.Duration
	}{
		"401":        {status(http.StatusUnauthorized), 5 * time.Minute * 13 / 10},
		"403":        {status(http.StatusForbidden), 5 * time.Minute * 13 / 10},
		"404":        {status(http.StatusNotFound), 5 * time.Minute * 13 / 10},
		"409":        {status(http.StatusConflict), 5 * time.Minute * 13 / 10},
		"422":        {status(http.StatusUnprocessableEntity), 5 * time.Minute * 13 / 10},
		"500":        {status(http.StatusInternalServerError), 15 * time.Second},
		"503":        {status(http.StatusServiceUnavailable), 15 * time.Second},
		"200 as 201": {status(http.StatusAccepted), 5 * time.Minute * 13 / 10},
		"HTML": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, 5 * time.Minute * 13 / 10,
		},
		"a broken connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newService(t), newHost(t)
			for _, hits := range []func(*http.Request) bool{agenttest.IsRegistration, agenttest.IsPoll} {
				count := make(chan struct{}, 8)
				s.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
					if !hits(r) {
						return false
					}
					select {
					case count <- struct{}{}:
					default:
					}
					c.answer(w, r)
					return true
				})
				if len(s.Seen().Registrations) == 0 {
					h.start(t, s)
				}
				for range 8 {
					<-count
				}
				s.SetFault(nil)
				s.Wait(t, "a registration", func() bool { return len(s.Registrations) > 0 })
			}
			s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
			s.AwaitReply(t, "domain-1")
			require.LessOrEqual(t, longest(h.slept()), c.atMost)
		})
	}
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestAgentFindsItsIDInTheHardware(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	paths := make(chan string, 100)
	s.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if agenttest.IsPoll(r) {
			select {
			case paths <- r.URL.Path:
			default:
			}
		}
		return false
	})
	h.write(t, "/sys/class/dmi/id/product_uuid", "4c4c4544-0051-3510-8052-b4c04f564432\n")
	h.start(t, s, func(o *agent.Options) { o.HostID = uuid.Nil })
	require.Contains(t, <-paths, "/hosts/4c4c4544-0051-3510-8052-b4c04f564432/")
}

func TestAgentNeedsAFolderForItsState(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	require.NoError(t, os.Remove(h.root.Path("/proc/sys/kernel/random/boot_id")))
	a := agent.New(agent.Options{Platform: agent.Platform{Root: h.root, Now: time.Now}})
	require.ErrorContains(t, a.Run(t.Context()), "read the id of this boot")
}

func TestSecondAgentWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	first := h.start(t, s)
	s.Wait(t, "a poll", func() bool { return len(s.Polls) > 0 })
	before := len(h.slept())
	h.start(t, s)
	await.True(t, func() bool { return len(h.slept()) > before+3 })
	first.stop(t)
	s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
	s.AwaitReply(t, "domain-1")
	require.Len(t, s.Seen().Registrations, 1, "the host stays registered")
}

func TestMediaThatIsGoneFailsSteps(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	require.NoError(t, os.MkdirAll(h.root.Path("/run/media/iso"), 0o755))
	h.On("findmnt", hostexectest.Prints("/dev/sr0 /run/media/iso\n"))
	h.start(t, s)
	s.Give("domain-1", wire.StepTypeDomainResolution, `{"domains":[]}`)
	reply := s.AwaitReply(t, "domain-1")
	require.Equal(t, 256, reply.ExitCode)
	require.Contains(t, reply.Error, "cannot read from the media (ISO) - media was likely disconnected")
	s.Give("stop-1", wire.StepTypeStopInstallation)
	require.Zero(t, s.AwaitReply(t, "stop-1").ExitCode, "an installation can always be stopped")

	h.write(t, "/dev/sr0", strings.Repeat("iso", 2000))
	s.Give("domain-2", wire.StepTypeDomainResolution, `{"domains":[]}`)
	require.Zero(t, s.AwaitReply(t, "domain-2").ExitCode)
	h.On("findmnt", hostexectest.Prints("/dev/sr9 /run\n"))
	s.Give("domain-3", wire.StepTypeDomainResolution, `{"domains":[]}`)
	require.Zero(t, s.AwaitReply(t, "domain-3").ExitCode, "nothing is mounted there")
}

// A slow medium is read once for all steps that begin meanwhile, and none takes the others'
// waiting for a medium that is gone.
func TestStepsWaitTogetherForASlowMedium(t *testing.T) {
	t.Parallel()
	s, h := newService(t), newHost(t)
	require.NoError(t, os.MkdirAll(h.root.Path("/run/media/iso"), 0o755))
	require.NoError(t, os.MkdirAll(h.root.Path("/dev"), 0o755))
	medium := h.root.Path("/dev/sr0")
	require.NoError(t, syscall.Mkfifo(medium, 0o600), "reading it waits until somebody writes")
	h.On("findmnt", hostexectest.Prints("/dev/sr0 /run/media/iso\n"))
	h.start(t, s)
	steps := []wire.StepType{wire.StepTypeDomainResolution, wire.StepTypeNtpSynchronizer, wire.StepTypeConnectivityCheck}
	for _, step := range steps {
		s.Give(string(step), step, `{}`)
	}
	await.True(t, func() bool { return h.Count("findmnt") == len(steps) })
	// Also for reading: the agent opens it once more where direct I/O is not possible, and
	// in between there would be no reader.
	writer, err := os.OpenFile(medium, os.O_RDWR, 0)
	require.NoError(t, err)
	h.write(t, "/dev/sr1", strings.Repeat("iso", 2000))
	require.NoError(t, os.Rename(h.root.Path("/dev/sr1"), medium), "for those that look later")
	_, err = writer.WriteString(strings.Repeat("iso", 2000))
	require.NoError(t, err)
	for _, step := range steps {
		require.NotContains(t, s.AwaitReply(t, string(step)).Error, "media was likely disconnected")
	}
	require.NoError(t, writer.Close())
}
