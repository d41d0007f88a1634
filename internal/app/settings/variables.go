package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/validation"
	"slipway/internal/wire"
)

// Environment looks up variables of the process.
type Environment interface {
	LookupEnv(name string) (value string, found bool)
}

// Variables are the settings that have no flag, by the names that deployments of the v2 API
// set already.
type Variables struct {
	// Timeouts are how long things may take.
	Timeouts lifecycle.Timeouts

	InactiveAfter, DeletedAfter, Audit       time.Duration
	EveryInactive, EveryPurge, EveryInfraEnv time.Duration
	HostMonitor, ClusterMonitor              time.Duration

	AgentImage, InstallerImage, ControllerImage string

	MustGatherImages openshift.MustGatherImages

	UpgradeAgent, VirtualNICs, DummyIgnition, CheckClusterVersion, SkipMCOReboot bool

	InventoryBytes int64

	DisabledSteps, DisabledHost, DisabledCluster []string
	EdgeProducts, PublicRegistries               []string
}

// variable is one variable: its default and how its text becomes a value.
type variable struct {
	name  string
	dflt  string
	why   string
	apply func(*Variables, string) error
}

var variables = []variable{
	{
		"DELETED_INACTIVE_AFTER", "480h",
		"a cluster that is not installed, or an InfraEnv without one, is deleted after that long without activity",
		duration(func(s *Variables) *time.Duration { return &s.InactiveAfter }),
	},
	{
		"DELETED_UNREGISTERED_AFTER", "72h",
		"what was deleted is removed for good after that",
		duration(func(s *Variables) *time.Duration { return &s.DeletedAfter }),
	},
	{
		"AUDIT_RETENTION", "8760h",
		"how long rows of the audit are kept; at least 24h, and not shorter than DELETED_UNREGISTERED_AFTER, with which events end",
		atLeast(func(s *Variables) *time.Duration { return &s.Audit }, 24*time.Hour, "a duration of at least 24h, such as 8760h"),
	},
	{
		"DEREGISTER_WORKER_INTERVAL", "1h",
		"how often unused clusters are looked for",
		interval(func(s *Variables) *time.Duration { return &s.EveryInactive }),
	},
	{
		"DELETION_WORKER_INTERVAL", "1h",
		"how often deleted things, and old rows of the audit, are removed for good",
		interval(func(s *Variables) *time.Duration { return &s.EveryPurge }),
	},
	{
		"INFRAENV_DELETION_WORKER_INTERVAL", "1h",
		"how often unused InfraEnvs are looked for",
		interval(func(s *Variables) *time.Duration { return &s.EveryInfraEnv }),
	},
	{
		"HOST_MONITOR_INTERVAL", lifecycle.DefaultHostMonitor.String(),
		"how often hosts that fell silent are looked for; everything else about hosts is evaluated when it changes",
		duration(func(s *Variables) *time.Duration { return &s.HostMonitor }),
	},
	{
		"CLUSTER_MONITOR_INTERVAL", lifecycle.DefaultClusterMonitor.String(),
		"how often clusters to evaluate are looked for without a signal that one has changed",
		duration(func(s *Variables) *time.Duration { return &s.ClusterMonitor }),
	},
	{
		"ENABLE_UPGRADE_AGENT", "true",
		"agents of another version than the service's are upgraded before they are asked anything else",
		boolean(func(s *Variables) *bool { return &s.UpgradeAgent }),
	},
	{
		"AGENT_DOCKER_IMAGE", "",
		"image that agents of other implementations must run; none: any is accepted. Agents of Slipway follow the version of the service",
		text(func(s *Variables) *string { return &s.AgentImage }),
	},
	{
		"INSTALLER_IMAGE", "",
		"image that agents of other implementations install with; theirs by default",
		text(func(s *Variables) *string { return &s.InstallerImage }),
	},
	{
		"CONTROLLER_IMAGE", "",
		"image that contains the controller, by digest or named in full; none: Slipway's agents run it in an image of the release, " +
			"others in the image of their implementation",
		image(func(s *Variables) *string { return &s.ControllerImage }),
	},
	{
		"MUST_GATHER_IMAGES", "",
		"images of must-gather for operators that fail, beside the release's image: a JSON object such as " +
			`{"4.20-x86_64": {"odf": "registry.example.com/odf-must-gather:v4.20"}}; operators are cnv, lso, odf and ocs, ` +
			"and ocp replaces the release's image",
		func(s *Variables, value string) (err error) {
			if value != "" {
				s.MustGatherImages, err = openshift.ParseMustGatherImages([]byte(value))
			}
			return err
		},
	},
	{
		"ENABLE_VIRTUAL_INTERFACES", "false",
		"inventories keep interfaces that are not hardware",
		boolean(func(s *Variables) *bool { return &s.VirtualNICs }),
	},
	{
		"AGENT_INVENTORY_MAX_SIZE", "0",
		"most bytes of an inventory, 0: any; agents cut longer ones",
		size(func(s *Variables) *int64 { return &s.InventoryBytes }),
	},
	{
		"EDGE_WORKERS_PRODUCT_NAMES", validation.DefaultEdgeProduct,
		"products of hosts that count as small workers, separated by commas",
		list(func(s *Variables) *[]string { return &s.EdgeProducts }, "", nil),
	},
	{
		"PUBLIC_CONTAINER_REGISTRIES", "",
		"registries, separated by commas, that a pull secret need not name",
		list(func(s *Variables) *[]string { return &s.PublicRegistries }, "", nil),
	},
	{
		"CHECK_CLUSTER_VERSION", "true",
		"an installation also waits for the version of the new cluster (operator `cvo`); else for its console and its OLM operators only",
		boolean(func(s *Variables) *bool { return &s.CheckClusterVersion }),
	},
	{
		"ENABLE_SKIP_MCO_REBOOT", "true",
		"agents of openshift/assisted-installer-agent apply the machine config before the first boot, which saves one: from OpenShift 4.15 on, " +
			"not on s390x, not on device mapper disks",
		boolean(func(s *Variables) *bool { return &s.SkipMCOReboot }),
	},
	{
		"DISABLED_STEPS", "",
		"types of steps, separated by commas, that no host is asked for",
		list(func(s *Variables) *[]string { return &s.DisabledSteps }, "types of steps", func(n string) bool { return wire.StepType(n).Valid() }),
	},
	{
		"DISABLED_HOST_VALIDATIONS", "",
		"validations of hosts, separated by commas, that are shown as disabled and stop nothing",
		list(func(s *Variables) *[]string { return &s.DisabledHost }, "ids of host validations",
			func(n string) bool { return wire.HostValidationID(n).Valid() }),
	},
	{
		"DISABLED_CLUSTER_VALIDATIONS", "",
		"validations of clusters, separated by commas, that are shown as disabled and stop nothing",
		list(func(s *Variables) *[]string { return &s.DisabledCluster }, "ids of cluster validations",
			func(n string) bool { return wire.ClusterValidationID(n).Valid() }),
	},
	{
		"DUMMY_IGNITION", "false",
		"for test environments: Ignition and kubeconfig are small constant files, no installer and no release image is " +
			"needed, and no real host can be installed",
		boolean(func(s *Variables) *bool { return &s.DummyIgnition }),
	},
}

