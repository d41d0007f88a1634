package controller_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// service is as much of the service as a controller sees, with the states of
// docs/reference/state-rules.md, "Enough hosts": finalizing once enough hosts are done,
// installed once all are, operators are available, the ingress certificate came and
// completion was reported.
type service struct {
	t *testing.T
	// before, when set, sees every request first; false drops it with 503.
	before func(r *http.Request) bool
	fail   int // every answer, when set

	mu         sync.Mutex
	cluster    wire.Cluster
	manifests  string
	needed     int // hosts that must be done before finalizing
	stages     map[uuid.UUID][]wire.HostStage
	finalizing []wire.FinalizingStage
	ingressCA  string
	completed  int
	refuse     int // how often completion is refused
	logs       [][]byte
	logsStates []wire.LogsState
	changes    int64 // of the status
	events     []wire.Event
}

func (s *service) start() *client.Client {
	server := httptest.NewServer(s.handler())
	s.t.Cleanup(server.Close)
	return client.New(client.Options{BaseURL: server.URL, HTTPClient: server.Client()})
}

func (s *service) handler() http.Handler {
	const base = "/api/assisted-install/v2"
	mux := http.NewServeMux()
	handle := func(pattern string, code int, do func(r *http.Request) (any, int)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+base+path, func(w http.ResponseWriter, r *http.Request) {
			if s.before != nil && !s.before(r) {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			body, failed := do(r)
			if failed = cmp.Or(s.fail, failed); failed != 0 {
				w.WriteHeader(failed)
				return
			}
			s.settle()
			w.WriteHeader(code)
			switch body := body.(type) {
			case nil:
			case string:
				fmt.Fprint(w, body)
			default:
				_ = json.NewEncoder(w).Encode(body) // the controller may have been killed
			}
		})
	}
	handle("GET /clusters/{c}", 200, func(*http.Request) (any, int) { return s.cluster, 0 })
	handle("PUT /infra-envs/{e}/hosts/{h}/progress", 200, s.hostProgress)
	handle("PUT /clusters/{c}/progress", 200, s.finalizingProgress)
	handle("GET /clusters/{c}/monitored-operators", 200, func(*http.Request) (any, int) { return s.cluster.MonitoredOperators, 0 })
	handle("PUT /clusters/{c}/monitored-operators", 200, s.reportOperator)
	handle("POST /clusters/{c}/uploads/ingress-cert", 201, func(r *http.Request) (any, int) {
		read(r, &s.ingressCA)
		return nil, 0
	})
	handle("GET /clusters/{c}/downloads/files", 200, func(r *http.Request) (any, int) {
		if r.URL.Query().Get("file_name") != "custom_manifests.json" || s.manifests == "" {
			return nil, 404
		}
		return s.manifests, 0
	})
	handle("GET /clusters/{c}/downloads/credentials", 200, func(r *http.Request) (any, int) {
		if r.URL.Query().Get("file_name") != "kubeconfig-noingress" {
			return nil, 404
		}
		return adminKubeconfig, 0
	})
	handle("POST /events", 201, func(r *http.Request) (any, int) {
		var event wire.Event
		read(r, &event)
		s.events = append(s.events, event)
		return nil, 0
	})
	handle("POST /clusters/{c}/logs", 204, s.takeLogs)
	handle("PUT /clusters/{c}/logs-progress", 204, func(r *http.Request) (any, int) {
		var p wire.LogsProgressParams
		read(r, &p)
		s.logsStates = append(s.logsStates, p.LogsState)
		return nil, 0
	})
	handle("POST /clusters/{c}/actions/complete-installation", 202, s.complete)
	return mux
}

func read(r *http.Request, into any) {
	// A body cut off by a killed controller leaves into as it is; its answer goes nowhere.
	_ = json.NewDecoder(r.Body).Decode(into)
}

func (s *service) hostProgress(r *http.Request) (any, int) {
	var p wire.HostProgress
	read(r, &p)
	if p.CurrentStage == nil {
		return nil, 400
	}
	id := uuid.MustParse(r.PathValue("h"))
	for i := range s.cluster.Hosts {
		h := &s.cluster.Hosts[i]
		if h.ID != id || h.InfraEnvID.String() != r.PathValue("e") {
			continue
		}
		s.stages[id] = append(s.stages[id], *p.CurrentStage)
		h.Progress.CurrentStage = *p.CurrentStage
		if *p.CurrentStage == wire.HostStage(model.StageDone) {
			h.Status = wire.HostStatus(model.HostInstalled)
		}
		return nil, 0
	}
	return nil, 404
}

