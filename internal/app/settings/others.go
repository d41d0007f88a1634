package settings

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// withoutEffect are variables of such deployments that are accepted and change nothing.
var withoutEffect = []struct{ name, why string }{
	{"HOST_MONITOR_BATCH_SIZE", "hosts are not walked through: only changed hosts are evaluated"},
	{"CLUSTER_MONITOR_BATCH_SIZE", "clusters are not walked through: only changed clusters are evaluated"},
	{"HOST_MONITOR_PER_HOST_TIMEOUT", "hosts are evaluated with their cluster"},
	{"CLUSTER_MONITOR_PER_CLUSTER_DEADLINE", "an evaluation reads one snapshot and waits for nothing"},
	{"CLUSTER_MONITOR_BLACKLIST_DURATION", "a cluster that is slow to evaluate rests ten times as long as it took, and holds up no other"},
	{"CLUSTER_MONITOR_CYCLE_DEADLINE", "no cycles exist"},
	{"ENABLE_REJECT_UNKNOWN_FIELDS", "unknown fields of requests are always refused"},
	{"LOCAL_AUTH_ENFORCE_RESOURCE_SCOPE", "a token always opens its own cluster or InfraEnv only"},
	{"TNF_CLUSTERS_SUPPORT", "clusters of two nodes with fencing are always available"},
	{"ENABLE_EVENT_STREAMING", "events are read from the API"},
	{"ENABLE_DATA_COLLECTION", "nothing is sent anywhere"},
	{"DEPLOY_TARGET", "the service is the same wherever it runs"},
	{"DEPLOYMENT_TYPE", "nothing reports it"},
	{"DEPLOYMENT_VERSION", "nothing reports it"},
	{"DB_PORT", "the database has an address of its own, see `DB_HOST`"},
	{"DB_NAME", "the database has an address of its own, see `DB_HOST`"},
	{"DB_USER", "the database has an address of its own, see `DB_HOST`"},
	{"DB_PASS", "the database has an address of its own, see `DB_HOST`"},
	{"DB_MAX_IDLE_CONNECTIONS", "parameters of `--database-url` limit connections"},
	{"DB_MAX_OPEN_CONNECTIONS", "parameters of `--database-url` limit connections"},
	{"DB_CONNECTIONS_MAX_LIFETIME", "parameters of `--database-url` limit connections"},
	{"CREATE_S3_BUCKET", "the bucket of `--blob-url` exists already"},
	{"WORK_DIR", "all files are below `--data-dir`"},
	{"ISO_CACHE_DIR", "all files are below `--data-dir`"},
	{"LISTEN_PORT", "`--listen` has the address"},
	{"LOG_LEVEL", "`--log-level` has it"},
	{"LOG_FORMAT", "`--log-format` has it"},
	{"LIVENESS_VALIDATION_TIMEOUT", "no monitors exist that could stop"},
	{"FILESYSTEM_USAGE_THRESHOLD", "metrics show the space that is left"},
	{"APPROVE_CSRS_REQUEUE_DURATION", "the controller in the cluster approves them"},
	{"IMAGE_EXPIRATION_INTERVAL", "images are made while they are read"},
	{"INSTALLER_CACHE_CAPACITY", "installers that no cluster uses are deleted"},
	{"INSTALLER_CACHE_MAX_RELEASE_SIZE", "installers that no cluster uses are deleted"},
	{"INSTALLER_CACHE_RELEASE_FETCH_RETRY_INTERVAL", "an installation tries again by itself"},
	{"AGENT_TIMEOUT_START", "the agent needs no image to start"},
	{"ALLOW_CONVERGED_FLOW", "it belongs to the Kubernetes API of openshift/assisted-service"},
}

// other is a variable of such deployments that asks for what this service does not do, or does otherwise. Names and defaults come from
// openshift/assisted-service: cmd/main.go, internal/bminventory/inventory.go, internal/operators/*/config.go, pkg/auth.
type other struct {
	name string
	// harmless are the values that ask for nothing else than happens here.
	harmless []string
	// by is the variable that replaces it: with that one set, any value is fine.
	by      string
	instead string
}

const (
	noHosted  = "this service has neither organizations nor subscriptions of a hosted one"
	noKubeAPI = "this service has no Kubernetes API: use the v2 API or the CLI"
	perNode   = "requirements of operators cannot be changed"
	perRow    = "send the networks with each cluster"
)

