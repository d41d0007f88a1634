package api_test

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/api"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/openshift"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/service/evaluation"
	"slipway/internal/service/reports"
	"slipway/internal/testing/await"
	"slipway/internal/testing/httpclient"
	"slipway/internal/testing/kepttexts"
	"slipway/internal/testing/pgtest"
	"slipway/internal/wire"
)

const (
	base       = "/api/assisted-install"
	pullSecret = `{"auths":{"cloud.openshift.com":{"auth":"dXNlcjpwYXNzd29yZAo=","email":"r@r.com"}}}`
)

// service is the API over HTTP with everything behind it but the workflows.
type service struct {
	t            testing.TB
	url          string
	database     string
	store        *store.Store
	blob         *blob.Store
	orchestrator *recordingOrchestrator
	discovery    *discovery.Service
	evaluation   *evaluation.Evaluator
	logged       *httpclient.Buffer
	tags         *answersByTag
	connections  *sync.Map // states of connections that were opened to it, by their address
}

// newService starts the API; options may change what it works with.
func newService(t testing.TB, change ...func(*api.Options)) *service {
	t.Helper()
	database := pgtest.Migrated(t, store.Migrate)
	sealer, err := encryption.New(bytes.Repeat([]byte{7}, encryption.KeySize))
	require.NoError(t, err)
	s := &service{t: t, orchestrator: &recordingOrchestrator{}, logged: &httpclient.Buffer{}, database: database, connections: &sync.Map{}}
	s.tags = &answersByTag{bodies: map[string]string{}}
	s.store, err = store.Open(t.Context(), store.Options{
		URL: database, Sealer: sealer, Now: time.Now, Rendering: kepttexts.Rendering, CompareSnapshots: true,
	})
	require.NoError(t, err)
	t.Cleanup(s.store.Close)
	kepttexts.CheckAtEnd(t, s.store)
	s.blob, err = blob.Open(t.Context(), "file://"+t.TempDir(), sealer)
	require.NoError(t, err)
	log := slog.New(slog.NewJSONHandler(s.logged, nil))
	s.evaluation = evaluation.New(evaluation.Options{
		Store: s.store, Log: log, Now: time.Now, Timeouts: lifecycle.DefaultTimeouts(),
		ReaderPatience: await.Limit(t), // a busy machine answers with an older evaluation otherwise
	})
	s.discovery = discovery.New(discovery.Options{
		Store: s.store, Evaluation: s.evaluation, Log: log, Now: time.Now, Timeouts: lifecycle.DefaultTimeouts(),
	})
	options := api.Options{
		Service: api.Service{
			Store: s.store, Blob: s.blob, Discovery: s.discovery, Evaluation: s.evaluation,
			HostReports:    reports.Hosts{Store: s.store, Timeouts: lifecycle.DefaultTimeouts()},
			ClusterReports: reports.Clusters{Store: s.store, Blob: s.blob},
			Orchestrator:   s.orchestrator, Log: log, Now: time.Now,
		},
		Catalogue: api.Catalogue{Releases: openshift.NewCatalogue(releases(t))},
		Deployment: api.Deployment{
			BaseURL: "http://service.example:8090", AgentVersion: "slipway-agent 1.0",
			Version: "1.0.0", ComponentVersions: map[string]string{"discovery-agent": "slipway-agent 1.0"},
			AgentBinaries: fs.FS(fstest.MapFS{"slipway-agent-x86_64": {Data: []byte("agent program")}}),
		},
	}
	for _, c := range change {
		c(&options)
	}
	s.url = serve(t, options, func(conn net.Conn, state http.ConnState) { s.connections.Store(conn.RemoteAddr().String(), state) })
	return s
}

