package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
	"slipway/internal/platform/metrics"
	"slipway/internal/wire"
)

// story is the history of a cluster of one host.
type story struct {
	at      time.Time
	cluster *model.Cluster
	host    *model.Host
}

func newStory() story {
	id := uuid.New()
	return story{
		at: time.Unix(100_000, 0),
		cluster: &model.Cluster{
			ID: id, OpenShiftVersion: "4.20.5", InstallStartedAt: time.Unix(100_000-1800, 0),
			Validations: []model.ValidationResult{
				{ID: "pull-secret-set", Status: model.ValidationFailure},
				{ID: "ntp-server-configured", Status: model.ValidationSuccess},
			},
		},
		host: &model.Host{
			ID: uuid.New(), ClusterID: &id, Role: model.RoleMaster, Stage: model.StageWritingImageToDisk,
			Progress: model.HostProgress{StageStartedAt: time.Unix(100_000-60, 0)},
			Inventory: &wire.Inventory{
				CPU: wire.CPU{Count: 8}, Memory: wire.Memory{PhysicalBytes: 32 << 30},
				Disks: []wire.Disk{{DriveType: wire.DriveTypeSSD, SizeBytes: 120e9}}, Interfaces: []wire.Interface{{SpeedMbps: 25000}},
			},
		},
	}
}

func (s story) of(name events.Name, props events.Props) model.Event {
	return events.New(name, events.Subject{Cluster: s.cluster, Host: s.host}, props, s.at)
}

func recorder(t *testing.T) (*metrics.Recorder, *prometheus.Registry) {
	t.Helper()
	r := prometheus.NewRegistry()
	return metrics.New(r), r
}

// lines returns the samples of metrics: labels, and the value or the number of observations.
func lines(t *testing.T, r *prometheus.Registry, names ...string) []string {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	var out []string
	for _, f := range families {
		if !slices.Contains(names, f.GetName()) {
			continue
		}
		for _, m := range f.GetMetric() {
			var text strings.Builder
			for _, l := range m.GetLabel() {
				text.WriteString(l.GetName() + "=" + l.GetValue() + " ")
			}
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			out = append(out, fmt.Sprint(text.String(), value))
		}
	}
	return out
}

func TestAnInstallationIsCountedByItsEvents(t *testing.T) {
	t.Parallel()
	m, r := recorder(t)
	s := newStory()
	progress := s.of(events.HostInstallProgressUpdated, events.Props{"event": "Writing image to disk"})
	progress.Counted.Stage, progress.Counted.Duration = model.StageInstalling, 20*time.Second
	deleted := s.of(events.ClusterDeregistered, nil)
	deleted.Counted.FailedHostValidations = map[string]int{"connected": 2}
	m.Events([]model.Event{
		s.of(
			events.ClusterRegistrationSucceeded,
			nil,
		), s.of(events.HostRegistrationSucceeded, nil), s.of(events.HostRegistrationFailed, nil),
		s.of(events.ClusterPrepareInstallationStarted, nil), progress,
		s.of(
			events.HostStatusUpdated,
			events.Props{"new_status": "installing"},
		), s.of(events.HostStatusUpdated, events.Props{"new_status": "installed"}),
		s.of(events.ClusterInstallationCompleted, nil), s.of(events.InfraEnvRegistered, nil), deleted,
		{Name: events.DiskSpeedMeasured, Counted: model.Counted{Host: s.host, Duration: 7 * time.Millisecond}},
	})
	const p = "service_assisted_installer_"
	for name, want := range map[string]string{
		"cluster_creations": "openshiftVersion=4.20.5 1", "cluster_hosts": "result=installed role=master 1",
		"cluster_installation_started": "openshiftVersion=4.20.5 1", "host_creations": "1", "invalid_host_discovery": "1",
		"cluster_installation_seconds":                               "openshiftVersion=4.20.5 result=installed 1",
		"host_installation_phase_seconds":                            "phase=Installing result=success role=master 1",
		"cluster_host_cores":                                         "result=installed role=master 1",
		"cluster_host_ram_gb":                                        "result=installed role=master 1",
		"cluster_host_disk_gb":                                       "diskType=SSD result=installed role=master 1",
		"cluster_host_nic_gb":                                        "result=installed role=master 1",
		"installation_disk_speed_sync_milliseconds":                  "1",
		"cluster_validation_is_in_failed_status_on_cluster_deletion": "clusterValidationType=pull-secret-set 1",
		"host_validation_is_in_failed_status_on_cluster_deletion":    "hostValidationType=connected 2",
	} {
		require.Equal(t, []string{want}, lines(t, r, p+name), name)
	}
}

