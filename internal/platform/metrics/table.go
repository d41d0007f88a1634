// Package metrics counts what happens in this process, under the names that dashboards of the v2 API use
// (service_assisted_installer_*) and names of Slipway (slipway_*). Handlers and rules do not import it: it
// receives the events of every transaction after its commit.
package metrics

import "slices"

// Prefixes of names.
const (
	known = "service_assisted_installer_"
	ours  = "slipway_"
)

type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// row is one metric.
type row struct {
	name    string
	kind    kind
	labels  []string
	help    string
	buckets []float64 // of a histogram
}

// Labels, as dashboards know them.
const (
	labelVersion   = "openshiftVersion"
	labelResult    = "result"
	labelPhase     = "phase"
	labelRole      = "role"
	labelHostRule  = "hostValidationType"
	labelClustRule = "clusterValidationType"
	labelOperation = "operation"
	labelDisk      = "diskType"
	labelStatus    = "status"
	labelCode      = "code"
)

// Names of metrics.
const (
	clusterCreations      = known + "cluster_creations"
	hostCreations         = known + "host_creations"
	installationStarted   = known + "cluster_installation_started"
	installationSeconds   = known + "cluster_installation_seconds"
	phaseSeconds          = known + "host_installation_phase_seconds"
	clusterHosts          = known + "cluster_hosts"
	hostCores             = known + "cluster_host_cores"
	hostRAM               = known + "cluster_host_ram_gb"
	hostDisk              = known + "cluster_host_disk_gb"
	hostNIC               = known + "cluster_host_nic_gb"
	hostRuleFailed        = known + "host_validation_failed"
	hostRuleChanged       = known + "host_validation_changed"
	hostRuleAtDeletion    = known + "host_validation_is_in_failed_status_on_cluster_deletion"
	clusterRuleFailed     = known + "cluster_validation_failed"
	clusterRuleChanged    = known + "cluster_validation_changed"
	clusterRuleAtDeletion = known + "cluster_validation_is_in_failed_status_on_cluster_deletion"
	diskSync              = known + "installation_disk_speed_sync_milliseconds"
	invalidHost           = known + "invalid_host_discovery"
	operationDuration     = known + "operation_duration_miliseconds" // spelled like that since ever
	filesystemUsage       = known + "filesystem_usage_percentage"
	monitoredHosts        = known + "monitored_hosts"
	monitoredClusters     = known + "monitored_clusters"
	requests              = ours + "requests_total"
	polls                 = ours + "polls_total"
	evaluationSeconds     = ours + "evaluation_seconds"
	hostsByStatus         = ours + "hosts"
	clustersByStatus      = ours + "clusters"
	activitiesUnreported  = ours + "reported_instructions"
)

var (
	minutes      = []float64{60, 300, 600, 1200, 1800, 2700, 3600, 5400, 7200, 10800, 18000, 36000, 86400}
	phases       = []float64{1, 10, 30, 60, 120, 300, 600, 900, 1800, 2700, 3600, 5400, 7200, 14400}
	cores        = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}
	gigabytes    = []float64{8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}
	diskSizes    = []float64{50, 100, 250, 500, 1000, 2000, 4000, 8000, 16000}
	speeds       = []float64{0.1, 1, 10, 20, 25, 40, 50, 100, 200}
	milliseconds = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}
	seconds      = []float64{0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5}
)

