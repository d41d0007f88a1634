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

func TestEachHostRuleBlocksAsTheContractSays(t *testing.T) {
	t.Parallel()
	for _, r := range validation.HostRules() {
		id := string(r.ID)
		want := outcomeOf(id)
		for _, status := range []model.ValidationStatus{model.ValidationFailure, model.ValidationPending, model.ValidationError} {
			require.Equal(t, want.bound, alone(t, model.HostKnown, id, status), "%s of a known host: %s (groups_test.go)", id, status)
			if r.Unbound {
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
