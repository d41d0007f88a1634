package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cli"
	"slipway/internal/wire"
)

// line is the command line under test.
type line struct {
	Cluster   cli.ClusterCommands   `cmd:""`
	Host      cli.HostCommands      `cmd:""`
	InfraEnv  cli.InfraEnvCommands  `cmd:"" name:"infra-env"`
	Wait      cli.WaitCommands      `cmd:""`
	Versions  cli.VersionsCommand   `cmd:""`
	Operators cli.OperatorsCommands `cmd:""`
	Features  cli.FeaturesCommand   `cmd:""`
	Audit     cli.AuditCommand      `cmd:""`
}

var (
	clusterID = uuid.MustParse("11111111-1111-1111-1111-111111111111")
	otherID   = uuid.MustParse("22222222-2222-2222-2222-222222222222")
	envID     = uuid.MustParse("33333333-3333-3333-3333-333333333333")
	masterID  = uuid.MustParse("44444444-4444-4444-4444-444444444444")
	workerID  = uuid.MustParse("55555555-5555-5555-5555-555555555555")
	now       = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

// fake is a service with two clusters, one of them with two hosts. It keeps what it was
// asked to change.
type fake struct {
	mu       sync.Mutex
	requests []string // METHOD path body
	// statuses are the first cluster's, one after the other, as it is read.
	statuses []wire.ClusterStatus
	// release is used by the installation.
	release wire.ClusterRelease
	// silent keeps the workflow from answering.
	silent bool
	// noMoreEvents is called when events are asked for beyond the last.
	noMoreEvents func()
}

func (f *fake) cluster() wire.Cluster {
	status := wire.ClusterStatusInstalling
	if len(f.statuses) > 0 {
		status = f.statuses[0]
		if len(f.statuses) > 1 {
			f.statuses = f.statuses[1:]
		}
	}
	return wire.Cluster{
		ID: clusterID, Name: "green", Status: status, StatusInfo: "as it goes", OpenshiftVersion: "4.20.5", TotalHostCount: 2,
		BaseDNSDomain: "example.com", ControlPlaneCount: 3, CreatedAt: wire.DateTime(now.Add(-3 * time.Hour)),
		Progress: wire.ClusterProgressInfo{TotalPercentage: 42}, Hosts: hosts(),
		ValidationsInfo:    `{"network":[{"id":"api-vips-defined","status":"pending","message":"require an API address, found none"}]}`,
		MonitoredOperators: []wire.MonitoredOperator{{Name: "console", Status: "progressing", Version: "4.20.5", StatusInfo: "on its way"}},
	}
}

func hosts() []wire.Host {
	return []wire.Host{
		{
			ID: workerID, InfraEnvID: envID, ClusterID: clusterID, RequestedHostname: "worker-0", Role: wire.HostRoleWorker,
			Status:      wire.HostStatusError,
			StatusInfo:  "write the image:\n> Read disk (1%)   \r> Read disk (2%)   \rinput/output error",
			CheckedInAt: wire.DateTime(now.Add(-time.Minute)),
			Progress: wire.HostProgressInfo{
				CurrentStage:           wire.HostStageWritingImageToDisk,
				InstallationPercentage: 33,
				StageStartedAt:         wire.DateTime(now.Add(-90 * time.Second)),
			},
			ValidationsInfo: `{"hardware":[{"id":"has-min-memory","status":"failure","message":"require 16 GiB, found 8 GiB"},{"id":"x","status":"success"}]}`,
		},
		{
			ID: masterID, InfraEnvID: envID, ClusterID: clusterID, Role: wire.HostRoleMaster, Bootstrap: true,
			Status: wire.HostStatusInstallingInProgress,
			Inventory: `{"hostname":"master-0","cpu":{"count":8,"model_name":"Quick"},"memory":{"physical_bytes":17179869184},` +
				`"disks":[{"path":"/dev/sda","drive_type":"SSD","size_bytes":120000000000,"installation_eligibility":{"eligible":true}}],` +
				`"interfaces":[{"name":"eno1","mac_address":"52:54:00:00:00:01","mtu":1500,"ipv4_addresses":["192.0.2.1/24"]}]}`,
			Progress: wire.HostProgressInfo{
				CurrentStage:           wire.HostStageWaitingForBootkube,
				InstallationPercentage: 54,
				ProgressInfo:           "waiting",
			},
		},
	}
}

func (f *fake) serve(t *testing.T) string {
	t.Helper()
	routes := chi.NewRouter()
	routes.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			var body bytes.Buffer
			_, _ = body.ReadFrom(r.Body)
			if r.Method != http.MethodGet {
				f.requests = append(f.requests, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/assisted-install")+" "+body.String())
			}
			next.ServeHTTP(w, r)
		})
	})
	routes.Route("/api/assisted-install/v2", f.routes)
	routes.Route("/api/slipway/v1", f.ownRoutes)
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	return server.URL
}

