package settings

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/openshift"
)

// environment holds variables of a process.
type environment map[string]string

func (v environment) LookupEnv(name string) (string, bool) {
	value, found := v[name]
	return value, found
}

func TestVariablesHaveTheirDefaults(t *testing.T) {
	t.Parallel()
	got, err := ReadVariables(environment{"DELETED_INACTIVE_AFTER": " "})
	require.NoError(t, err)
	require.Equal(t, Variables{
		Timeouts:      lifecycle.DefaultTimeouts(),
		InactiveAfter: 480 * time.Hour, DeletedAfter: 72 * time.Hour, Audit: 365 * 24 * time.Hour,
		EveryInactive: time.Hour, EveryPurge: time.Hour, EveryInfraEnv: time.Hour,
		HostMonitor: 5 * time.Second, ClusterMonitor: 10 * time.Second,
		UpgradeAgent: true, CheckClusterVersion: true, SkipMCOReboot: true, EdgeProducts: []string{"BlueField SoC"},
	}, got)
}

func TestVariablesAreReadByTheNamesOfOtherDeployments(t *testing.T) {
	t.Parallel()
	got, err := ReadVariables(environment{
		"DELETED_INACTIVE_AFTER": "20m", "DELETED_UNREGISTERED_AFTER": "1h30m", "DELETION_WORKER_INTERVAL": "2m",
		"ENABLE_UPGRADE_AGENT": "False", "AGENT_DOCKER_IMAGE": "quay.io/agent:1", "DUMMY_IGNITION": "true",
		"CHECK_CLUSTER_VERSION": "false", "HOST_MONITOR_INTERVAL": "8s",
		"DISABLED_STEPS": "verify-vips, ntp-synchronizer,,verify-vips", "DISABLED_HOST_VALIDATIONS": "ntp-synced",
		"DISABLED_CLUSTER_VALIDATIONS": "dns-domain-defined", "AGENT_INVENTORY_MAX_SIZE": "1000000",
		"PUBLIC_CONTAINER_REGISTRIES": "quay.io,docker.io",
		"MUST_GATHER_IMAGES":          `{"4.20-x86_64":{"odf":"registry.example.com/odf:v4.20"}}`,
	})
	require.NoError(t, err)
	require.Equal(t, 20*time.Minute, got.InactiveAfter)
	require.Equal(t, 90*time.Minute, got.DeletedAfter)
	require.Equal(t, 2*time.Minute, got.EveryPurge)
	require.Equal(t, 8*time.Second, got.HostMonitor)
	require.True(t, got.DummyIgnition)
	require.False(t, got.CheckClusterVersion)
	require.Equal(t, []string{"verify-vips", "ntp-synchronizer"}, got.DisabledSteps)
	require.Equal(t, []string{"ntp-synced"}, got.DisabledHost)
	require.Equal(t, []string{"dns-domain-defined"}, got.DisabledCluster)
	require.Equal(t, []string{"quay.io", "docker.io"}, got.PublicRegistries)
	require.Equal(t, openshift.MustGatherImages{"4.20-x86_64": {"odf": "registry.example.com/odf:v4.20"}}, got.MustGatherImages)
	require.EqualValues(t, 1_000_000, got.InventoryBytes)
	require.Empty(t, got.ForeignAgent(), "agents are left unchanged")
}

func TestBadVariableIsNamedWithWhatIsRequiredAndFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ value, want string }{
		"DELETED_INACTIVE_AFTER": {"20 days", `read DELETED_INACTIVE_AFTER: require a duration such as 30m, found "20 days"`},
		"DELETION_WORKER_INTERVAL": {
			"10ms", `read DELETION_WORKER_INTERVAL: require a duration of at least one second, such as 30m, found "10ms"`,
		},
		"HOST_MONITOR_INTERVAL":        {"-1s", `require a duration such as 30m, found "-1s"`},
		"ENABLE_UPGRADE_AGENT":         {"yes", `read ENABLE_UPGRADE_AGENT: require true or false, found "yes"`},
		"AGENT_INVENTORY_MAX_SIZE":     {"1MB", `require a number of bytes, found "1MB"`},
		"DISABLED_STEPS":               {"inventory,dance", `read DISABLED_STEPS: require types of steps, found "dance"`},
		"DISABLED_HOST_VALIDATIONS":    {"pull-secret-set", `require ids of host validations, found "pull-secret-set"`},
		"HOST_STAGE_REBOOTING_TIMEOUT": {"soon", `read HOST_STAGE_REBOOTING_TIMEOUT: require a duration such as 30m, found "soon"`},
		"DISABLED_CLUSTER_VALIDATIONS": {"ntp-synced", `require ids of cluster validations, found "ntp-synced"`},
	} {
		_, err := ReadVariables(environment{name: test.value})
		require.ErrorContains(t, err, test.want)
	}
}

