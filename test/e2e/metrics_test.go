package e2e_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
	"slipway/test/built"
)

func TestMetricsTellOfAnInstallation(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "DUMMY_IGNITION=true")
	s := shape{masters: 1, speed: 0}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	response, err := built.Carrier(t, f.dataDir).Get(f.url + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	for _, line := range []string{
		`service_assisted_installer_cluster_creations{openshiftVersion="` + release + `"} 1`,
		`service_assisted_installer_host_creations 1`,
		`service_assisted_installer_cluster_installation_started{openshiftVersion="` + release + `"} 1`,
		`service_assisted_installer_cluster_installation_seconds_count{openshiftVersion="` + release + `",result="installed"} 1`,
		`service_assisted_installer_host_installation_phase_seconds_count{phase="Writing image to disk",result="success",role="bootstrap"} 1`,
		`service_assisted_installer_cluster_hosts{result="installed",role="bootstrap"} 1`,
		`service_assisted_installer_host_validation_changed{hostValidationType=`,
		`service_assisted_installer_operation_duration_miliseconds_count{operation="v2InstallCluster"} 1`,
		`service_assisted_installer_monitored_hosts 1`,
		`service_assisted_installer_filesystem_usage_percentage`,
		`slipway_requests_total{code="202",operation="v2InstallCluster"} 1`,
		`slipway_evaluation_seconds_count`,
		// By the names of https://docs.temporal.io/references/sdk-metrics.
		`temporal_activity_execution_latency_seconds_count{activity_type="GenerateIgnition",namespace="slipway",task_queue="slipway"} 1`,
		`temporal_workflow_task_execution_latency_seconds_count{namespace="slipway",task_queue="slipway",workflow_type="ClusterInstall"} `,
		`temporal_long_request_total{namespace="slipway",operation="PollActivityTaskQueue"} `,
	} {
		require.Contains(t, string(page), line)
	}
	require.NotContains(t, string(page), "otel_metric_overflow", "no metric of Temporal's SDK has too many series")
}
