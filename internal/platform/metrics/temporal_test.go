package metrics_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"slipway/internal/platform/metrics"
)

// sdk returns a handler as Temporal's SDK uses it, with the tags that it gives to everything (RootTags in
// internal/common/metrics/tags.go of go.temporal.io/sdk).
func sdk(t *testing.T) (client.MetricsHandler, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	handler, err := metrics.NewTemporal(registry, slog.New(slog.NewTextHandler(t.Output(), nil)))
	require.NoError(t, err)
	return handler.WithTags(map[string]string{
		"namespace": "slipway", "client_name": "temporal_go", "worker_type": "none", "workflow_type": "none",
		"activity_type": "none", "task_queue": "none",
	}), registry
}

// The names and labels are listed at https://docs.temporal.io/references/sdk-metrics.
func TestMetricsOfTheSDKHaveTheNamesOfItsDocumentation(t *testing.T) {
	t.Parallel()
	handler, registry := sdk(t)
	worker := handler.WithTags(map[string]string{"task_queue": "slipway", "worker_type": "WorkflowWorker", "workflow_type": "ClusterInstall"})
	worker.WithTags(map[string]string{"failure_reason": "NonDeterminismError"}).Counter("temporal_workflow_task_execution_failed").Inc(2)
	worker.Gauge("temporal_worker_task_slots_available").Update(99)
	worker.Gauge("temporal_sticky_cache_size").Update(3)
	worker.Counter("temporal_sticky_cache_hit").Inc(1)
	rpc := handler.WithTags(map[string]string{"operation": "GetClusterInfo"})
	rpc.Counter("temporal_request").Inc(1)
	rpc.Timer("temporal_request_latency").Record(30 * time.Millisecond)
	rpc.WithTags(map[string]string{"status_code": "UNAVAILABLE"}).Counter("temporal_request_failure").Inc(1)
	rpc.Timer("temporal_long_request_latency").Record(time.Minute)
	for name, want := range map[string]string{
		"temporal_workflow_task_execution_failed_total": "failure_reason=NonDeterminismError namespace=slipway task_queue=slipway " +
			"workflow_type=ClusterInstall 2",
		"temporal_worker_task_slots_available":  "namespace=slipway task_queue=slipway worker_type=WorkflowWorker 99",
		"temporal_sticky_cache_size":            "namespace=slipway 3",
		"temporal_sticky_cache_hit_total":       "namespace=slipway task_queue=slipway 1",
		"temporal_request_total":                "namespace=slipway operation=GetClusterInfo 1",
		"temporal_request_latency_seconds":      "namespace=slipway operation=GetClusterInfo 1",
		"temporal_request_failure_total":        "namespace=slipway operation=GetClusterInfo status_code=UNAVAILABLE 1",
		"temporal_long_request_latency_seconds": "namespace=slipway operation=GetClusterInfo 1",
	} {
		require.Equal(t, []string{want}, lines(t, registry, name), name)
	}
}

// The bundled server has a temporal_workflow_failed_total of its own, with other labels.
func TestOtherMetricsOfTheSDKAreDropped(t *testing.T) {
	t.Parallel()
	handler, registry := sdk(t)
	handler.Counter("temporal_workflow_failed").Inc(1)
	handler.Timer("temporal_nexus_task_endtoend_latency").Record(time.Second)
	handler.Gauge("made_by_a_workflow").Update(1)
	families, err := registry.Gather()
	require.NoError(t, err)
	require.Empty(t, families)
}

func TestNamesOfWorkflowsCannotGrowThePage(t *testing.T) {
	t.Parallel()
	handler, registry := sdk(t)
	for i := range 5000 {
		handler.WithTags(map[string]string{"workflow_type": fmt.Sprint("stranger", i)}).Counter("temporal_workflow_task_execution_failed").Inc(1)
	}
	page := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, 200, strings.Count(page.Body.String(), "\ntemporal_workflow_task_execution_failed_total{"))
	require.Contains(t, page.Body.String(), `temporal_workflow_task_execution_failed_total{otel_metric_overflow="true"} 4801`,
		"what is above the limit is counted")
}
