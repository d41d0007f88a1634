package engine_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/internal/testing/postgrestest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"slipway/internal/platform/engine"
	"slipway/internal/platform/frontend"
	"slipway/internal/platform/metrics"
	"slipway/internal/testing/await"
)

const queue = "engine-test"

var phase = temporal.NewSearchAttributeKeyKeyword("Phase")

// waitForSignal runs as a workflow that is open until somebody signals it, and returns what it got.
func waitForSignal(ctx workflow.Context) (string, error) {
	if err := workflow.UpsertTypedSearchAttributes(ctx, phase.ValueSet("waiting")); err != nil {
		return "", err
	}
	var got string
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, &got)
	return got, nil
}

func temporalOptions(t *testing.T, url string) engine.TemporalOptions {
	t.Helper()
	return engine.TemporalOptions{DatabaseURL: url, Certificates: t.TempDir(), Logger: postgrestest.Logger(t, slog.LevelWarn), Now: time.Now}
}

func startTemporal(t *testing.T, url string) *engine.Temporal {
	t.Helper()
	server, err := engine.StartTemporal(await.Context(t), temporalOptions(t, url))
	require.NoError(t, err)
	return server
}

func stopTemporal(t *testing.T, server *engine.Temporal) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit(t))
	defer cancel()
	require.NoError(t, server.Stop(ctx))
}

// bundled returns how a client of the server's user reaches it.
func bundled(t *testing.T, server *engine.Temporal) frontend.Connection {
	t.Helper()
	connection, err := frontend.Bundled(server.Address(), frontend.CertificatesIn(server.Certificates()))
	require.NoError(t, err)
	return connection
}

// startWorker connects to a server, prepares it, and runs a worker there.
func startWorker(t *testing.T, server *engine.Temporal) (client.Client, worker.Worker) {
	t.Helper()
	connection := bundled(t, server)
	connection.Options.Logger = sdklog.NewStructuredLogger(postgrestest.Logger(t, slog.LevelError))
	c, err := client.DialContext(await.Context(t), connection.Options)
	require.NoError(t, err)
	require.NoError(t, frontend.PrepareNamespace(await.Context(t), c,
		frontend.NamespaceOptions{Namespace: frontend.Namespace, Logger: postgrestest.Logger(t, slog.LevelInfo)}))
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflow(waitForSignal)
	require.NoError(t, w.Start())
	return c, w
}

func startWorkflow(t *testing.T, c client.Client, id string) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(await.Context(t), client.StartWorkflowOptions{ID: id, TaskQueue: queue}, waitForSignal)
	require.NoError(t, err)
	return run
}

func signalAndGet(t *testing.T, c client.Client, run client.WorkflowRun) {
	t.Helper()
	require.NoError(t, c.SignalWorkflow(await.Context(t), run.GetID(), "", "go", "on"))
	var got string
	require.NoError(t, run.Get(await.Context(t), &got))
	require.Equal(t, "on", got)
}

func TestTemporalGoesOnWithOpenWorkflowsAfterARestart(t *testing.T) {
	t.Parallel()
	dir := postgrestest.Folder(t)
	postgres := postgrestest.Start(t, dir, time.Now)
	first := startTemporal(t, postgres.URL())
	c, w := startWorker(t, first)
	run := startWorkflow(t, c, "open")
	await.True(t, func() bool {
		return count(t, c, "Phase = 'waiting'") == 1
	}, "the workflow in a search")
	w.Stop()
	c.Close()
	stopTemporal(t, first)
	postgrestest.Stop(t, postgres)

	postgres = postgrestest.Start(t, dir, time.Now)
	second := startTemporal(t, postgres.URL())
	c, w = startWorker(t, second)
	defer func() { w.Stop(); c.Close(); stopTemporal(t, second) }()
	signalAndGet(t, c, c.GetWorkflow(await.Context(t), run.GetID(), ""))
}

func count(t *testing.T, c client.Client, query string) int64 {
	t.Helper()
	response, err := c.CountWorkflow(
		await.Context(t),
		&workflowservice.CountWorkflowExecutionsRequest{Namespace: frontend.Namespace, Query: query},
	)
	require.NoError(t, err)
	return response.GetCount()
}

func TestTemporalSurvivesTheDeathOfItsDatabase(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	server := startTemporal(t, postgres.URL())
	c, w := startWorker(t, server)
	defer func() { w.Stop(); c.Close(); stopTemporal(t, server) }()
	for round := range 3 {
		open := startWorkflow(t, c, "open-"+strconv.Itoa(round))
		killed := postgres.PID()
		require.NoError(t, syscall.Kill(killed, syscall.SIGKILL))
		begin := time.Now()
		signalAndGet(t, c, open) // sessions may outlive their postmaster for a moment
		await.True(t, func() bool { return postgres.PID() != killed }, "the database is not started again")
		signalAndGet(t, c, startWorkflow(t, c, "later-"+strconv.Itoa(round)))
		t.Logf("answering %s after its database was killed", time.Since(begin).Round(time.Millisecond))
	}
	require.NoError(t, server.Err())
	await.True(t, func() bool { return lockHolders(t, postgres.URL()) == 1 }, "the engine lock is taken again")
}

func lockHolders(t *testing.T, url string) int {
	t.Helper()
	return postgrestest.Number(t, url, "select count(*) from pg_locks where locktype = 'advisory' and objsubid = 2 and granted")
}

