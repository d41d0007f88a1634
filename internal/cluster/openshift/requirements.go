package openshift

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"slipway/internal/model"
)

// defaultVersion names the entry every other entry is laid over.
const defaultVersion = "default"

// shippedRequirements are the hardware requirements of a deployment that brings none
// (docs/reference/validation-rules.md, "Hardware requirements").
const shippedRequirements = `[
{"version":"default",
 "master":     {"cpu_cores":4,"ram_mib":16384,"disk_size_gb":100,"installation_disk_speed_threshold_ms":10,"network_latency_threshold_ms":100,"packet_loss_percentage":0},
 "arbiter":    {"cpu_cores":2,"ram_mib":8192,"disk_size_gb":50,"installation_disk_speed_threshold_ms":10,"network_latency_threshold_ms":1000,"packet_loss_percentage":0},
 "worker":     {"cpu_cores":2,"ram_mib":8192,"disk_size_gb":100,"installation_disk_speed_threshold_ms":10,"network_latency_threshold_ms":1000,"packet_loss_percentage":10},
 "sno":        {"cpu_cores":8,"ram_mib":16384,"disk_size_gb":100,"installation_disk_speed_threshold_ms":10},
 "edge-worker":{"cpu_cores":2,"ram_mib":8192,"disk_size_gb":15,"installation_disk_speed_threshold_ms":10}},
{"version":"4.22","match_type":"min_version","sno":{"cpu_cores":4}}]`

// roleEntry holds the fields an entry gives for a role; an absent field keeps the default.
type roleEntry struct {
	CPUCores          *int     `json:"cpu_cores"`
	RAMMiB            *int64   `json:"ram_mib"`
	DiskSizeGB        *int64   `json:"disk_size_gb"`
	DiskSpeedMS       *int     `json:"installation_disk_speed_threshold_ms"`
	NetworkLatencyMS  *float64 `json:"network_latency_threshold_ms"`
	PacketLossPercent *float64 `json:"packet_loss_percentage"`
}

type versionEntry struct {
	Version    string    `json:"version"`
	MatchType  string    `json:"match_type"` // exact (also when empty) or min_version
	Master     roleEntry `json:"master"`
	Arbiter    roleEntry `json:"arbiter"`
	Worker     roleEntry `json:"worker"`
	SNO        roleEntry `json:"sno"`
	EdgeWorker roleEntry `json:"edge-worker"`
}

// Requirements are the hardware requirements of every OpenShift version.
type Requirements struct {
	base    model.RoleRequirements
	exact   map[string]versionEntry
	minimum []minimumEntry // highest version first
}

type minimumEntry struct {
	from  *semver.Version
	entry versionEntry
}

// shipped is read once: a refresh of a cluster asks for every host.
var shipped = mustParse(shippedRequirements)

func mustParse(data string) *Requirements {
	r, err := ParseRequirements([]byte(data))
	if err != nil {
		panic(fmt.Sprintf("shipped hardware requirements: %v", err)) // a constant, held by a test
	}
	return r
}

// DefaultRequirements returns the shipped requirements.
func DefaultRequirements() *Requirements { return shipped }

// RequirementsFor returns the shipped requirements of a version, such as "4.22.0".
func RequirementsFor(version string) model.RoleRequirements {
	return shipped.For(version)
}

// ParseRequirements reads the JSON list of docs/reference/validation-rules.md, "Hardware
// requirements". One entry must have the version "default"; the others override only the
// fields they give.
func ParseRequirements(data []byte) (*Requirements, error) {
	var entries []versionEntry
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fmt.Errorf("read hardware requirements: %w", err)
	}
	r := &Requirements{exact: map[string]versionEntry{}}
	found := false
	for _, e := range entries {
		if e.Version == defaultVersion {
			r.base, found = overlay(model.RoleRequirements{}, e), true
			continue
		}
		if err := r.add(e); err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, fmt.Errorf("read hardware requirements: require an entry of version %q, found none", defaultVersion)
	}
	slices.SortStableFunc(r.minimum, func(a, b minimumEntry) int { return b.from.Compare(a.from) })
	return r, nil
}

func (r *Requirements) add(e versionEntry) error {
	v, err := semver.NewVersion(e.Version)
	if err != nil {
		return fmt.Errorf("read hardware requirements of version %q: %w", e.Version, err)
	}
	switch e.MatchType {
	case "", "exact":
		r.exact[e.Version] = e
	case "min_version":
		r.minimum = append(r.minimum, minimumEntry{from: v, entry: e})
	default:
		return fmt.Errorf(
			"read hardware requirements of version %q: require match_type exact or min_version, found %q",
			e.Version,
			e.MatchType,
		)
	}
	return nil
}

// For looks a version up: its exact entry, else the exact entry of its minor version, else the highest
// min_version that is not above it, else the default. A pre-release counts as the release it leads to; an
// invalid version gets the default.
func (r *Requirements) For(version string) model.RoleRequirements {
	if e, ok := r.exact[version]; ok {
		return overlay(r.base, e)
	}
	v, err := semver.NewVersion(version)
	if err != nil {
		return r.base
	}
	if e, ok := r.exact[fmt.Sprintf("%d.%d", v.Major(), v.Minor())]; ok {
		return overlay(r.base, e)
	}
	release := semver.New(v.Major(), v.Minor(), v.Patch(), "", "")
	for _, m := range r.minimum {
		if !m.from.GreaterThan(release) {
			return overlay(r.base, m.entry)
		}
	}
	return r.base
}

func overlay(base model.RoleRequirements, e versionEntry) model.RoleRequirements {
	return model.RoleRequirements{
		Master:     overlayRole(base.Master, e.Master),
		Arbiter:    overlayRole(base.Arbiter, e.Arbiter),
		Worker:     overlayRole(base.Worker, e.Worker),
		SNO:        overlayRole(base.SNO, e.SNO),
		EdgeWorker: overlayRole(base.EdgeWorker, e.EdgeWorker),
	}
}

func overlayRole(base model.Requirements, e roleEntry) model.Requirements {
	return model.Requirements{
		CPUCores:          or(e.CPUCores, base.CPUCores),
		RAMMiB:            or(e.RAMMiB, base.RAMMiB),
		DiskSizeGB:        or(e.DiskSizeGB, base.DiskSizeGB),
		DiskSpeedMS:       or(e.DiskSpeedMS, base.DiskSpeedMS),
		NetworkLatencyMS:  or(e.NetworkLatencyMS, base.NetworkLatencyMS),
		PacketLossPercent: or(e.PacketLossPercent, base.PacketLossPercent),
	}
}

func or[T cmp.Ordered](given *T, fallback T) T {
	if given != nil {
		return *given
	}
	return fallback
}
