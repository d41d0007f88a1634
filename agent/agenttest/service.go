// Package agenttest is the service as an agent sees it, for tests: it offers the steps a
// test commands, keeps what the agent reports, and fails as the test says.
package agenttest

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// The ids of the one host that a service knows.
var (
	ClusterID = uuid.MustParse("11111111-1111-4111-8111-111111111111")
	EnvID     = uuid.MustParse("22222222-2222-4222-8222-222222222222")
	HostID    = uuid.MustParse("33333333-3333-4333-8333-333333333333")
)

// Ignition is the config that the host is installed with.
const Ignition = `{"ignition":{"version":"3.2.0"}}`

// Service speaks the agent's part of the contract. It offers each step until it has a
// reply, and holds polls that ask for it. It is a handler; tests serve it where they want.
// Its fields are read and set before it is served, or under its lock, by Change, Read and
// Wait.
type Service struct {
	Received
	Registered  bool // polls of a host that is not are refused
	NextSeconds int  // next_instruction_seconds
	IgnoresWait bool // polls are answered at once
	ExitNext    bool // the next poll ends the registration

	patience time.Duration
	routes   *http.ServeMux
	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at each change
	steps    []wire.Step
	fault    Fault
}

// Received holds the requests that a service received so far.
type Received struct {
	Registrations, Polls []http.Header
	Replies              map[string][]wire.StepReply // by the id of the step
	Progress             []wire.HostProgress
	LogsStates           []wire.LogsState
	Logs                 []byte // the last archive
}

// Fault answers a request instead of the service; false lets it pass.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// New makes a service; Wait and AwaitReply fail a test after patience.
func New(patience time.Duration) *Service {
	s := &Service{
		Received: Received{
			Replies: map[string][]wire.StepReply{},
		}, patience: patience, routes: http.NewServeMux(), changed: make(chan struct{}),
	}
	const api = "/api/assisted-install/v2"
	hosts := api + "/infra-envs/" + EnvID.String() + "/hosts"
	s.Handle("POST "+hosts, s.register)
	s.Handle("GET "+hosts+"/{host}/instructions", s.poll)
	s.Handle("POST "+hosts+"/{host}/instructions", take(s, http.StatusNoContent, func(reply wire.StepReply) {
		s.Replies[reply.StepID] = append(s.Replies[reply.StepID], reply)
	}))
	s.Handle("PUT "+hosts+"/{host}/progress", take(s, http.StatusOK, func(progress wire.HostProgress) {
		s.Progress = append(s.Progress, progress)
	}))
	s.Handle("PUT "+hosts+"/{host}/logs-progress", take(s, http.StatusNoContent, func(progress wire.LogsProgressParams) {
		s.LogsStates = append(s.LogsStates, progress.LogsState)
	}))
	s.Handle("POST "+api+"/clusters/{cluster}/logs", s.takeLogs)
	s.Handle("GET "+api+"/infra-env/{env}/hosts/{host}/downloads/ignition", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, Ignition)
	})
	return s
}

// Handle answers requests of a pattern, as http.ServeMux has them, before it is served.
func (s *Service) Handle(pattern string, handler http.HandlerFunc) {
	s.routes.HandleFunc(pattern, handler)
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault == nil || !fault(w, r) {
		s.routes.ServeHTTP(w, r)
	}
}

// Change does something under the lock and wakes whoever waits.
func (s *Service) Change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Read does something under the lock that changes nothing.
func (s *Service) Read(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Wait returns once is holds; it is called under the lock.
func (s *Service) Wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	limit, cancel := context.WithTimeout(t.Context(), s.patience)
	defer cancel()
	for {
		s.mu.Lock()
		done, changed := is(), s.changed
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit.Done():
			require.FailNow(t, "never happened: "+what)
		}
	}
}

// Give commands a step.
func (s *Service) Give(id string, kind wire.StepType, args ...string) {
	s.Change(func() { s.steps = append(s.steps, wire.Step{StepID: id, StepType: kind, Args: args}) })
}

// GiveFenced commands a step that holds for a boot and an attempt only.
func (s *Service) GiveFenced(id string, kind wire.StepType, fence wire.StepFence, args ...string) {
	s.Change(func() { s.steps = append(s.steps, wire.Step{StepID: id, StepType: kind, Args: args, Fence: fence}) })
}

// AwaitReply waits for the first reply of a step.
func (s *Service) AwaitReply(t *testing.T, id string) (reply wire.StepReply) {
	t.Helper()
	s.Wait(t, "reply of "+id, func() bool { return len(s.Replies[id]) > 0 })
	s.Read(func() { reply = s.Replies[id][0] })
	return reply
}

// Seen returns a snapshot of the requests received so far.
func (s *Service) Seen() (seen Received) {
	s.Read(func() {
		seen = Received{
			slices.Clone(s.Registrations), slices.Clone(s.Polls), maps.Clone(s.Replies),
			slices.Clone(s.Progress), slices.Clone(s.LogsStates), s.Logs,
		}
	})
	return seen
}

// SetFault makes a service fail from now on; nil makes it whole again.
func (s *Service) SetFault(fault Fault) {
	s.Change(func() { s.fault = fault })
}

// IsPoll reports whether an agent asks for steps.
func IsPoll(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/instructions")
}

// IsReply reports whether an agent reports the result of a step.
func IsReply(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/instructions")
}

// IsRegistration reports whether a host introduces itself.
func IsRegistration(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/hosts")
}

// take reads what a request says, and keeps it.
func take[Body any](s *Service, code int, keep func(Body)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body Body
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.Change(func() { keep(body) })
		w.WriteHeader(code)
	}
}

func (s *Service) takeLogs(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("upfile")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	content, err := io.ReadAll(file)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.Change(func() { s.Logs = content })
	w.WriteHeader(http.StatusNoContent)
}

func (s *Service) register(w http.ResponseWriter, r *http.Request) {
	s.Change(func() {
		s.Registered = true
		s.Registrations = append(s.Registrations, r.Header.Clone())
	})
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"id":"`+HostID.String()+`","kind":"Host","next_step_runner_command":null}`)
}

func (s *Service) poll(w http.ResponseWriter, r *http.Request) {
	s.Change(func() { s.Polls = append(s.Polls, r.Header.Clone()) })
	seconds, err := strconv.Atoi(strings.TrimPrefix(r.Header.Get(wire.HeaderPrefer), "wait="))
	holds := err == nil && !s.IgnoresWait
	held, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	for {
		s.mu.Lock()
		answer, known, changed := s.answer(), s.Registered, s.changed
		s.mu.Unlock()
		switch {
		case !known:
			w.WriteHeader(http.StatusNotFound)
			return
		case holds && len(answer.Instructions) == 0 && answer.PostStepAction != wire.Exit && held.Err() == nil:
			select {
			case <-changed:
			case <-held.Done():
			}
			if r.Context().Err() != nil {
				return // the client is gone
			}
			continue
		}
		if holds {
			w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(seconds))
		}
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
}

// answer lists the steps without a reply; called under the lock.
func (s *Service) answer() wire.Steps {
	steps := wire.Steps{NextInstructionSeconds: s.NextSeconds, PostStepAction: wire.Continue, Instructions: []wire.Step{}}
	for _, step := range s.steps {
		if len(s.Replies[step.StepID]) == 0 {
			steps.Instructions = append(steps.Instructions, step)
		}
	}
	if s.ExitNext {
		steps.PostStepAction, s.ExitNext, s.Registered = wire.Exit, false, false
	}
	return steps
}