func TestTemporalRefusesToStart(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	server := startTemporal(t, postgres.URL())
	defer stopTemporal(t, server)

	t.Run("on a port that is taken", func(t *testing.T) {
		options := temporalOptions(t, postgres.URL())
		_, port, err := net.SplitHostPort(server.Address())
		require.NoError(t, err)
		options.Port, err = strconv.Atoi(port)
		require.NoError(t, err)
		_, err = engine.StartTemporal(await.Context(t), options)
		var taken *engine.PortTakenError
		require.ErrorAs(t, err, &taken)
		require.Equal(t, options.Port, taken.Port)
		require.Equal(t, "frontend", taken.Service)
	})
	t.Run("twice on one database", func(t *testing.T) {
		_, err := engine.StartTemporal(await.Context(t), temporalOptions(t, postgres.URL()))
		require.ErrorIs(t, err, engine.ErrEngineHeld)
		require.ErrorContains(t, err, "slipway engine ")
		require.NotContains(t, err.Error(), "\n")
	})
}

func TestTemporalPreparesItsSchemas(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	migrate := func() error { return engine.MigrateTemporal(await.Context(t), temporalOptions(t, postgres.URL())) }
	tables := func(schema string) int {
		return postgrestest.Number(t, postgres.URL(), "select count(*) from pg_tables where schemaname = '"+schema+"'")
	}
	postgrestest.Exec(t, postgres.URL(), "create schema temporal", "create table temporal.somebodys (n int)")
	require.ErrorContains(t, migrate(), `schema "temporal" already exists`, "what we did not make is left alone")
	postgrestest.Exec(t, postgres.URL(), "comment on schema temporal is 'slipway: set-up not finished'")
	require.NoError(t, migrate(), "an attempt cut short is done again")
	require.Greater(t, tables("temporal"), 30)
	require.Greater(t, tables("temporal_visibility"), 2)
	require.Zero(t, tables("public"))
	require.NoError(t, migrate(), "a second time does nothing")

	postgrestest.Exec(t, postgres.URL(), "update temporal_visibility.schema_version set curr_version = '99.1'")
	err := migrate()
	require.ErrorIs(t, err, engine.ErrNewerDatabase)
	require.NotContains(t, err.Error(), "\n")
	_, err = engine.StartTemporal(await.Context(t), temporalOptions(t, postgres.URL()))
	require.ErrorIs(t, err, engine.ErrNewerDatabase)

	postgrestest.Exec(t, postgres.URL(), "update temporal_visibility.schema_version set curr_version = '1.13'")
	require.NoError(t, migrate(), "an older one is brought up to date")
	require.Equal(t, 1, postgrestest.Number(t, postgres.URL(),
		"select count(*) from temporal_visibility.schema_version where curr_version <> '1.13'"))
}

func TestTemporalHasMetrics(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	server := startTemporal(t, postgres.URL())
	defer stopTemporal(t, server)
	c, w := startWorker(t, server)
	defer func() { w.Stop(); c.Close() }()
	families, err := server.Metrics().Gather()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, family := range families {
		names[family.GetName()] = true
	}
	for _, wanted := range []string{"temporal_service_requests_total", "temporal_persistence_latency_seconds", "temporal_numshards_gauge"} {
		require.Contains(t, names, wanted)
	}
}

// stuck runs as a workflow whose task fails at each attempt.
func stuck(workflow.Context) error { panic("not today") }

// TestAWorkflowThatDoesNotProceedIsSeenInMetrics expects the names and labels of
// https://docs.temporal.io/references/sdk-metrics.
func TestAWorkflowThatDoesNotProceedIsSeenInMetrics(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.Start(t, postgrestest.Folder(t), time.Now)
	server := startTemporal(t, postgres.URL())
	defer stopTemporal(t, server)
	registry := prometheus.NewRegistry()
	handler, err := metrics.NewTemporal(registry, postgrestest.Logger(t, slog.LevelInfo))
	require.NoError(t, err)
	options := bundled(t, server).Options
	options.MetricsHandler = handler
	options.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	c, err := client.DialContext(await.Context(t), options)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, frontend.PrepareNamespace(await.Context(t), c,
		frontend.NamespaceOptions{Namespace: "slipway", Logger: postgrestest.Logger(t, slog.LevelWarn)}))
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflowWithOptions(stuck, workflow.RegisterOptions{Name: "Stuck"})
	require.NoError(t, w.Start())
	defer w.Stop()
	_, err = c.ExecuteWorkflow(await.Context(t), client.StartWorkflowOptions{ID: "stuck", TaskQueue: queue}, "Stuck")
	require.NoError(t, err)
	page := func() string {
		got := httptest.NewRecorder()
		gatherers := prometheus.Gatherers{registry, server.Metrics()} // as the service does
		promhttp.HandlerFor(gatherers, promhttp.HandlerOpts{}).ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		require.Equal(t, http.StatusOK, got.Code, got.Body)
		return got.Body.String()
	}
	await.True(t, func() bool {
		return strings.Contains(page(), `temporal_workflow_task_execution_failed_total{failure_reason="WorkflowError",namespace="slipway",`+
			`task_queue="engine-test",workflow_type="Stuck"} 2`)
	}, "the second failure of the task")
	for _, series := range []string{
		`temporal_worker_task_slots_available{namespace="slipway",task_queue="engine-test",worker_type="WorkflowWorker"} `,
		`temporal_worker_task_slots_available{namespace="slipway",task_queue="engine-test",worker_type="ActivityWorker"} `,
		`temporal_num_pollers{namespace="slipway",poller_type="activity_task",task_queue="engine-test"} `,
		`temporal_request_latency_seconds_count{namespace="slipway",operation="StartWorkflowExecution"} 1`,
		`temporal_request_total{namespace="slipway",operation="StartWorkflowExecution"} 1`,
		`temporal_long_request_total{namespace="slipway",operation="PollWorkflowTaskQueue"} `,
		`temporal_sticky_cache_size{namespace="slipway"} `,
	} {
		require.Contains(t, page(), series)
	}
}
