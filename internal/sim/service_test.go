package sim_test

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/steps"
	"slipway/internal/wire"
)

// service is a small service of one cluster: it takes registrations, hands out the steps
// a test commands, and gives their results to the test.
type service struct {
	server     *httptest.Server
	clusterID  uuid.UUID
	infraEnvID uuid.UUID

	mu      sync.Mutex
	changed chan struct{}
	hosts   map[uuid.UUID]*wire.Host
	// registrations of each host.
	registrations map[uuid.UUID]int
	steps         map[uuid.UUID][]wire.Step
	replies       map[string][]wire.StepReply // by step id
	stages        map[uuid.UUID][]wire.HostStage
	controlPlane  int
	// ignitions replace what hosts are installed with.
	ignitions map[uuid.UUID]string
	// bootstrap replaces bootstrapIgnition.
	bootstrap string
	status    wire.ClusterStatus // installing when empty
}

const bootstrapIgnition = `{"ignition":{"version":"3.2.0"},"storage":{"files":[` +
	`{"path":"/opt/openshift/assisted-install-bootstrap","mode":420,"contents":{"source":"data:,1"}},` +
	`{"path":"/opt/openshift/openshift/cluster.yaml","mode":420,"contents":{"source":"data:,simulated"}},{"path":"/opt/openshift/openshift/operator.yaml","mode":420,` +
	`"contents":{"source":"data:,%7B%22apiVersion%22%3A%22operators.coreos.com%2Fv1alpha1%22%2C%22kind%22%3A%22Subscription%22%2C` +
	`%22metadata%22%3A%7B%22name%22%3A%22metallb-operator%22%2C%22namespace%22%3A%22metallb-system%22%7D%7D"}}]},"systemd":{"units":[{"name":"bootkube.service","enabled":false,` +
	`"contents":"[Service]\nExecStart=/usr/local/bin/bootkube.sh\n"},` +
	`{"name":"approve-csr.service","enabled":true,"contents":"[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n"},` +
	`{"name":"progress.service","enabled":true,"contents":"[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n"},` +
	`{"name":"systemd-journal-gatewayd.socket","enabled":true,"contents":""}]}}`

func newService(t *testing.T, controlPlane int) *service {
	t.Helper()
	s := &service{
		clusterID: uuid.New(), infraEnvID: uuid.New(), changed: make(chan struct{}), hosts: map[uuid.UUID]*wire.Host{},
		registrations: map[uuid.UUID]int{}, steps: map[uuid.UUID][]wire.Step{}, replies: map[string][]wire.StepReply{},
		stages: map[uuid.UUID][]wire.HostStage{}, controlPlane: controlPlane,
		ignitions: map[uuid.UUID]string{},
	}
	routes := chi.NewRouter()
	routes.Route("/api/assisted-install/v2", s.routes)
	s.server = httptest.NewServer(routes)
	t.Cleanup(s.server.Close)
	return s
}

func (s *service) routes(r chi.Router) {
	r.Post("/infra-envs/{ie}/hosts", s.register)
	r.Get("/infra-envs/{ie}/hosts/{host}/instructions", s.instructions)
	r.Post("/infra-envs/{ie}/hosts/{host}/instructions", s.reply)
	r.Put("/infra-envs/{ie}/hosts/{host}/progress", s.progress)
	r.Put("/infra-envs/{ie}/hosts/{host}/logs-progress", answer(http.StatusNoContent))
	r.Get("/infra-env/{ie}/hosts/{host}/downloads/ignition", s.ignition)
	r.Get("/clusters/{cluster}/downloads/files", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(cmp.Or(s.bootstrap, bootstrapIgnition)))
	})
	r.Get("/clusters/{cluster}", func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusOK, s.cluster()) })
	r.Get("/clusters/{cluster}/hosts", func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusOK, s.cluster().Hosts) })
	r.Get("/clusters/{cluster}/monitored-operators", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, []wire.MonitoredOperator{})
	})
	r.Post("/clusters/{cluster}/logs", answer(http.StatusNoContent))
	r.Put("/clusters/{cluster}/logs-progress", answer(http.StatusNoContent))
	r.Post("/events", answer(http.StatusCreated))
}

func answer(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func send(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *service) cluster() wire.Cluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := wire.Cluster{
		ID: s.clusterID, Kind: wire.ClusterKindCluster, Name: "test", Status: cmp.Or(s.status, wire.ClusterStatusInstalling),
		ControlPlaneCount: s.controlPlane,
	}
	for _, h := range s.hosts {
		c.Hosts = append(c.Hosts, *h)
	}
	return c
}