var others = []other{
	{
		"DB_HOST", nil, "SLIPWAY_DATABASE_URL",
		"set `SLIPWAY_DATABASE_URL` to postgres://user:password@host:port/name, or unset it for a database of its own",
	},
	{"STORAGE", []string{"filesystem"}, "SLIPWAY_BLOB_URL", "set `SLIPWAY_BLOB_URL`, such as s3://bucket?region=eu-west-1"},
	{"S3_BUCKET", nil, "SLIPWAY_BLOB_URL", "set `SLIPWAY_BLOB_URL`, such as s3://bucket?region=eu-west-1"},
	{
		"SERVE_HTTPS",
		[]string{"true"},
		"SLIPWAY_PLAIN_HTTP",
		"it serves HTTPS: set `SLIPWAY_PLAIN_HTTP=true` for a proxy in front that ends TLS",
	},
	{"ENABLE_KUBE_API", []string{"false"}, "", noKubeAPI},
	{"IPV6_SUPPORT", []string{"true"}, "", "IPv6 cannot be switched off"},
	{"DISK_ENCRYPTION_SUPPORT", []string{"true"}, "", "disk encryption cannot be switched off"},
	{"ISO_IMAGE_TYPE", []string{"full-iso"}, "", "send `image_type` with each InfraEnv"},
	{"NTP_DEFAULT_SERVER", nil, "", "send `additional_ntp_sources` with each InfraEnv"},
	{"CLUSTER_NETWORK_CIDR", []string{"10.128.0.0/14"}, "", perRow},
	{"CLUSTER_NETWORK_HOST_PREFIX", []string{"23"}, "", perRow},
	{"SERVICE_NETWORK_CIDR", []string{"172.30.0.0/16"}, "", perRow},
	{"CLUSTER_NETWORK_CIDR_IPV6", []string{"fd01::/48"}, "", perRow},
	{"CLUSTER_NETWORK_HOST_PREFIX_IPV6", []string{"64"}, "", perRow},
	{"SERVICE_NETWORK_CIDR_IPV6", []string{"fd02::/112"}, "", perRow},
	{"OPENSHIFT_VERSIONS", nil, "", "set `RELEASE_IMAGES` and `OS_IMAGES`"},
	{"OPENSHIFT_INSTALL_RELEASE_IMAGE_MIRROR", nil, "SLIPWAY_MIRROR_REGISTRIES", "set `SLIPWAY_MIRROR_REGISTRIES` to a registries.conf"},
	{"INSTALL_RH_CA", []string{"false"}, "", "send `additional_trust_bundle` with each InfraEnv"},
	{"REGISTRY_CREDS", nil, "", "put it into the pull secrets"},
	{"SERVICE_CA_CERT_PATH", nil, "CA_CERT_PATH", "set `CA_CERT_PATH`"},
	{"SERVICE_IPS", nil, "", "hosts find the service by the name in `SERVICE_BASE_URL`: put its addresses into DNS"},
	{"EPHEMERAL_INSTALLER_CLUSTER_TLS_CERTS_OVERRIDE_DIR", nil, "", "each cluster has keys of its own"},
	{"INSTALL_INVOKER", []string{"assisted-installer"}, "", "the invoker cannot be changed"},
	{"ENABLE_DELETE_UNREGISTER_GC", []string{"true"}, "", "set `DELETED_UNREGISTERED_AFTER` to the time you need"},
	{"ENABLE_DEREGISTER_INACTIVE_GC", []string{"true"}, "", "set `DELETED_INACTIVE_AFTER` to the time you need"},
	{"ENABLE_ELASTIC_APM", []string{"false"}, "", "metrics are at /metrics"},
	{"ENABLE_ORG_BASED_FEATURE_GATES", []string{"false"}, "", noHosted},
	{"WITH_AMS_SUBSCRIPTIONS", []string{"false"}, "", noHosted},
	{"ALLOWED_DOMAINS", nil, "", noHosted},
	{"CNV_MODE", []string{"true"}, "", perNode},
	{"CNV_SUPPORTED_GPUS", nil, "", perNode},
	{"CNV_SUPPORTED_SRIOV_NICS", nil, "", perNode},
	{"CNV_SNO_INSTALL_HPP", []string{"true"}, "", perNode},
	{"CNV_SNO_POOL_SIZE_REQUEST_HPP_GIB", []string{"50"}, "", perNode},
	{"ODF_NUM_MINIMUM_DISK", []string{"3"}, "", perNode},
	{"ODF_PER_DISK_CPU_COUNT", []string{"2"}, "", perNode},
	{"ODF_PER_DISK_RAM_GIB", []string{"5"}, "", perNode},
	{"ODF_NUM_MINIMUM_HOST", []string{"3"}, "", perNode},
	{"ODF_PER_HOST_CPU_COMPACT_MODE", []string{"6"}, "", perNode},
	{"ODF_PER_HOST_MEMORY_GIB_COMPACT_MODE", []string{"19"}, "", perNode},
	{"ODF_PER_HOST_CPU_STANDARD_MODE", []string{"8"}, "", perNode},
	{"ODF_PER_HOST_MEMORY_GIB_STANDARD_MODE", []string{"19"}, "", perNode},
	{"ODF_MIN_DISK_SIZE_GB", []string{"25"}, "", perNode},
}

// refuseOthers returns an error that names all variables with a wish this service does not grant: a deployment that is moved here
// must not lose one without a word.
func refuseOthers(env Environment) error {
	var refused []error
	for _, row := range others {
		value, _ := env.LookupEnv(row.name)
		value = strings.TrimSpace(value)
		if value == "" || slices.Contains(row.harmless, strings.ToLower(value)) || row.replaced(env) {
			continue
		}
		refused = append(refused, fmt.Errorf("read %s: require %s, found %q: %s", row.name, row.required(), value, row.instead))
	}
	return errors.Join(refused...)
}

func (o other) replaced(env Environment) bool {
	if o.by == "" {
		return false
	}
	value, _ := env.LookupEnv(o.by)
	return strings.TrimSpace(value) != ""
}

func (o other) required() string {
	if len(o.harmless) == 0 {
		return "none"
	}
	return "none or " + strings.Join(o.harmless, ", ")
}

// WarnWithoutEffect writes to the log which of the variables set have no effect.
func WarnWithoutEffect(env Environment, log *slog.Logger) {
	for _, row := range withoutEffect {
		if value, found := env.LookupEnv(row.name); found && value != "" {
			log.Warn("setting has no effect", "name", row.name, "reason", row.why)
		}
	}
}