// ReadVariables reads the variables. The error names the variable, what is required and what
// was found.
func ReadVariables(env Environment) (Variables, error) {
	var out Variables
	for _, row := range variables {
		value, _ := env.LookupEnv(row.name)
		if value = strings.TrimSpace(value); value == "" {
			value = row.dflt
		}
		if err := row.apply(&out, value); err != nil {
			return out, fmt.Errorf("read %s: %w", row.name, err)
		}
	}
	if out.Audit < out.DeletedAfter {
		return out, fmt.Errorf("read AUDIT_RETENTION: require at least DELETED_UNREGISTERED_AFTER (%s), found %s", out.DeletedAfter, out.Audit)
	}
	if err := refuseOthers(env); err != nil {
		return out, err
	}
	limits := map[string]string{}
	for _, row := range lifecycle.TimeoutSettings() {
		limits[row.Name], _ = env.LookupEnv(row.Name)
	}
	var err error
	out.Timeouts, err = lifecycle.ParseTimeouts(limits)
	return out, err
}

// ForeignAgent returns the image that agents of other implementations are upgraded to, if any.
func (v Variables) ForeignAgent() string {
	if !v.UpgradeAgent {
		return ""
	}
	return v.AgentImage
}

func duration(at func(*Variables) *time.Duration) func(*Variables, string) error {
	return atLeast(at, time.Nanosecond, "a duration such as 30m")
}

// interval reads how often Temporal starts something; it counts in seconds.
func interval(at func(*Variables) *time.Duration) func(*Variables, string) error {
	return atLeast(at, time.Second, "a duration of at least one second, such as 30m")
}

func atLeast(at func(*Variables) *time.Duration, least time.Duration, what string) func(*Variables, string) error {
	return func(s *Variables, value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d < least {
			return fmt.Errorf("require %s, found %q", what, value)
		}
		*at(s) = d
		return nil
	}
}

func boolean(at func(*Variables) *bool) func(*Variables, string) error {
	return func(s *Variables, value string) error {
		b, err := strconv.ParseBool(strings.ToLower(value))
		if err != nil {
			return fmt.Errorf("require true or false, found %q", value)
		}
		*at(s) = b
		return nil
	}
}

func size(at func(*Variables) *int64) func(*Variables, string) error {
	return func(s *Variables, value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("require a number of bytes, found %q", value)
		}
		*at(s) = n
		return nil
	}
}

func text(at func(*Variables) *string) func(*Variables, string) error {
	return func(s *Variables, value string) error {
		*at(s) = value
		return nil
	}
}

// image reads the name of an image with its registry: machines without a list of registries do not find others.
func image(at func(*Variables) *string) func(*Variables, string) error {
	return func(s *Variables, value string) error {
		registry, _, ok := strings.Cut(value, "/")
		if value != "" && (!ok || !strings.ContainsAny(registry, ".:")) {
			return fmt.Errorf("require an image with its registry, such as registry.example.com/slipway-controller@sha256:..., found %q", value)
		}
		*at(s) = value
		return nil
	}
}

// list reads names between commas; valid, when set, reports whether one is known.
func list(at func(*Variables) *[]string, what string, valid func(string) bool) func(*Variables, string) error {
	return func(s *Variables, value string) error {
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
