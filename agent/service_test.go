package agent_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

var (
	clusterID = uuid.MustParse("11111111-1111-4111-8111-111111111111")
	envID     = uuid.MustParse("22222222-2222-4222-8222-222222222222")
	hostID    = uuid.MustParse("33333333-3333-4333-8333-333333333333")
)

// waitMax is how long a test waits for what must happen.
const waitMax = 30 * time.Second

// service speaks the agent's part of the contract. It offers each step until it has a
// reply, holds polls when asked to, and fails as a test tells it.
type service struct {
	*httptest.Server

	mu            sync.Mutex
	changed       chan struct{} // closed and replaced at each change
	registered    bool
	registrations []http.Header
	polls         []http.Header
	steps         []wire.Step
	replies       map[string][]wire.StepReply
	next          int // next_instruction_seconds
	ignoresWait   bool
	exit          bool // the next poll ends the registration
	progress      []string
	files         map[string]string
	// fault answers a request instead of the service; nil and false let it pass.
	fault func(w http.ResponseWriter, r *http.Request) bool
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{changed: make(chan struct{}), replies: map[string][]wire.StepReply{}, files: map[string]string{}}
	mux := http.NewServeMux()
	host := "/api/assisted-install/v2/infra-envs/" + envID.String() + "/hosts"
	mux.HandleFunc("POST "+host, s.register)
	mux.HandleFunc("GET "+host+"/{host}/instructions", s.poll)
	mux.HandleFunc("POST "+host+"/{host}/instructions", s.reply)
	mux.HandleFunc("PUT "+host+"/{host}/progress", s.takeProgress)
	mux.HandleFunc("PUT "+host+"/{host}/logs-progress", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /api/assisted-install/v2/clusters/{cluster}/logs", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /api/assisted-install/v2/infra-env/{env}/hosts/{host}/downloads/ignition", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ignition":{"version":"3.2.0"}}`)
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		fault := s.fault
		s.mu.Unlock()
		if fault == nil || !fault(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// change does something under the lock and wakes whoever waits.
func (s *service) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

// wait returns once is holds; it is called under the lock.
func (s *service) wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	limit := time.After(waitMax)
	for {
		s.mu.Lock()
		done, changed := is(), s.changed
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit:
			require.FailNow(t, "never happened: "+what)
		}
	}
}

func (s *service) register(w http.ResponseWriter, r *http.Request) {
	s.change(func() {
		s.registered = true
		s.registrations = append(s.registrations, r.Header.Clone())
	})
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"id":"`+hostID.String()+`","kind":"Host","next_step_runner_command":null}`)
}

func (s *service) poll(w http.ResponseWriter, r *http.Request) {
	s.change(func() { s.polls = append(s.polls, r.Header.Clone()) })
	holds := strings.HasPrefix(r.Header.Get("Prefer"), "wait=") && !s.ignoresWait
	for {
		s.mu.Lock()
		answer, known, changed := s.answer(), s.registered, s.changed
		s.mu.Unlock()
		switch {
		case !known:
			w.WriteHeader(http.StatusNotFound)
			return
		case holds && len(answer.Instructions) == 0 && answer.PostStepAction != wire.Exit:
			select {
			case <-changed:
				continue
			case <-r.Context().Done():
				return
			}
		}
		if holds {
			w.Header().Set("Preference-Applied", "wait=30")
		}
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
}

// answer lists the steps without a reply; called under the lock.
func (s *service) answer() wire.Steps {
	steps := wire.Steps{NextInstructionSeconds: s.next, PostStepAction: wire.Continue, Instructions: []wire.Step{}}
	for _, step := range s.steps {
		if len(s.replies[step.StepID]) == 0 {
			steps.Instructions = append(steps.Instructions, step)
		}
	}
	if s.exit {
		steps.PostStepAction, s.exit, s.registered = wire.Exit, false, false
	}
	return steps
}

func (s *service) reply(w http.ResponseWriter, r *http.Request) {
	var reply wire.StepReply
	if err := json.NewDecoder(r.Body).Decode(&reply); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.change(func() { s.replies[reply.StepID] = append(s.replies[reply.StepID], reply) })
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) takeProgress(_ http.ResponseWriter, r *http.Request) {
	var progress wire.HostProgress
	_ = json.NewDecoder(r.Body).Decode(&progress)
	s.change(func() {
		s.progress = append(s.progress, strings.TrimSpace(string(*progress.CurrentStage)+" "+*progress.ProgressInfo))
	})
}

// give commands a step.
func (s *service) give(id string, kind wire.StepType, args ...string) {
	s.change(func() { s.steps = append(s.steps, wire.Step{StepID: id, StepType: kind, Args: args}) })
}

// awaitReply waits for the first reply of a step.
func (s *service) awaitReply(t *testing.T, id string) wire.StepReply {
	t.Helper()
	s.wait(t, "reply of "+id, func() bool { return len(s.replies[id]) > 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replies[id][0]
}

// seen is what the service was told so far.
type seen struct {
	registrations, polls []http.Header
	replies              map[string][]wire.StepReply
	progress             []string
}

func (s *service) seen() seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return seen{
		slices.Clone(s.registrations), slices.Clone(s.polls), maps.Clone(s.replies), slices.Clone(s.progress),
	}
}

func (s *service) setFault(fault func(w http.ResponseWriter, r *http.Request) bool) {
	s.change(func() { s.fault = fault })
}

func isPoll(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/instructions")
}

func isReply(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/instructions")
}

func isRegistration(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/hosts")
}
