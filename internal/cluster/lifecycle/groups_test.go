package lifecycle_test

import (
	"slices"
	"strings"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
)

// The groups of docs/reference/states.md, written down again. A rule that is in none of them has to pass before an
// installation.
const (
	minHardwareGroup = "has-min-valid-disks has-min-cpu-cores has-min-memory"
	dayOneHardware   = minHardwareGroup + " compatible-with-cluster-platform disk-encryption-requirements-satisfied"
	reportedGroup    = "connected media-connected has-inventory inventory-not-fully-truncated inventory-not-partially-truncated" +
		" machine-cidr-defined vsphere-disk-uuid-enabled ntp-synced mtu-valid container-images-available" +
		" release-domain-name-resolved-correctly"

	clusterPending  = "machine-cidr-defined cluster-cidr-defined service-cidr-defined dns-domain-defined pull-secret-set"
	clusterVIPs     = "api-vips-defined ingress-vips-defined"
	clusterReported = "platform-requirements-satisfied openshift-ai-gpu-requirements-satisfied"
)

var (
	hostRuleIDs    = idsOf(validation.HostRules(), func(r validation.HostRule) string { return string(r.ID) })
	clusterRuleIDs = idsOf(validation.ClusterRules(), func(r validation.ClusterRule) string { return string(r.ID) })
	toInstall      = without(hostRuleIDs, dayOneHardware, reportedGroup)
	toInstallAll   = without(clusterRuleIDs, clusterPending, clusterVIPs, clusterReported)
)

func idsOf[Rule any](rules []Rule, id func(Rule) string) []string {
	var out []string
	for _, r := range rules {
		out = append(out, id(r))
	}
	return out
}

// without returns the rules that are in none of the groups.
func without(ids []string, groups ...string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.Contains(strings.Fields(strings.Join(groups, " ")), id)
	})
}

// outcome holds the new status of a known host with one rule that does not pass, and of a host without a cluster, where the rule is
// evaluated for it.
type outcome struct{ bound, pool model.HostStatus }

// outcomes are the outcomes of rules that conditions of their own read, besides groups.
var outcomes = map[string]outcome{
	"connected":       {"disconnected", "disconnected-unbound"},
	"media-connected": {"disconnected", "known-unbound"}, // the other rows of unbound hosts need the media, and nothing takes their place

	// Without a valid inventory a host stays in discovery, see the test; once it has one it falls back by the rules that are computed
	// from it.
	"has-inventory":                 {"known", "known-unbound"},
	"inventory-not-fully-truncated": {"known", "known-unbound"},

	"vsphere-disk-uuid-enabled": {"insufficient", "known-unbound"},
	"machine-cidr-defined":      {"pending-for-input", "known-unbound"},
	"hostname-valid":            {"insufficient", "insufficient-unbound"},
}

// outcomeOf returns the outcome of a rule by its group.
func outcomeOf(id string) outcome {
	in := func(group string) bool { return slices.Contains(strings.Fields(group), id) }
	own, found := outcomes[id]
	switch {
	case found:
		return own
	case in(minHardwareGroup):
		return outcome{"insufficient", "insufficient-unbound"}
	case in(dayOneHardware), slices.Contains(toInstall, id):
		return outcome{"insufficient", "known-unbound"}
	}
	return outcome{"known", "known-unbound"} // it only reports
}