// The audit outlives the events of deleted objects.
func TestAuditIsKeptLongerThanEvents(t *testing.T) {
	t.Parallel()
	_, err := ReadVariables(environment{"AUDIT_RETENTION": "1h"})
	require.ErrorContains(t, err, `read AUDIT_RETENTION: require a duration of at least 24h, such as 8760h, found "1h"`)
	_, err = ReadVariables(environment{"AUDIT_RETENTION": "48h"})
	require.ErrorContains(t, err, "read AUDIT_RETENTION: require at least DELETED_UNREGISTERED_AFTER (72h0m0s), found 48h0m0s")
	got, err := ReadVariables(environment{"AUDIT_RETENTION": "48h", "DELETED_UNREGISTERED_AFTER": "48h"})
	require.NoError(t, err)
	require.Equal(t, 48*time.Hour, got.Audit)
}

func TestVariablesWithoutEffectAreLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	WarnWithoutEffect(environment{"CLUSTER_MONITOR_BATCH_SIZE": "50"}, slog.New(slog.NewTextHandler(&out, nil)))
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "CLUSTER_MONITOR_BATCH_SIZE")
}

func TestControllerImageNeedsItsRegistry(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"":                                  "",
		"registry.example.com/c@sha256:abc": "",
		"localhost:5000/c:1":                "",
		"slipway/controller:1":              "require an image with its registry",
		"controller":                        "require an image with its registry",
	} {
		got, err := ReadVariables(environment{"CONTROLLER_IMAGE": image})
		if want == "" {
			require.NoError(t, err, image)
			require.Equal(t, image, got.ControllerImage)
			continue
		}
		require.ErrorContains(t, err, want, image)
	}
}

// A deployment that is moved here must not lose a wish without a word; what its files set to the defaults stays.
func TestVariablesThatAskForSomethingElseAreRefused(t *testing.T) {
	t.Parallel()
	_, err := ReadVariables(environment{
		"DEPLOY_TARGET": "onprem", "STORAGE": "filesystem", "IPV6_SUPPORT": "true", "DISK_ENCRYPTION_SUPPORT": "True", "NTP_DEFAULT_SERVER": "",
		"ISO_IMAGE_TYPE": "full-iso", "DB_HOST": "127.0.0.1", "DB_PORT": "5432", "SLIPWAY_DATABASE_URL": "postgres://db/slipway",
	})
	require.NoError(t, err, "the files of deploy/podman of openshift/assisted-service, with a database")
	for name, test := range map[string]struct{ value, says string }{
		"DB_HOST":                {"127.0.0.1", "require none, found \"127.0.0.1\": set `SLIPWAY_DATABASE_URL`"},
		"STORAGE":                {"s3", "require none or filesystem, found \"s3\""},
		"IPV6_SUPPORT":           {"false", "require none or true, found \"false\""},
		"CLUSTER_NETWORK_CIDR":   {"10.0.0.0/8", "send the networks with each cluster"},
		"WITH_AMS_SUBSCRIPTIONS": {"true", "organizations"},
		"ENABLE_KUBE_API":        {"true", "Kubernetes"},
	} {
		_, err := ReadVariables(environment{name: test.value})
		require.ErrorContains(t, err, "read "+name+": ")
		require.ErrorContains(t, err, test.says)
	}
	_, err = ReadVariables(environment{"STORAGE": "s3", "ALLOWED_DOMAINS": "example.com"})
	require.ErrorContains(t, err, "STORAGE")
	require.ErrorContains(t, err, "ALLOWED_DOMAINS", "all of them at once")

	got, err := ReadVariables(environment{"ENABLE_SKIP_MCO_REBOOT": "false"})
	require.NoError(t, err)
	require.False(t, got.SkipMCOReboot)
}
