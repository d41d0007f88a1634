package lifecycle_test

import (
	"slices"
	"strings"

	"slipway/internal/model"
)

// The groups of docs/reference/states.md, written down again: a new rule belongs into one of them.
const (
	minHardwareGroup = "has-min-valid-disks has-min-cpu-cores has-min-memory"
	dayOneHardware   = minHardwareGroup + " compatible-with-cluster-platform disk-encryption-requirements-satisfied"
	toInstallGroup   = "has-memory-for-role has-cpu-cores-for-role belongs-to-machine-cidr hostname-unique hostname-valid" +
		" ignition-downloadable belongs-to-majority-group sufficient-network-latency-requirement-for-role" +
		" sufficient-packet-loss-requirement-for-role has-default-route api-domain-name-resolved-correctly" +
		" api-int-domain-name-resolved-correctly apps-domain-name-resolved-correctly dns-wildcard-not-configured" +
		" valid-platform-network-settings sufficient-installation-disk-speed non-overlapping-subnets" +
		" compatible-agent time-synced-between-host-and-service no-skip-installation-disk no-skip-missing-disk" +
		" no-ip-collisions-in-network no-iscsi-nic-belongs-to-machine-cidr"
	reportedGroup = "connected media-connected has-inventory inventory-not-fully-truncated inventory-not-partially-truncated" +
		" machine-cidr-defined vsphere-disk-uuid-enabled ntp-synced mtu-valid container-images-available" +
		" release-domain-name-resolved-correctly"

	clusterPending = "machine-cidr-defined cluster-cidr-defined service-cidr-defined dns-domain-defined pull-secret-set"
	clusterVIPs    = "api-vips-defined ingress-vips-defined"
	clusterGroup   = "machine-cidr-equals-to-calculated-cidr api-vips-valid ingress-vips-valid all-hosts-are-ready-to-install" +
		" sufficient-masters-count network-prefix-valid no-cidrs-overlapping ntp-server-configured" +
		" network-type-valid custom-manifests-requirements-satisfied networks-same-address-families"
	clusterReported = "platform-requirements-satisfied openshift-ai-gpu-requirements-satisfied"

	// operatorGroup is of hosts and clusters alike.
	operatorGroup = "lso odf cnv lvm mce mtv osc node-feature-discovery nvidia-gpu pipelines servicemesh serverless" +
		" openshift-ai authorino nmstate amd-gpu kmm node-healthcheck self-node-remediation" +
		" fence-agents-remediation node-maintenance kube-descheduler cluster-observability numa-resources oadp" +
		" metallb loki openshift-logging"
)

var (
	operatorIDs    = suffixed(operatorGroup)
	hostRuleIDs    = slices.Concat(strings.Fields(dayOneHardware), strings.Fields(toInstallGroup), strings.Fields(reportedGroup), operatorIDs)
	clusterRuleIDs = slices.Concat(strings.Fields(clusterPending), strings.Fields(clusterVIPs), strings.Fields(clusterGroup),
		strings.Fields(clusterReported), operatorIDs)
)

func suffixed(names string) []string {
	out := strings.Fields(names)
	for i := range out {
		out[i] += "-requirements-satisfied"
	}
	return out
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
	case in(dayOneHardware), in(toInstallGroup), slices.Contains(operatorIDs, id):
		return outcome{"insufficient", "known-unbound"}
	}
	return outcome{"known", "known-unbound"} // it only reports
}
