package lifecycle_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
)

// TestTablesAreTheContracts compares the rows with the transitions of
// openshift/assisted-service: number, event, source and target states, and the order
// within an event.
func TestTablesAreTheContracts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/transitions.json")
	require.NoError(t, err)
	var contract struct {
		Source                string
		Hosts, Pool, Clusters []transition
	}
	require.NoError(t, json.Unmarshal(text, &contract))
	for _, tt := range []struct {
		contract []transition
		rows     []lifecycle.Row
		left     map[int]string
		events   map[int]string // of rows that have an event of their own; empty: another row answers
	}{
		{contract.Hosts, lifecycle.HostTable(), hostsLeft, eventsOf(hostsAsked)},
		{contract.Pool, lifecycle.PoolTable(), nil, nil},
		{contract.Clusters, lifecycle.ClusterTable(), clustersLeft, eventsOf(clustersAsked)},
	} {
		ours := map[int]lifecycle.Row{}
		for _, r := range tt.rows {
			if r.No > 0 {
				require.Empty(t, ours[r.No].Name, "row %d twice", r.No)
				ours[r.No] = r
			}
		}
		require.NotEmpty(t, tt.contract)
		for _, want := range tt.contract {
			if tt.left[want.No] != "" {
				continue
			}
			r, found := ours[want.No]
			event, asked := tt.events[want.No]
			if asked && event == "" {
				require.False(t, found, "row %d is answered by another one", want.No)
				continue
			}
			if asked {
				require.NotEmpty(t, r.Why, "row %d says why its event differs", want.No)
				want.Event = event
			}
			require.Equal(t, want.Event, r.Event, "row %d", want.No)
			require.ElementsMatch(t, want.From, r.From, "row %d", want.No)
			to := want.To
			if to == "(same)" || len(r.From) == 1 && r.From[0] == to && r.To == "" {
				to = ""
			}
			require.Equal(t, to, r.To, "row %d", want.No)
		}
		requireOrder(t, tt.rows)
	}
}

// eventsOf returns the events that take the place of the contract's, by row.
func eventsOf[E ~string](rows map[int]asked[E]) map[int]string {
	out := map[int]string{}
	for no, a := range rows {
		out[no] = string(a.event)
		if a.row != 0 {
			out[no] = ""
		}
	}
	return out
}

// transition is a row of testdata/transitions.json; To is "(same)" for a state that stays.
type transition struct {
	No    int
	Event string
	From  []string
	To    string
}

func requireOrder(t *testing.T, rows []lifecycle.Row) {
	t.Helper()
	last := map[string]int{}
	for _, r := range rows {
		if r.No > 0 {
			require.Greater(t, r.No, last[r.Event], "rows of %s are in order", r.Event)
			last[r.Event] = r.No
		}
	}
}

func TestRowNamesAreUnique(t *testing.T) {
	t.Parallel()
	for _, table := range [][]lifecycle.Row{append(lifecycle.HostTable(), lifecycle.PoolTable()...), lifecycle.ClusterTable()} {
		seen := map[string]bool{}
		for _, r := range table {
			require.False(t, seen[r.Name], r.Name)
			seen[r.Name] = true
		}
	}
}

var hostStatuses = []model.HostStatus{
	model.HostDiscovering, model.HostKnown, model.HostDisconnected, model.HostInsufficient, model.HostDisabled,
	model.HostPreparingForInstallation, model.HostPreparingFailed, model.HostPreparingSuccessful, model.HostPendingForInput,
	model.HostInstalling, model.HostInstallingInProgress, model.HostInstallingPendingUserAction,
	model.HostResettingPendingUserAction, model.HostInstalled, model.HostError, model.HostResetting,
	model.HostAddedToExistingCluster, model.HostCancelled, model.HostBinding, model.HostUnbinding,
	model.HostUnbindingPendingUserAction, model.HostKnownUnbound, model.HostDisconnectedUnbound,
	model.HostInsufficientUnbound, model.HostDisabledUnbound, model.HostDiscoveringUnbound,
	model.HostReclaiming, model.HostReclaimingRebooting,
}

var clusterStatuses = []model.ClusterStatus{
	model.ClusterInsufficient, model.ClusterReady, model.ClusterError, model.ClusterPreparingForInstallation,
	model.ClusterPendingForInput, model.ClusterInstalling, model.ClusterFinalizing, model.ClusterInstalled,
	model.ClusterAddingHosts, model.ClusterCancelled, model.ClusterInstallingPendingUserAction, model.ClusterUnmonitored,
}

// TestRefreshAlwaysFits tries random facts: a refresh is never refused and never leaves
// the set of statuses.
func TestRefreshAlwaysFits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	coin := func() bool { return random.IntN(2) == 0 }
	stages := append(steps.StagesFor(model.RoleWorker, false, false), "", model.StageCopyingRegistryData)
	for range 20000 {
		facts := fineHost()
		facts.DayTwo, facts.AwaitingRetry, facts.LogsTimedOut, facts.Timeouts.Soft = coin(), coin(), coin(), coin()
		facts.ConnectionTimedOut, facts.StageTimedOut = coin(), coin()
		facts.Stage = stages[random.IntN(len(stages))]
		facts.ClusterStatus = clusterStatuses[random.IntN(len(clusterStatuses))]
		facts.DiskSpeed, facts.Images = lifecycle.Outcome(random.IntN(3)), lifecycle.Outcome(random.IntN(3))
		facts.Conditions = lifecycle.HostConditions{
			Connected: coin(), MediaConnected: coin(), HasInventory: coin(), NotFullyTruncated: coin(), MinHardware: coin(),
			RequiredInput: coin(), SufficientForInstall: coin(), SufficientToBeBound: coin(), VSphereDiskUUID: coin(),
		}
		got, err := lifecycle.NextHost(lifecycle.RefreshHost, hostStatuses[random.IntN(len(hostStatuses))], facts)
		require.NoError(t, err)
		require.Contains(t, hostStatuses, got.To)

		cluster := fineCluster()
		cluster.Conditions = lifecycle.ClusterConditions{PendingInput: coin(), VIPsDefined: coin(), RequiredForInstall: coin()}
		cluster.VIPDHCPAllocation, cluster.LogsTimedOut, cluster.FinalizingStageTimedOut = coin(), coin(), coin()
		cluster.Installing, cluster.Finalizing, cluster.HostPending, cluster.AllHostsDone = coin(), coin(), coin(), coin()
		cluster.AllHostsPrepared, cluster.UnpreparingHosts, cluster.FailedPreparingHosts = coin(), coin(), coin()
		cluster.PreparationSucceeded, cluster.PreparationFailed, cluster.AwaitingRetry = coin(), coin(), coin()
		cluster.Timeouts.Soft = coin()
		next, err := lifecycle.NextCluster(lifecycle.RefreshCluster, clusterStatuses[random.IntN(len(clusterStatuses))], cluster)
		require.NoError(t, err)
		require.Contains(t, clusterStatuses, next.To)
	}
}
