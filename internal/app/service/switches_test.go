package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// variables are an environment.
type variables map[string]string

func (v variables) Environ() []string { return nil }

func (v variables) LookupEnv(name string) (string, bool) {
	value, found := v[name]
	return value, found
}

func TestSwitchesHaveTheirDefaults(t *testing.T) {
	t.Parallel()
	got, err := readSwitches(variables{"DELETED_INACTIVE_AFTER": " "})
	require.NoError(t, err)
	require.Equal(t, switches{
		inactive: 480 * time.Hour, deleted: 72 * time.Hour,
		everyInactive: time.Hour, everyPurge: time.Hour, everyInfraEnv: time.Hour,
		hostMonitor: 5 * time.Second, clusterMonitor: 10 * time.Second,
		upgradeAgent: true, checkVersion: true, edgeProducts: []string{"BlueField SoC"},
	}, got)
}

func TestSwitchesAreReadByTheNamesOfOtherDeployments(t *testing.T) {
	t.Parallel()
	got, err := readSwitches(variables{
		"DELETED_INACTIVE_AFTER": "20m", "DELETED_UNREGISTERED_AFTER": "1h30m", "DELETION_WORKER_INTERVAL": "2m",
		"ENABLE_UPGRADE_AGENT": "False", "AGENT_DOCKER_IMAGE": "quay.io/agent:1", "DUMMY_IGNITION": "true", "CHECK_CLUSTER_VERSION": "false", "HOST_MONITOR_INTERVAL": "8s",
		"DISABLED_STEPS": "verify-vips, ntp-synchronizer,,verify-vips", "DISABLED_HOST_VALIDATIONS": "ntp-synced",
		"DISABLED_CLUSTER_VALIDATIONS": "dns-domain-defined", "AGENT_INVENTORY_MAX_SIZE": "1000000", "PUBLIC_CONTAINER_REGISTRIES": "quay.io,docker.io",
	})
	require.NoError(t, err)
	require.Equal(t, 20*time.Minute, got.inactive)
	require.Equal(t, 90*time.Minute, got.deleted)
	require.Equal(t, 2*time.Minute, got.everyPurge)
	require.Equal(t, 8*time.Second, got.hostMonitor)
	require.True(t, got.dummyIgnition)
	require.False(t, got.checkVersion)
	require.Equal(t, []string{"verify-vips", "ntp-synchronizer"}, got.disabledSteps)
	require.Equal(t, []string{"ntp-synced"}, got.disabledHost)
	require.Equal(t, []string{"dns-domain-defined"}, got.disabledCluster)
	require.Equal(t, []string{"quay.io", "docker.io"}, got.publicRegistries)
	require.EqualValues(t, 1_000_000, got.inventoryBytes)
	require.Empty(t, got.foreignAgent(), "agents stay what they are")
}

func TestBadSwitchIsNamedWithWhatIsRequiredAndFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ value, want string }{
		"DELETED_INACTIVE_AFTER":       {"20 days", `read DELETED_INACTIVE_AFTER: require a duration such as 30m, found "20 days"`},
		"DELETION_WORKER_INTERVAL":     {"10ms", `read DELETION_WORKER_INTERVAL: require a duration of at least one second, such as 30m, found "10ms"`},
		"HOST_MONITOR_INTERVAL":        {"-1s", `require a duration such as 30m, found "-1s"`},
		"ENABLE_UPGRADE_AGENT":         {"yes", `read ENABLE_UPGRADE_AGENT: require true or false, found "yes"`},
		"AGENT_INVENTORY_MAX_SIZE":     {"1MB", `require a number of bytes, found "1MB"`},
		"DISABLED_STEPS":               {"inventory,dance", `read DISABLED_STEPS: require types of steps, found "dance"`},
		"DISABLED_HOST_VALIDATIONS":    {"pull-secret-set", `require ids of host validations, found "pull-secret-set"`},
		"DISABLED_CLUSTER_VALIDATIONS": {"ntp-synced", `require ids of cluster validations, found "ntp-synced"`},
	} {
		_, err := readSwitches(variables{name: test.value})
		require.ErrorContains(t, err, test.want)
	}
}

func TestSwitchesWithoutEffectAreTold(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	warnOfSwitches(variables{"CLUSTER_MONITOR_BATCH_SIZE": "50"}, slog.New(slog.NewTextHandler(&out, nil)))
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "CLUSTER_MONITOR_BATCH_SIZE")
}
