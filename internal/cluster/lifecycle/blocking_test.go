package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
)

// blocked maps a rule that fails alone to the new status of a known host, and of a pool host that could be bound
// (docs/reference/state-rules.md, "Groups of host validations"). Rules that are not in it only report: the host stays ready. Hosts that
// fail rules of operators are insufficient.
var blocked = map[string]struct{ bound, pool model.HostStatus }{
	"connected":       {"disconnected", "disconnected-unbound"},
	"media-connected": {"disconnected", "known-unbound"}, // the other rows of unbound hosts need the media, and nothing takes their place

	// Without a valid inventory a host stays in discovery, see below; once it has one it
	// falls back by the rules that are computed from it.
	"has-inventory":                 {"known", "known-unbound"},
	"inventory-not-fully-truncated": {"known", "known-unbound"},

	"has-min-valid-disks":                    {"insufficient", "insufficient-unbound"},
	"has-min-cpu-cores":                      {"insufficient", "insufficient-unbound"},
	"has-min-memory":                         {"insufficient", "insufficient-unbound"},
	"compatible-with-cluster-platform":       {"insufficient", ""},
	"disk-encryption-requirements-satisfied": {"insufficient", ""},
	"vsphere-disk-uuid-enabled":              {"insufficient", ""},

	"machine-cidr-defined": {"pending-for-input", ""},

	"has-memory-for-role":                             {"insufficient", ""},
	"has-cpu-cores-for-role":                          {"insufficient", ""},
	"belongs-to-machine-cidr":                         {"insufficient", ""},
	"hostname-unique":                                 {"insufficient", ""},
	"hostname-valid":                                  {"insufficient", "insufficient-unbound"},
	"ignition-downloadable":                           {"insufficient", ""},
	"belongs-to-majority-group":                       {"insufficient", ""},
	"has-default-route":                               {"insufficient", "known-unbound"},
	"dns-wildcard-not-configured":                     {"insufficient", ""},
	"non-overlapping-subnets":                         {"insufficient", ""},
	"compatible-agent":                                {"insufficient", "known-unbound"},
	"no-skip-installation-disk":                       {"insufficient", "known-unbound"},
	"no-skip-missing-disk":                            {"insufficient", "known-unbound"},
	"no-ip-collisions-in-network":                     {"insufficient", ""},
	"valid-platform-network-settings":                 {"insufficient", "known-unbound"},
	"sufficient-installation-disk-speed":              {"insufficient", "known-unbound"},
	"time-synced-between-host-and-service":            {"insufficient", "known-unbound"},
	"sufficient-network-latency-requirement-for-role": {"insufficient", ""},
	"sufficient-packet-loss-requirement-for-role":     {"insufficient", ""},
	"api-domain-name-resolved-correctly":              {"insufficient", ""},
	"api-int-domain-name-resolved-correctly":          {"insufficient", ""},
	"apps-domain-name-resolved-correctly":             {"insufficient", ""},
	"no-iscsi-nic-belongs-to-machine-cidr":            {"insufficient", ""},
}

// reported are the rules of hosts that stop nothing.
var reported = []string{
	"ntp-synced", "container-images-available", "mtu-valid", "inventory-not-partially-truncated",
	"release-domain-name-resolved-correctly",
}

func TestEachHostRuleBlocksAsTheContractSays(t *testing.T) {
	t.Parallel()
	for _, r := range validation.HostRules() {
		id := string(r.ID)
		require.Contains(t, hostRuleIDs, id, "random facts draw from the groups of contract_names_test.go")
		want, found := blocked[id]
		switch {
		case r.Category == validation.CategoryOperators:
			want.bound = model.HostInsufficient
		case !found:
			require.Contains(t, reported, id, "a rule either stops a host or does not")
			want.bound, want.pool = model.HostKnown, model.HostKnownUnbound
		}
		for _, status := range []model.ValidationStatus{model.ValidationFailure, model.ValidationPending, model.ValidationError} {
			require.Equal(t, want.bound, alone(t, model.HostKnown, id, status), "%s of a known host: %s", id, status)
			if r.Unbound && want.pool != "" {
				require.Equal(t, want.pool, alone(t, model.HostKnownUnbound, id, status), "%s of a pool host: %s", id, status)
			}
		}
		for _, from := range []model.HostStatus{model.HostKnown, model.HostKnownUnbound} {
			require.Equal(t, from, alone(t, from, id, model.ValidationDisabled), "%s is switched off", id)
		}
	}
	for _, id := range []string{"has-inventory", "inventory-not-fully-truncated"} {
		require.Equal(t, model.HostDiscovering, alone(t, model.HostDiscovering, id, model.ValidationPending))
		require.Equal(t, model.HostDiscoveringUnbound, alone(t, model.HostDiscoveringUnbound, id, model.ValidationPending))
	}
}

// alone returns the status of a host after a refresh with one rule that did not pass.
func alone(t *testing.T, from model.HostStatus, id string, status model.ValidationStatus) model.HostStatus {
	t.Helper()
	f := fineHost()
	f.Unbound = strings.HasSuffix(string(from), "-unbound")
	f.Conditions = lifecycle.HostConditionsOf([]model.ValidationResult{{ID: id, Status: status, Message: "because"}})
	got, err := lifecycle.NextHost(lifecycle.RefreshHost, from, f)
	require.NoError(t, err)
	return got.To
}

// awaited are the rules of a cluster without which it is pending-for-input; the rules of clusterReported stop nothing, and all others
// make it insufficient.
var awaited = strings.Fields(clusterPending + " " + clusterVIPs)

func TestEachClusterRuleBlocksAsTheContractSays(t *testing.T) {
	t.Parallel()
	for _, r := range validation.ClusterRules() {
		want := model.ClusterInsufficient
		switch id := string(r.ID); {
		case slices.Contains(awaited, id):
			want = model.ClusterPendingForInput
		case slices.Contains(strings.Fields(clusterReported), id):
			want = model.ClusterReady
		}
		for _, leases := range []bool{false, true} {
			f := fineCluster()
			f.VIPDHCPAllocation = leases
			f.Conditions = lifecycle.ClusterConditionsOf(failed(string(r.ID)))
			if leases && slices.Contains(strings.Fields(clusterVIPs), string(r.ID)) {
				want = model.ClusterInsufficient // the addresses are leased: no user has to give them
			}
			got, err := lifecycle.NextCluster(lifecycle.RefreshCluster, model.ClusterReady, f)
			require.NoError(t, err)
			require.Equal(t, want, got.To, "%s, leases %t", r.ID, leases)
		}
	}
}