func (f *fake) routes(r chi.Router) {
	answer := func(code int, v func() any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			if v != nil {
				_ = json.NewEncoder(w).Encode(v())
			}
		}
	}
	cluster := func() any { return f.cluster() }
	host := func() any { return hosts()[0] }
	env := func() any {
		return wire.InfraEnv{
			ID: envID, Name: "green_infra-env", ClusterID: clusterID, Proxy: wire.Proxy{HTTPProxy: "http://a:1", HTTPSProxy: "http://b:2"},
		}
	}
	r.Get("/clusters", answer(200, func() any {
		return []wire.Cluster{f.cluster(), {ID: otherID, Name: "twin"}, {ID: envID, Name: "twin"}}
	}))
	r.Post("/clusters", answer(201, cluster))
	r.Get("/clusters/{id}", func(w http.ResponseWriter, r *http.Request) {
		if chi.URLParam(r, "id") != clusterID.String() {
			answer(404, func() any { return wire.Error{Reason: "no cluster of that id"} })(w, r)
			return
		}
		answer(200, cluster)(w, r)
	})
	r.Patch("/clusters/{id}", answer(201, cluster))
	r.Delete("/clusters/{id}", answer(204, nil))
	r.Post(
		"/clusters/{id}/actions/install",
		answer(409, func() any { return wire.Error{Reason: "require status ready, found installing"} }),
	)
	r.Post("/clusters/{id}/actions/cancel", answer(202, cluster))
	r.Get(
		"/clusters/{id}/downloads/credentials",
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("apiVersion: v1\n")) },
	)
	r.Get("/clusters/{id}/credentials", answer(200, func() any { return wire.Credentials{Username: "kubeadmin", Password: "secret"} }))
	r.Get("/openshift-versions", answer(200, func() any {
		return wire.OpenshiftVersions{"4.19.0": {}, "4.20.5": {Default: true}}
	}))
	r.Get("/infra-envs", answer(200, func() any { return []any{env()} }))
	r.Post("/infra-envs", answer(201, env))
	r.Get("/infra-envs/{ie}/hosts", answer(200, func() any { return hosts() }))
	r.Patch("/infra-envs/{ie}", answer(201, env))
	r.Delete("/infra-envs/{ie}", answer(204, nil))
	r.Patch("/infra-envs/{ie}/hosts/{h}", answer(201, host))
	r.Delete("/infra-envs/{ie}/hosts/{h}", answer(204, nil))
	r.Post("/infra-envs/{ie}/hosts/{h}/actions/reset", answer(200, host))
	r.Post("/infra-envs/{ie}/hosts/{h}/actions/install", answer(202, host))
	r.Get("/events", func(w http.ResponseWriter, r *http.Request) {
		events := []wire.Event{
			{EventTime: wire.DateTime(now), Severity: wire.EventSeverityInfo, Message: "cluster created"},
			{EventTime: wire.DateTime(now), Severity: wire.EventSeverityError, HostID: workerID, Message: "host failed"},
		}
		if r.URL.Query().Get("offset") == "2" {
			events = nil
			f.noMoreEvents()
		}
		answer(200, func() any { return events })(w, r)
	})
}

// ownRoutes take every command but extend.
func (f *fake) ownRoutes(r chi.Router) {
	answer := func(code int, v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(v)
		}
	}
	r.Post("/clusters/{id}/commands/extend", answer(409, wire.Error{Reason: "no phase of the installation has timed out"}))
	r.Post("/clusters/{id}/commands/{command}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) })
	r.Post("/infra-envs/{ie}/hosts/{h}/commands/{command}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) })
	r.Get("/infra-envs/{ie}/usage", answer(200, wire.KeptBytes{
		Bytes: 3 << 30, LimitBytes: 100 << 30, OwnerBytes: 5 << 30,
	}))
	r.Get("/clusters/{id}/release", answer(200, f.release))
	r.Get("/clusters/{id}/workflow", func(w http.ResponseWriter, r *http.Request) {
		if f.silent {
			answer(503, wire.Error{Reason: "try again"})(w, r)
			return
		}
		answer(200, wire.WorkflowState{
			Phase: "installing", Paused: true, TimedOut: true,
			Hosts: []wire.WorkflowHost{
				{HostID: workerID, State: wire.WorkflowWaiting, Reason: "Writing image to disk: I/O error"},
				{HostID: masterID, State: "running"},
			},
		})(w, r)
	})
}

// run types a command and returns what it prints.
func run(t *testing.T, url string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	return typeOn(t, &cli.Terminal{Out: &out, Err: &out, Now: func() time.Time { return now }}, &out, url, args...)
}

// typeOn types a command on a terminal of its own, whose output is out.
func typeOn(t *testing.T, terminal *cli.Terminal, out *bytes.Buffer, url string, args ...string) (string, error) {
	t.Helper()
	return typeUntil(t.Context(), t, terminal, out, url, args...)
}

// typeUntil types a command and ends it with a context, as Ctrl-C does.
func typeUntil(
	ctx context.Context, t *testing.T, terminal *cli.Terminal, out *bytes.Buffer, url string, args ...string,
) (string, error) {
	t.Helper()
	parser, err := kong.New(&line{}, append(cli.Options(), kong.Bind(terminal), kong.BindTo(ctx, (*context.Context)(nil)))...)
	require.NoError(t, err)
	selected, err := parser.Parse(append(args, "--url", url))
	if err != nil {
		return "", err
	}
	err = selected.Run()
	return out.String(), err
}