// serve starts the API as in the service, where health and metrics stand beside it.
func serve(t testing.TB, options api.Options, watch ...func(net.Conn, http.ConnState)) string {
	t.Helper()
	router := chi.NewRouter()
	router.Mount("/", api.NewServer(options))
	server := httptest.NewUnstartedServer(router)
	for _, hook := range watch {
		server.Config.ConnState = hook
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func releases(t testing.TB) openshift.Releases {
	t.Helper()
	list, err := openshift.ParseReleases([]byte(`[
		{"version":"4.22.9","cpu_architectures":["x86_64","arm64"],"support_level":"production","default":true,"url":"quay.io/ocp/release:4.22.9-x86_64"},
		{"version":"4.22.1","cpu_architectures":["x86_64","arm64"],"support_level":"production","url":"quay.io/ocp/release:4.22.1-x86_64"},
		{"version":"4.16.68","cpu_architectures":["x86_64"],"support_level":"maintenance","url":"quay.io/ocp/release:4.16.68-x86_64"}]`))
	require.NoError(t, err)
	return list
}

// reply is an answer, read whole.
type reply = httpclient.Reply

// send makes a request below base, or below our own path when it begins with that. A
// body that is no text is sent as JSON. Headers come in pairs.
func (s *service) send(method, path string, body any, headers ...string) reply {
	s.t.Helper()
	root := base
	if strings.HasPrefix(path, api.OwnPath) {
		root = ""
	}
	r := httpclient.Send(s.t, method, s.url+root+path, body, headers...)
	if method == http.MethodGet && s.tags != nil {
		s.tags.compare(s.t, path, headers, r)
	}
	return r
}

// want makes a request that must have a status.
func (s *service) want(status int, method, path string, body any, headers ...string) reply {
	s.t.Helper()
	r := s.send(method, path, body, headers...)
	require.Equal(s.t, status, r.Status, "%s %s: %s", method, path, r.Body)
	return r
}

// cluster registers a cluster with the given fields on top of the least there must be.
func (s *service) cluster(fields map[string]any) wire.Cluster {
	s.t.Helper()
	body := map[string]any{"name": "prod", "openshift_version": "4.22", "pull_secret": pullSecret, "base_dns_domain": "example.com"}
	for key, value := range fields {
		body[key] = value
	}
	var c wire.Cluster
	s.want(http.StatusCreated, http.MethodPost, "/v2/clusters", body).JSON(&c)
	return c
}

// infraEnv registers an InfraEnv, of a cluster unless its id is zero.
func (s *service) infraEnv(clusterID uuid.UUID) wire.InfraEnv {
	s.t.Helper()
	body := map[string]any{"name": "env", "pull_secret": pullSecret}
	if clusterID != uuid.Nil {
		body["cluster_id"] = clusterID
	}
	var e wire.InfraEnv
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs", body).JSON(&e)
	return e
}

// host registers a host and stores its inventory.
func (s *service) host(infraEnvID uuid.UUID) wire.Host {
	s.t.Helper()
	id := uuid.New()
	s.want(http.StatusCreated, http.MethodPost, "/v2/infra-envs/"+infraEnvID.String()+"/hosts", map[string]any{"host_id": id})
	s.changeHost(infraEnvID, id, func(h *model.Host) {
		h.Inventory = &wire.Inventory{
			Hostname: "master-0", CPU: wire.CPU{Count: 8, Architecture: "x86_64"}, Memory: wire.Memory{PhysicalBytes: 32 << 30},
			Disks: []wire.Disk{disk("wwn-0x1", "sda", true), disk("wwn-0x2", "sdb", false)},
		}
	})
	return s.readHost(infraEnvID, id)
}

func disk(id, name string, bootable bool) wire.Disk {
	d := wire.Disk{ID: id, ByID: id, Name: name, Path: "/dev/" + name, Bootable: bootable, SizeBytes: 256e9, DriveType: wire.DriveTypeSSD}
	d.InstallationEligibility.Eligible = true
	return d
}

func (s *service) readHost(infraEnvID, id uuid.UUID) wire.Host {
	s.t.Helper()
	var h wire.Host
	s.want(http.StatusOK, http.MethodGet, hostPath(infraEnvID, id), nil).JSON(&h)
	return h
}

func (s *service) readCluster(id uuid.UUID) wire.Cluster {
	s.t.Helper()
	var c wire.Cluster
	s.want(http.StatusOK, http.MethodGet, clusterPath(id), nil).JSON(&c)
	return c
}

// changeHost puts a host into a state that takes an installation to reach. Earlier changes are evaluated first; the state itself stays
// until something changes by the API.
func (s *service) changeHost(infraEnvID, id uuid.UUID, fn func(*model.Host)) {
	s.t.Helper()
	require.NoError(s.t, s.evaluation.BringUpToDate(s.t.Context(), store.Reading{InfraEnvID: infraEnvID, HostID: id}))
	_, err := s.store.UpdateHost(s.t.Context(), infraEnvID, id, func(h *model.Host, _ *store.Tx) error {
		fn(h)
		return nil
	})
	require.NoError(s.t, err)
}

// changeCluster puts a cluster into a state that takes an installation to reach (see changeHost).
func (s *service) changeCluster(id uuid.UUID, fn func(*model.Cluster)) {
	s.t.Helper()
	require.NoError(s.t, s.evaluation.BringUpToDate(s.t.Context(), store.Reading{ClusterID: id}))
	_, err := s.store.UpdateCluster(s.t.Context(), id, func(c *model.Cluster, _ *store.Tx) error {
		fn(c)
		return nil
	})
	require.NoError(s.t, err)
}

func clusterPath(id uuid.UUID) string { return "/v2/clusters/" + id.String() }

func hostPath(infraEnvID, id uuid.UUID) string {
	return "/v2/infra-envs/" + infraEnvID.String() + "/hosts/" + id.String()
}

// recordingOrchestrator takes commands and does nothing but remember them; err refuses.
type recordingOrchestrator struct {
	mu       sync.Mutex
	err      error
	panics   bool
	state    wire.WorkflowState
	commands []string
}

func (o *recordingOrchestrator) take(command string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.panics {
		panic("a secret of the implementation")
	}
	o.commands = append(o.commands, command)
	return o.err
}

func (o *recordingOrchestrator) Install(_ context.Context, id uuid.UUID) error {
	return o.take("install " + id.String())
}

func (o *recordingOrchestrator) Cancel(_ context.Context, id uuid.UUID) error {
	return o.take("cancel " + id.String())
}

func (o *recordingOrchestrator) Reset(_ context.Context, id uuid.UUID) error {
	return o.take("reset " + id.String())
}

func (o *recordingOrchestrator) InstallHost(_ context.Context, _, id uuid.UUID) error {
	return o.take("install host " + id.String())
}

func (o *recordingOrchestrator) ResetHost(_ context.Context, _, id uuid.UUID) error {
	return o.take("reset host " + id.String())
}

func (o *recordingOrchestrator) ReleaseHost(_ context.Context, _, id uuid.UUID) {
	_ = o.take("release host " + id.String())
}

func (o *recordingOrchestrator) ReleaseCluster(_ context.Context, id uuid.UUID) {
	_ = o.take("release " + id.String())
}

func (o *recordingOrchestrator) ClusterCommand(_ context.Context, id uuid.UUID, command string) error {
	return o.take(command + " cluster " + id.String())
}

func (o *recordingOrchestrator) HostCommand(_ context.Context, _, id uuid.UUID, command string) error {
	return o.take(command + " host " + id.String())
}

func (o *recordingOrchestrator) State(_ context.Context, id uuid.UUID) (wire.WorkflowState, error) {
	return o.state, o.take("state " + id.String())
}
