package service

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/contrib/envconfig"

	"slipway/internal/cluster/validation"
	"slipway/internal/service/discovery"
	"slipway/internal/wire"
)

// switches are settings of deployments of the v2 API, by the names those set already.
// They are variables only: nobody types them.
type switches struct {
	inactive, deleted                        time.Duration
	everyInactive, everyPurge, everyInfraEnv time.Duration
	hostMonitor, clusterMonitor              time.Duration

	agentImage, installerImage, controllerImage string

	upgradeAgent, virtualNICs, dummyIgnition, checkVersion bool

	inventoryBytes int64

	disabledSteps, disabledHost, disabledCluster []string
	edgeProducts, publicRegistries               []string
}

// switchRow is one variable: its default and how its text becomes a value.
type switchRow struct {
	name  string
	dflt  string
	why   string
	apply func(*switches, string) error
}

var switchRows = []switchRow{
	{"DELETED_INACTIVE_AFTER", "480h", "a cluster that is not installed, or a discovery environment without one, is deleted after that long without a sign of life", duration(func(s *switches) *time.Duration { return &s.inactive })},
	{"DELETED_UNREGISTERED_AFTER", "72h", "what was deleted is removed for good after that", duration(func(s *switches) *time.Duration { return &s.deleted })},
	{"DEREGISTER_WORKER_INTERVAL", "1h", "how often unused clusters are looked for", interval(func(s *switches) *time.Duration { return &s.everyInactive })},
	{"DELETION_WORKER_INTERVAL", "1h", "how often deleted things are removed for good", interval(func(s *switches) *time.Duration { return &s.everyPurge })},
	{"INFRAENV_DELETION_WORKER_INTERVAL", "1h", "how often unused discovery environments are looked for", interval(func(s *switches) *time.Duration { return &s.everyInfraEnv })},
	{"HOST_MONITOR_INTERVAL", discovery.DefaultSweepEvery.String(), "how often hosts that fell silent are looked for; everything else about hosts is evaluated when it changes", duration(func(s *switches) *time.Duration { return &s.hostMonitor })},
	{"CLUSTER_MONITOR_INTERVAL", discovery.DefaultLookEvery.String(), "how often clusters to evaluate are looked for without a signal that one has changed", duration(func(s *switches) *time.Duration { return &s.clusterMonitor })},
	{"ENABLE_UPGRADE_AGENT", "true", "agents of another version than the service's are upgraded before they are asked anything else", boolean(func(s *switches) *bool { return &s.upgradeAgent })},
	{"AGENT_DOCKER_IMAGE", "", "image that agents of other makes must run; none: any is taken. Agents of ours follow the version of the service", text(func(s *switches) *string { return &s.agentImage })},
	{"INSTALLER_IMAGE", "", "image that agents of other makes install with", text(func(s *switches) *string { return &s.installerImage })},
	{"CONTROLLER_IMAGE", "", "image of the controller that installers of other makes start", text(func(s *switches) *string { return &s.controllerImage })},
	{"ENABLE_VIRTUAL_INTERFACES", "false", "inventories keep interfaces that are no hardware", boolean(func(s *switches) *bool { return &s.virtualNICs })},
	{"AGENT_INVENTORY_MAX_SIZE", "0", "most bytes of an inventory, 0: any; agents cut longer ones", size(func(s *switches) *int64 { return &s.inventoryBytes })},
	{"EDGE_WORKERS_PRODUCT_NAMES", validation.DefaultEdgeProduct, "products of hosts that count as small workers, separated by commas", list(func(s *switches) *[]string { return &s.edgeProducts }, "", nil)},
	{"PUBLIC_CONTAINER_REGISTRIES", "", "registries, separated by commas, that a pull secret need not name", list(func(s *switches) *[]string { return &s.publicRegistries }, "", nil)},
	{"CHECK_CLUSTER_VERSION", "true", "an installation also waits for the version of the new cluster (operator `cvo`); else for its console and its OLM operators only", boolean(func(s *switches) *bool { return &s.checkVersion })},
	{"DISABLED_STEPS", "", "types of steps, separated by commas, that no host is asked for", list(func(s *switches) *[]string { return &s.disabledSteps }, "types of steps", func(n string) bool { return wire.StepType(n).Valid() })},
	{"DISABLED_HOST_VALIDATIONS", "", "validations of hosts, separated by commas, that are shown as disabled and stop nothing", list(func(s *switches) *[]string { return &s.disabledHost }, "ids of host validations", func(n string) bool { return wire.HostValidationID(n).Valid() })},
	{"DISABLED_CLUSTER_VALIDATIONS", "", "validations of clusters, separated by commas, that are shown as disabled and stop nothing", list(func(s *switches) *[]string { return &s.disabledCluster }, "ids of cluster validations", func(n string) bool { return wire.ClusterValidationID(n).Valid() })},
	{"DUMMY_IGNITION", "false", "for test environments: Ignition and kubeconfig are small constant files, no installer and no release image is needed, and no real host can be installed", boolean(func(s *switches) *bool { return &s.dummyIgnition })},
}

