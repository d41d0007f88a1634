package metrics

import "slices"

// Labels of Temporal's SDK.
const (
	labelNamespace = "namespace"
	labelQueue     = "task_queue"
	labelWorkflow  = "workflow_type"
	labelActivity  = "activity_type"
	labelReason    = "failure_reason"
	labelWorker    = "worker_type"
	labelPoller    = "poller_type"
	labelRPCStatus = "status_code"
	labelCause     = "cause"
)

var (
	rpcLabels   = []string{labelNamespace, labelOperation}
	queueLabels = []string{labelNamespace, labelQueue}
	waits       = []float64{.001, .005, .025, .1, .5, 2.5, 10, 60}
)

// temporalTable is every metric of Temporal's SDK that is exported, by the names and labels of
// https://docs.temporal.io/references/sdk-metrics with the endings that Prometheus scrapes (_total, _seconds). It has
// no temporal_workflow_failed_total: the bundled server has a metric of that name with other labels.
var temporalTable = []row{
	{name: "temporal_request_total", kind: counter, labels: rpcLabels, help: "Calls to Temporal, by the method of its API"},
	{
		name: "temporal_request_failure_total", kind: counter, labels: with(rpcLabels, labelRPCStatus),
		help: "Calls to Temporal that failed, with the status of gRPC; some are expected, such as NOT_FOUND",
	},
	{
		name: "temporal_request_latency_seconds", kind: histogram, labels: rpcLabels, buckets: waits,
		help: "Seconds a call to Temporal took",
	},
	{
		name: "temporal_request_resource_exhausted_total", kind: counter, labels: with(rpcLabels, labelCause),
		help: "Calls that Temporal refused because of a limit",
	},
	{name: "temporal_long_request_total", kind: counter, labels: rpcLabels, help: "Long polls for tasks and histories"},
	{
		name: "temporal_long_request_failure_total", kind: counter, labels: with(rpcLabels, labelRPCStatus),
		help: "Long polls that failed, with the status of gRPC",
	},
	{
		name: "temporal_long_request_latency_seconds", kind: histogram, labels: rpcLabels, buckets: waits,
		help: "Seconds a long poll took: up to a minute without a task",
	},
	{
		name: "temporal_worker_task_slots_available", kind: gauge, labels: with(queueLabels, labelWorker),
		help: "Free slots of a worker (WorkflowWorker, ActivityWorker): 0 for long is a worker that is stuck or too small",
	},
	{name: "temporal_worker_task_slots_used", kind: gauge, labels: with(queueLabels, labelWorker), help: "Slots in use"},
	{
		name: "temporal_num_pollers", kind: gauge, labels: with(queueLabels, labelPoller),
		help: "Pollers of a worker: 0 takes no tasks",
	},
	{
		name: "temporal_sticky_cache_size", kind: gauge, labels: []string{labelNamespace},
		help: "Workflows in the cache of the worker",
	},
	{
		name: "temporal_sticky_cache_hit_total", kind: counter, labels: queueLabels,
		help: "Workflow tasks that found their workflow in the cache",
	},
	{
		name: "temporal_sticky_cache_miss_total", kind: counter, labels: queueLabels,
		help: "Workflow tasks that did not, and replayed its history",
	},
	{
		name: "temporal_sticky_cache_total_forced_eviction_total", kind: counter, labels: queueLabels,
		help: "Workflows that left the cache before their end",
	},
	{
		name: "temporal_workflow_task_execution_failed_total", kind: counter, labels: with(queueLabels, labelWorkflow, labelReason),
		help: "Workflow tasks that failed and are tried again without end: the workflow does not proceed. NonDeterminismError: " +
			"this version cannot continue it; WorkflowError: it panicked",
	},
	{
		name: "temporal_workflow_task_execution_latency_seconds", kind: histogram, labels: with(queueLabels, labelWorkflow), buckets: waits,
		help: "Seconds a workflow task took",
	},
	{
		name: "temporal_workflow_task_replay_latency_seconds", kind: histogram, labels: with(queueLabels, labelWorkflow), buckets: waits,
		help: "Seconds the replay of a history took",
	},
	{
		name: "temporal_workflow_task_schedule_to_start_latency_seconds", kind: histogram, labels: queueLabels, buckets: waits,
		help: "Seconds a workflow task waited for a worker",
	},
	{name: "temporal_workflow_task_queue_poll_succeed_total", kind: counter, labels: queueLabels, help: "Polls that got a workflow task"},
	{name: "temporal_workflow_task_queue_poll_empty_total", kind: counter, labels: queueLabels, help: "Polls that got none"},
	{
		name: "temporal_workflow_completed_total", kind: counter, labels: with(queueLabels, labelWorkflow),
		help: "Workflows completed by this worker",
	},
	{
		name: "temporal_workflow_canceled_total", kind: counter, labels: with(queueLabels, labelWorkflow),
		help: "Workflows that ended cancelled",
	},
	{
		name: "temporal_workflow_continue_as_new_total", kind: counter, labels: with(queueLabels, labelWorkflow),
		help: "Workflows that continued in another run",
	},
	{
		name: "temporal_activity_execution_failed_total", kind: counter, labels: with(queueLabels, labelActivity),
		help: "Attempts of activities that failed; most are tried again",
	},
	{
		name: "temporal_activity_execution_latency_seconds", kind: histogram, labels: with(queueLabels, labelActivity), buckets: waits,
		help: "Seconds an attempt took; a step of a host is handed out in one and ends later",
	},
	{
		name: "temporal_activity_schedule_to_start_latency_seconds", kind: histogram, labels: queueLabels, buckets: waits,
		help: "Seconds an activity waited for a worker",
	},
	{name: "temporal_activity_poll_no_task_total", kind: counter, labels: queueLabels, help: "Polls that got no activity"},
	{
		name: "temporal_unregistered_activity_invocation_total", kind: counter, labels: queueLabels,
		help: "Activities that this version does not know: workers of two versions share a task queue",
	},
	{
		name: "temporal_corrupted_signals_total", kind: counter, labels: with(queueLabels, labelWorkflow),
		help: "Signals whose input could not be read",
	},
}

func with(labels []string, more ...string) []string { return slices.Concat(labels, more) }