func (s *service) finalizingProgress(r *http.Request) (any, int) {
	var p wire.ClusterFinalizingProgress
	read(r, &p)
	if p.FinalizingStage == nil {
		return nil, 400
	}
	s.finalizing = append(s.finalizing, *p.FinalizingStage)
	s.cluster.Progress.FinalizingStage, s.cluster.Progress.FinalizingStageTimedOut = *p.FinalizingStage, false
	return nil, 0
}

func (s *service) reportOperator(r *http.Request) (any, int) {
	var p wire.OperatorMonitorReport
	read(r, &p)
	for i := range s.cluster.MonitoredOperators {
		if o := &s.cluster.MonitoredOperators[i]; o.Name == p.Name {
			o.Status, o.StatusInfo, o.Version = p.Status, p.StatusInfo, p.Version
			return nil, 0
		}
	}
	return nil, 404
}

func (s *service) takeLogs(r *http.Request) (any, int) {
	file, _, err := r.FormFile("upfile")
	if err != nil || r.URL.Query().Get("logs_type") != "controller" {
		return nil, 400
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, 400
	}
	s.logs = append(s.logs, content)
	return nil, 0
}

func (s *service) complete(r *http.Request) (any, int) {
	var p wire.CompletionParams
	read(r, &p)
	if !p.IsSuccess || s.refuse > 0 {
		s.refuse--
		return nil, 409
	}
	s.completed++
	return nil, 0
}

// settle moves the cluster on.
func (s *service) settle() {
	before := s.cluster.Status
	defer func() {
		if s.cluster.Status != before {
			s.since()
		}
	}()
	done := 0
	for _, h := range s.cluster.Hosts {
		if h.Status == wire.HostStatus(model.HostInstalled) {
			done++
		}
	}
	status := model.ClusterStatus(s.cluster.Status)
	if status == model.ClusterInstalling && done >= s.needed {
		s.cluster.Status = wire.ClusterStatus(model.ClusterFinalizing)
	}
	available := !slices.ContainsFunc(s.cluster.MonitoredOperators, func(o wire.MonitoredOperator) bool {
		settled := o.OperatorType == wire.Olm && o.Status == wire.OperatorStatusFailed
		return o.Status != wire.OperatorStatusAvailable && !settled
	})
	if status == model.ClusterFinalizing && done == len(s.cluster.Hosts) && available && s.ingressCA != "" && s.completed > 0 {
		s.cluster.Status = wire.ClusterStatus(model.ClusterInstalled)
	}
}

// set changes the cluster under the lock.
func (s *service) set(change func(*wire.Cluster)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.cluster)
	s.since()
}

// since notes that the status changed.
func (s *service) since() {
	s.changes++
	s.cluster.StatusUpdatedAt = wire.DateTime(time.Unix(s.changes, 0))
}

// newService makes a service with one cluster whose hosts have all just rebooted.
func newService(t *testing.T, hosts ...wire.Host) *service {
	t.Helper()
	s := &service{t: t, needed: len(hosts), stages: map[uuid.UUID][]wire.HostStage{}}
	s.cluster = wire.Cluster{
		ID: uuid.New(), Name: "test", Status: wire.ClusterStatus(model.ClusterInstalling), Hosts: hosts,
		MonitoredOperators: []wire.MonitoredOperator{
			{Name: "cvo", OperatorType: wire.Builtin}, {Name: "console", OperatorType: wire.Builtin},
		},
	}
	return s
}

// host makes a host that has just rebooted from its disk.
func host(t *testing.T, name string, addresses ...string) wire.Host {
	t.Helper()
	inventory, err := json.Marshal(wire.Inventory{
		Hostname: "discovered-name", Interfaces: []wire.Interface{{Name: "eth0", Ipv4Addresses: addresses}},
	})
	require.NoError(t, err)
	return wire.Host{
		ID: uuid.New(), InfraEnvID: uuid.New(), RequestedHostname: name, Inventory: string(inventory),
		Status:   wire.HostStatus(model.HostInstallingInProgress),
		Progress: wire.HostProgressInfo{CurrentStage: wire.HostStage(model.StageRebooting)},
	}
}