// withoutEffect are variables of such deployments that are accepted and change nothing.
var withoutEffect = []struct{ name, why string }{
	{"HOST_MONITOR_BATCH_SIZE", "hosts are not walked through: only those that changed are evaluated"},
	{"CLUSTER_MONITOR_BATCH_SIZE", "clusters are not walked through: only those that changed are evaluated"},
	{"HOST_MONITOR_PER_HOST_TIMEOUT", "hosts are evaluated with their cluster"},
	{"CLUSTER_MONITOR_PER_CLUSTER_DEADLINE", "an evaluation reads one snapshot and waits for nobody"},
	{"CLUSTER_MONITOR_BLACKLIST_DURATION", "a cluster that is slow to evaluate rests ten times as long as it took, and holds up no other"},
	{"CLUSTER_MONITOR_CYCLE_DEADLINE", "there are no cycles"},
	{"ENABLE_REJECT_UNKNOWN_FIELDS", "unknown fields of requests are always refused"},
	{"LOCAL_AUTH_ENFORCE_RESOURCE_SCOPE", "a token always opens its own cluster or discovery environment only"},
	{"TNF_CLUSTERS_SUPPORT", "clusters of two nodes with fencing are always on offer"},
	{"ENABLE_EVENT_STREAMING", "events are read from the API"},
	{"ENABLE_DATA_COLLECTION", "nothing is sent anywhere"},
}

// readSwitches reads the variables; the error names the one that cannot be read.
func readSwitches(env envconfig.EnvLookup) (switches, error) {
	var out switches
	for _, row := range switchRows {
		value, _ := env.LookupEnv(row.name)
		if value = strings.TrimSpace(value); value == "" {
			value = row.dflt
		}
		if err := row.apply(&out, value); err != nil {
			return out, fmt.Errorf("read %s: %w", row.name, err)
		}
	}
	return out, nil
}

// warnOfSwitches tells an operator which of the variables set do nothing.
func warnOfSwitches(env envconfig.EnvLookup, log *slog.Logger) {
	for _, row := range withoutEffect {
		if value, found := env.LookupEnv(row.name); found && value != "" {
			log.Warn("setting has no effect", "name", row.name, "reason", row.why)
		}
	}
}

func duration(at func(*switches) *time.Duration) func(*switches, string) error {
	return atLeast(at, time.Nanosecond, "a duration such as 30m")
}

// interval is how often Temporal starts something; it counts in seconds.
func interval(at func(*switches) *time.Duration) func(*switches, string) error {
	return atLeast(at, time.Second, "a duration of at least one second, such as 30m")
}

func atLeast(at func(*switches) *time.Duration, least time.Duration, what string) func(*switches, string) error {
	return func(s *switches, value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d < least {
			return fmt.Errorf("require %s, found %q", what, value)
		}
		*at(s) = d
		return nil
	}
}

func boolean(at func(*switches) *bool) func(*switches, string) error {
	return func(s *switches, value string) error {
		b, err := strconv.ParseBool(strings.ToLower(value))
		if err != nil {
			return fmt.Errorf("require true or false, found %q", value)
		}
		*at(s) = b
		return nil
	}
}

func size(at func(*switches) *int64) func(*switches, string) error {
	return func(s *switches, value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("require a number of bytes, found %q", value)
		}
		*at(s) = n
		return nil
	}
}

func text(at func(*switches) *string) func(*switches, string) error {
	return func(s *switches, value string) error {
		*at(s) = value
		return nil
	}
}

// list reads names between commas; valid, when set, tells whether one is known.
func list(at func(*switches) *[]string, what string, valid func(string) bool) func(*switches, string) error {
	return func(s *switches, value string) error {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.TrimSpace(name)
			if name == "" || slices.Contains(*at(s), name) {
				continue
			}
			if valid != nil && !valid(name) {
				return fmt.Errorf("require %s, found %q", what, name)
			}
			*at(s) = append(*at(s), name)
		}
		return nil
	}
}

// Variables lists the settings that are variables only: name, default and meaning.
func Variables() (rows [][3]string) {
	for _, row := range switchRows {
		rows = append(rows, [3]string{row.name, row.dflt, row.why})
	}
	return rows
}

// WithoutEffect lists the variables that are accepted and change nothing: name and reason.
func WithoutEffect() (rows [][2]string) {
	for _, row := range withoutEffect {
		rows = append(rows, [2]string{row.name, row.why})
	}
	return rows
}