func TestFailuresAreCountedWhereTheyHappened(t *testing.T) {
	t.Parallel()
	m, r := recorder(t)
	s := newStory()
	m.Events([]model.Event{
		s.of(
			events.HostStatusUpdated,
			events.Props{"new_status": "error"},
		), s.of(events.ClusterInstallationFailed, events.Props{"failure_reason": "x"}),
		s.of(events.ClusterInstallationCanceled, nil),
		s.of(
			events.HostValidationFailed,
			events.Props{"validation_id": "connected"},
		), s.of(events.HostValidationFixed, events.Props{"validation_id": "connected"}),
		s.of(
			events.ClusterValidationFailed,
			events.Props{"validation_id": "api-vips-valid"},
		), s.of(events.ClusterValidationFixed, events.Props{"validation_id": "api-vips-valid"}),
	})
	const p = "service_assisted_installer_"
	for name, want := range map[string][]string{
		"host_installation_phase_seconds": {"phase=Writing image to disk result=error role=master 1"},
		"cluster_installation_seconds":    {"openshiftVersion=4.20.5 result=cancelled 1", "openshiftVersion=4.20.5 result=error 1"},
		"host_validation_changed":         {"hostValidationType=connected 2"},
		"host_validation_failed":          {"hostValidationType=connected 1"},
		"cluster_validation_changed":      {"clusterValidationType=api-vips-valid 2"},
		"cluster_validation_failed":       {"clusterValidationType=api-vips-valid 1"},
	} {
		require.Equal(t, want, lines(t, r, p+name), name)
	}
}

func TestWorkOfTheServiceIsCounted(t *testing.T) {
	t.Parallel()
	m, r := recorder(t)
	m.Request("v2GetCluster", "200", 3*time.Millisecond, false)
	m.Request("v2GetNextSteps", "200", 30*time.Second, true)
	m.Polled(0)
	m.Polled(2)
	m.Evaluated(time.Millisecond)
	require.Equal(
		t,
		[]string{"operation=v2GetCluster 1"},
		lines(t, r, "service_assisted_installer_operation_duration_miliseconds"),
		"held polls are not slow",
	)
	require.Equal(
		t,
		[]string{"code=200 operation=v2GetCluster 1", "code=200 operation=v2GetNextSteps 1"},
		lines(t, r, "slipway_requests_total"),
	)
	require.Equal(t, []string{"result=empty 1", "result=steps 1"}, lines(t, r, "slipway_polls_total"))
}

// census counts how often it is taken.
type census struct {
	taken int
	fails error
}

func (c *census) Census(context.Context) (clusters, hosts map[string]int, reported int, err error) {
	c.taken++
	return map[string]int{"ready": 1, "installed": 2}, map[string]int{"known": 5}, 4, c.fails
}

func TestStateIsLookedUpAtMostEveryTenSeconds(t *testing.T) {
	t.Parallel()
	c, now := &census{}, time.Unix(0, 0)
	r := prometheus.NewRegistry()
	r.MustRegister(metrics.NewState(c, t.TempDir(), func() time.Time { return now }))
	for range 2 {
		for name, want := range map[string][]string{
			"service_assisted_installer_monitored_clusters": {"3"}, "service_assisted_installer_monitored_hosts": {"5"},
			"slipway_reported_instructions": {"4"}, "slipway_clusters": {"status=installed 2", "status=ready 1"},
			"slipway_hosts": {"status=known 5"},
		} {
			require.Equal(t, want, lines(t, r, name), name)
		}
	}
	require.Equal(t, 1, c.taken)
	require.Len(t, lines(t, r, "service_assisted_installer_filesystem_usage_percentage"), 1)
	now, c.fails = now.Add(time.Minute), errors.New("the database is away")
	require.Empty(t, lines(t, r, "service_assisted_installer_monitored_hosts"))
	require.Equal(t, 2, c.taken)
}
