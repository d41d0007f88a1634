package engine

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
)

// instrument is a metric of the Temporal server that Slipway exposes.
type instrument struct {
	name   string   // its name in the server
	labels []string // the tags of it that are kept
	help   string
}

// The server has some 600 metrics with up to ten tags each. Collecting all of them took a quarter of its CPU
// time and produced a page of a megabyte; these show whether it works, and what is slow when it does not.
var (
	counters = []instrument{
		{"service_requests", []string{"service_name", "operation"}, "Calls of each service."},
		{"service_error_with_type", []string{"service_name", "operation", "error_type"}, "Calls that failed."},
		{"persistence_error_with_type", []string{"operation", "error_type"}, "Database operations that failed."},
		{"persistence_session_refresh_failures", []string{"failure"}, "Attempts to connect to the database again that failed."},
		{"task_errors", []string{"operation"}, "Internal tasks that failed and are tried again."},
		{"failed_workflow_tasks", []string{"namespace", "operation"}, "Workflow tasks that failed: a workflow that does not proceed."},
		{"sharditem_removed_count", nil, "History shards lost; many are a sign of a second server on the database."},
		{"workflow_success", []string{"namespace"}, "Workflows completed."},
		{"workflow_failed", []string{"namespace"}, "Workflows failed."},
		{"workflow_cancel", []string{"namespace"}, "Workflows cancelled."},
		{"workflow_terminate", []string{"namespace"}, "Workflows terminated."},
		{"workflow_timeout", []string{"namespace"}, "Workflows timed out."},
	}
	gauges = []instrument{
		{"numshards_gauge", nil, "History shards held."},
		{"approximate_backlog_count", []string{"namespace", "taskqueue", "task_type"}, "Tasks waiting for a worker."},
		{"persistence_sql_in_use", []string{"service_name", "db_kind"}, "Database connections in use."},
	}
	timers = []instrument{
		{"persistence_latency", []string{"operation"}, "Time of database operations, in seconds."},
		{"task_schedule_to_start_latency", []string{"namespace", "task_type"}, "Time tasks wait for a worker, in seconds."},
		{"task_latency_queue", []string{"operation"}, "Time internal tasks take from their making to their end, in seconds."},
	}
	timerSeconds = []float64{.001, .005, .025, .1, .5, 2.5, 10, 60}
)

// meters is the server's metrics handler. It forwards the metrics of the tables, and drops the rest before any
// tag is evaluated.
type meters struct {
	shared *meterVectors
	tags   []metrics.Tag
}

type meterVectors struct {
	registry *prometheus.Registry
	labels   map[string][]string
	counters map[string]*prometheus.CounterVec
	gauges   map[string]*prometheus.GaugeVec
	timers   map[string]*prometheus.HistogramVec
}

var (
	_ metrics.Handler      = (*meters)(nil)
	_ metrics.BatchHandler = (*meters)(nil)
)

func newMeters() *meters {
	v := &meterVectors{
		registry: prometheus.NewRegistry(),
		labels:   map[string][]string{},
		counters: map[string]*prometheus.CounterVec{},
		gauges:   map[string]*prometheus.GaugeVec{},
		timers:   map[string]*prometheus.HistogramVec{},
	}
	for _, i := range counters {
		vector := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "temporal", Name: i.name + "_total", Help: i.help}, i.labels)
		v.registry.MustRegister(vector)
		v.counters[i.name], v.labels[i.name] = vector, i.labels
	}
	for _, i := range gauges {
		vector := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "temporal", Name: i.name, Help: i.help}, i.labels)
		v.registry.MustRegister(vector)
		v.gauges[i.name], v.labels[i.name] = vector, i.labels
	}
	for _, i := range timers {
		vector := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "temporal", Name: i.name + "_seconds", Help: i.help, Buckets: timerSeconds,
		}, i.labels)
		v.registry.MustRegister(vector)
		v.timers[i.name], v.labels[i.name] = vector, i.labels
	}
	return &meters{shared: v}
}

// WithTags returns a handler that adds tags to everything recorded.
func (m *meters) WithTags(tags ...metrics.Tag) metrics.Handler { return m.with(tags) }

func (m *meters) with(tags []metrics.Tag) *meters {
	if len(tags) == 0 {
		return m
	}
	all := make([]metrics.Tag, 0, len(m.tags)+len(tags))
	return &meters{shared: m.shared, tags: append(append(all, m.tags...), tags...)}
}

// Counter returns the counter of that name.
func (m *meters) Counter(name string) metrics.CounterIface {
	vector, shown := m.shared.counters[name]
	if !shown {
		return metrics.NoopCounterMetricFunc
	}
	return metrics.CounterFunc(func(n int64, more ...metrics.Tag) {
		vector.WithLabelValues(m.with(more).values(name)...).Add(float64(n))
	})
}

// Gauge returns the gauge of that name.
func (m *meters) Gauge(name string) metrics.GaugeIface {
	vector, shown := m.shared.gauges[name]
	if !shown {
		return metrics.NoopGaugeMetricFunc
	}
	return metrics.GaugeFunc(func(value float64, more ...metrics.Tag) {
		vector.WithLabelValues(m.with(more).values(name)...).Set(value)
	})
}

// Timer returns the timer of that name.
func (m *meters) Timer(name string) metrics.TimerIface {
	vector, shown := m.shared.timers[name]
	if !shown {
		return metrics.NoopTimerMetricFunc
	}
	return metrics.TimerFunc(func(took time.Duration, more ...metrics.Tag) {
		vector.WithLabelValues(m.with(more).values(name)...).Observe(took.Seconds())
	})
}

// Histogram drops everything: the server's histograms concern its internals.
func (m *meters) Histogram(string, metrics.MetricUnit) metrics.HistogramIface {
	return metrics.NoopHistogramMetricFunc
}

// StartBatch returns a handler for metrics that belong together.
func (m *meters) StartBatch(string) metrics.BatchHandler { return m }

// Close ends a batch.
func (m *meters) Close() error { return nil }

// Stop does nothing; Temporal calls it when the server stops.
func (m *meters) Stop(log.Logger) {}

// values returns the values of a metric's labels; a later tag hides an earlier one.
func (m *meters) values(name string) []string {
	labels := m.shared.labels[name]
	values := make([]string, len(labels))
	for i, label := range labels {
		for _, tag := range m.tags {
			if tag.Key == label {
				values[i] = tag.Value
			}
		}
	}
	return values
}