// table is every metric, in the order of docs/reference/metrics.md.
var table = []row{
	{name: clusterCreations, kind: counter, labels: []string{labelVersion}, help: "Clusters defined"},
	{name: hostCreations, kind: counter, help: "Registrations of hosts, also of hosts that registered before"},
	{name: invalidHost, kind: counter, help: "Registrations of hosts that were refused"},
	{name: installationStarted, kind: counter, labels: []string{labelVersion}, help: "Installations begun"},
	{
		name:    installationSeconds,
		kind:    histogram,
		labels:  []string{labelVersion, labelResult},
		buckets: minutes,
		help: "Seconds from the install command to the end of an installation; its count by result (installed, error, cancelled) is " +
			"the number of installations",
	},
	{
		name:    phaseSeconds,
		kind:    histogram,
		labels:  []string{labelPhase, labelRole, labelResult},
		buckets: phases,
		help:    "Seconds a host was in a stage; result success when it continued, error when it failed there",
	},
	{
		name:   clusterHosts,
		kind:   counter,
		labels: []string{labelRole, labelResult},
		help:   "Hosts whose installation ended (installed, added-to-existing-cluster, error, cancelled)",
	},
	{name: hostCores, kind: histogram, labels: []string{labelRole, labelResult}, buckets: cores, help: "Processor threads of those hosts"},
	{name: hostRAM, kind: histogram, labels: []string{labelRole, labelResult}, buckets: gigabytes, help: "Memory of those hosts in GiB"},
	{
		name:    hostDisk,
		kind:    histogram,
		labels:  []string{labelRole, labelResult, labelDisk},
		buckets: diskSizes,
		help:    "Disks of those hosts in GB",
	},
	{
		name:    hostNIC,
		kind:    histogram,
		labels:  []string{labelRole, labelResult},
		buckets: speeds,
		help:    "Network interfaces of those hosts in Gbit/s",
	},
	{name: diskSync, kind: histogram, buckets: milliseconds, help: "Milliseconds an installation disk took to sync, the slowest hundredth"},
	{name: hostRuleFailed, kind: counter, labels: []string{labelHostRule}, help: "Times a validation of a host began to fail"},
	{
		name:   hostRuleChanged,
		kind:   counter,
		labels: []string{labelHostRule},
		help:   "Times a validation of a host began to fail or to pass again",
	},
	{
		name:   hostRuleAtDeletion,
		kind:   counter,
		labels: []string{labelHostRule},
		help:   "Hosts whose validation failed when their cluster was deleted",
	},
	{name: clusterRuleFailed, kind: counter, labels: []string{labelClustRule}, help: "Times a validation of a cluster began to fail"},
	{
		name:   clusterRuleChanged,
		kind:   counter,
		labels: []string{labelClustRule},
		help:   "Times a validation of a cluster began to fail or to pass again",
	},
	{
		name:   clusterRuleAtDeletion,
		kind:   counter,
		labels: []string{labelClustRule},
		help:   "Clusters whose validation failed when they were deleted",
	},
	{
		name:    operationDuration,
		kind:    histogram,
		labels:  []string{labelOperation},
		buckets: milliseconds,
		help:    "Milliseconds an operation of the API took, without polls that were held",
	},
	{name: monitoredHosts, kind: gauge, help: "Hosts in the database; the same in every replica"},
	{name: monitoredClusters, kind: gauge, help: "Clusters in the database; the same in every replica"},
	{name: filesystemUsage, kind: gauge, help: "Percent used of the file system with the data folder"},
	{name: requests, kind: counter, labels: []string{labelOperation, labelCode}, help: "Requests answered, by operation and status code"},
	{name: polls, kind: counter, labels: []string{labelResult}, help: "Polls of hosts: with steps, or empty"},
	{name: evaluationSeconds, kind: histogram, buckets: seconds, help: "Seconds an evaluation of a cluster or of unbound hosts took"},
	{name: clustersByStatus, kind: gauge, labels: []string{labelStatus}, help: "Clusters in the database by status"},
	{name: hostsByStatus, kind: gauge, labels: []string{labelStatus}, help: "Hosts in the database by status"},
	{
		name: activitiesUnreported,
		kind: gauge,
		help: "Results of steps that Temporal does not have yet: more than a few for long is a fault",
	},
}

// Metric is one metric, for documentation.
type Metric struct {
	Name, Kind, Help string
	Labels           []string
}

// List lists every metric: first the v2 API's, then the metrics of Slipway, of images, of the listener and of Temporal's SDK.
func List() []Metric {
	rows := slices.Concat(table, imageTable, certificateTable, temporalTable)
	out := make([]Metric, len(rows))
	for i, t := range rows {
		out[i] = Metric{t.name, string(t.kind), t.help, slices.Clone(t.labels)}
	}
	return out
}
