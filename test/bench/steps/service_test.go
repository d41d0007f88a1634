package steps_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
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

const (
	// token is what agents show to the service; it must not be seen elsewhere.
	token = "the-token-of-the-bench"
	// waitMax is how long a test waits for what must happen, on a busy machine.
	waitMax = 2 * time.Minute
	// hostIgnition is what an installed host starts with.
	hostIgnition = `{"ignition":{"version":"3.2.0"}}`
	// pollHeld is how long a question without steps is held.
	pollHeld = 20 * time.Second
)

// service speaks the agent's part of the contract, in the network of the hosts.
type service struct {
	*httptest.Server

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at each change
	steps    []wire.Step
	replies  map[string]wire.StepReply
	versions []string // of the agents, in the order of their registrations
	polls    int
	programs map[string][]byte
	logs     []byte
	states   []string // of the collection of logs
	stages   []string // of the installation
	away     bool     // does not take registrations
	refused  int      // of those
}

// serve starts a server in the network.
func (l *lan) serve(t *testing.T, address string, handler http.Handler) *httptest.Server {
	t.Helper()
	s := &httptest.Server{Listener: l.Listen(t, "tcp", address), Config: &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: waitMax}}
	t.Cleanup(s.Close)
	return s
}

func newService(t *testing.T, l *lan) *service {
	t.Helper()
	s := &service{changed: make(chan struct{}), replies: map[string]wire.StepReply{}, programs: map[string][]byte{}}
	mux := http.NewServeMux()
	const api = "/api/assisted-install/v2/infra-envs/{env}/hosts"
	mux.HandleFunc("POST "+api, s.register)
	mux.HandleFunc("GET "+api+"/{host}/instructions", s.poll)
	mux.HandleFunc("POST "+api+"/{host}/instructions", func(w http.ResponseWriter, r *http.Request) {
		var reply wire.StepReply
		_ = json.NewDecoder(r.Body).Decode(&reply)
		s.change(func() { s.replies[reply.StepID] = reply })
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("PUT "+api+"/{host}/progress", func(w http.ResponseWriter, r *http.Request) {
		var progress wire.HostProgress
		_ = json.NewDecoder(r.Body).Decode(&progress)
		s.change(func() { s.stages = append(s.stages, string(*progress.CurrentStage)+": "+*progress.ProgressInfo) })
	})
	mux.HandleFunc("PUT "+api+"/{host}/logs-progress", func(w http.ResponseWriter, r *http.Request) {
		var progress wire.LogsProgressParams
		_ = json.NewDecoder(r.Body).Decode(&progress)
		s.change(func() { s.states = append(s.states, string(progress.LogsState)) })
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /api/assisted-install/v2/clusters/{cluster}/logs", func(w http.ResponseWriter, r *http.Request) {
		if file, _, err := r.FormFile("upfile"); err == nil {
			content, _ := io.ReadAll(file)
			s.change(func() { s.logs = content })
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /api/assisted-install/v2/infra-env/{env}/hosts/{host}/downloads/ignition", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, hostIgnition)
	})
	mux.HandleFunc("GET /api/assisted-install/v2/clusters/{cluster}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"kind":"AddHostsCluster"}`)
	})
	mux.HandleFunc("GET /agent/{name}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, _ = w.Write(s.programs[r.PathValue("name")])
	})
	s.Server = l.serve(t, net.JoinHostPort(gateway, "8090"), mux)
	s.Start()
	return s
}

func (s *service) register(w http.ResponseWriter, r *http.Request) {
	taken := false
	s.change(func() {
		if taken = !s.away; taken {
			s.versions = append(s.versions, r.Header.Get("discovery_agent_version"))
		} else {
			s.refused++
		}
	})
	if !taken {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{}`)
}

// poll holds a question until there is a step without a reply.
func (s *service) poll(w http.ResponseWriter, r *http.Request) {
	s.change(func() { s.polls++ })
	held, cancel := context.WithTimeout(r.Context(), pollHeld)
	defer cancel()
	for {
		s.mu.Lock()
		answer, changed := wire.Steps{PostStepAction: wire.Continue, Instructions: []wire.Step{}}, s.changed
		for _, step := range s.steps {
			if _, replied := s.replies[step.StepID]; !replied {
				answer.Instructions = append(answer.Instructions, step)
			}
		}
		s.mu.Unlock()
		if len(answer.Instructions) > 0 || held.Err() != nil {
			w.Header().Set("Preference-Applied", "wait=30")
			_ = json.NewEncoder(w).Encode(answer)
			return
		}
		select {
		case <-changed:
		case <-held.Done():
		}
	}
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
	limit, cancel := context.WithTimeout(t.Context(), waitMax)
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

// give commands a step.
func (s *service) give(id string, kind wire.StepType, args ...string) {
	s.change(func() { s.steps = append(s.steps, wire.Step{StepID: id, StepType: kind, Args: args}) })
}

// reply waits for the reply of a step.
func (s *service) reply(t *testing.T, id string) (reply wire.StepReply) {
	t.Helper()
	s.wait(t, "the reply of "+id, func() (known bool) {
		reply, known = s.replies[id]
		return known
	})
	return reply
}