// update changes what the service knows and wakes all who wait.
func (s *service) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// wait returns when something holds; nothing is looked at before it changed.
func (s *service) wait(ctx context.Context, holds func() bool) error {
	for {
		s.mu.Lock()
		done, changed := holds(), s.changed
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (s *service) register(w http.ResponseWriter, r *http.Request) {
	var params wire.HostCreateParams
	if err := json.NewDecoder(r.Body).Decode(&params); err != nil {
		send(w, http.StatusBadRequest, wire.Error{Reason: err.Error()})
		return
	}
	s.update(func() {
		s.registrations[params.HostID]++
		if s.hosts[params.HostID] == nil {
			s.hosts[params.HostID] = &wire.Host{
				ID: params.HostID, InfraEnvID: s.infraEnvID, ClusterID: s.clusterID, Role: wire.HostRoleMaster,
				Status: wire.HostStatusInstalling,
			}
		}
	})
	send(w, http.StatusCreated, wire.HostRegistrationResponse{ID: params.HostID, InfraEnvID: s.infraEnvID})
}

func hostOf(r *http.Request) uuid.UUID { return uuid.MustParse(chi.URLParam(r, "host")) }

func (s *service) instructions(w http.ResponseWriter, r *http.Request) {
	host := hostOf(r)
	seconds := 1
	if r.Header.Get(wire.HeaderPrefer) != "" {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		_ = s.wait(ctx, func() bool { return len(s.steps[host]) > 0 })
		w.Header().Set("Preference-Applied", "wait=2")
		seconds = 0
	}
	s.mu.Lock()
	steps := wire.Steps{NextInstructionSeconds: seconds, PostStepAction: wire.Continue, Instructions: s.steps[host]}
	s.mu.Unlock()
	send(w, http.StatusOK, steps)
}

func (s *service) reply(w http.ResponseWriter, r *http.Request) {
	var reply wire.StepReply
	if err := json.NewDecoder(r.Body).Decode(&reply); err != nil {
		send(w, http.StatusBadRequest, wire.Error{Reason: err.Error()})
		return
	}
	host := hostOf(r)
	s.update(func() {
		s.replies[reply.StepID] = append(s.replies[reply.StepID], reply)
		var open []wire.Step
		for _, step := range s.steps[host] {
			if step.StepID != reply.StepID {
				open = append(open, step)
			}
		}
		s.steps[host] = open
	})
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) progress(w http.ResponseWriter, r *http.Request) {
	var p wire.HostProgress
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil || p.CurrentStage == nil {
		send(w, http.StatusBadRequest, wire.Error{Reason: "require a stage"})
		return
	}
	host := hostOf(r)
	s.update(func() {
		s.stages[host] = append(s.stages[host], *p.CurrentStage)
		if h := s.hosts[host]; h != nil {
			h.Progress.CurrentStage = *p.CurrentStage
		}
	})
	w.WriteHeader(http.StatusOK)
}

func (s *service) ignition(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	own := s.ignitions[hostOf(r)]
	s.mu.Unlock()
	if own != "" {
		_, _ = w.Write([]byte(own))
		return
	}
	_, _ = w.Write(
		[]byte(`{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://api-int.test.example.com:22623/config/master"}]}},` +
			`"storage":{"files":[{"path":"/etc/hostname","mode":420,"overwrite":true,"contents":{"source":"data:,node-` +
			path.Base(hostOf(r).String())[:8] + `"}}]}}`),
	)
}

// host waits for the only host that is not in known and returns its id.
func (s *service) host(ctx context.Context, t *testing.T, known ...uuid.UUID) uuid.UUID {
	t.Helper()
	var found uuid.UUID
	err := s.wait(ctx, func() bool {
		for id := range s.hosts {
			isKnown := false
			for _, k := range known {
				isKnown = isKnown || k == id
			}
			if !isKnown {
				found = id
				return true
			}
		}
		return false
	})
	require.NoError(t, err)
	return found
}

// command hands a step to a host.
func (s *service) command(host uuid.UUID, step wire.StepType, args ...string) (stepID string) {
	stepID = string(step) + "-" + uuid.NewString()[:8]
	s.update(func() {
		s.steps[host] = append(s.steps[host], wire.Step{StepType: step, StepID: stepID, Args: args})
		if step == steps.Reboot { // the service records the stage of a step when it commands it; certificates are approved by it
			s.hosts[host].Progress.CurrentStage = wire.HostStageRebooting
		}
	})
	return stepID
}

// result waits for the reply to a step.
func (s *service) result(ctx context.Context, t *testing.T, stepID string) wire.StepReply {
	t.Helper()
	var reply wire.StepReply
	require.NoError(t, s.wait(ctx, func() bool {
		if len(s.replies[stepID]) == 0 {
			return false
		}
		reply = s.replies[stepID][0]
		return true
	}), "reply to %s", stepID)
	return reply
}

// do runs an installation step on a host and returns its reply.
func (s *service) do(ctx context.Context, t *testing.T, host uuid.UUID, step wire.StepType, role wire.HostRole) wire.StepReply {
	t.Helper()
	return s.result(ctx, t, s.command(host, step, s.installArgs(t, host, role)))
}

func (s *service) installArgs(t *testing.T, host uuid.UUID, role wire.HostRole) string {
	t.Helper()
	count := s.controlPlane
	if role == wire.HostRoleWorker {
		count = 0 // it joins a cluster that exists
	}
	args, err := json.Marshal(wire.InstallCmdRequest{
		BootDevice: "/dev/sda", ClusterID: s.clusterID, HostID: host, InfraEnvID: s.infraEnvID, Role: role,
		ControlPlaneCount: count, ControllerImage: "registry.example.com/controller:1", InstallerImage: "installer",
	})
	require.NoError(t, err)
	return string(args)
}
