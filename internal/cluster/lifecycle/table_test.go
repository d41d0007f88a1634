package lifecycle_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

// TestTablesAreTheContracts compares the rows with the contract where it is present:
// number, event, source and target states, and the order within an event.
func TestTablesAreTheContracts(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../../shared/contract/states.md")
	if err != nil {
		t.Skip("SKIP: the contract is not beside this checkout")
	}
	left := map[int]string{26: "subscriptions of a hosted service"}
	for _, tt := range []struct {
		heading string
		rows    []lifecycle.Row
		left    map[int]string
	}{
		{"### 2b.", lifecycle.HostTable(), nil},
		{"### 2c.", lifecycle.PoolTable(), nil},
		{"### 2d.", lifecycle.ClusterTable(), left},
	} {
		_, section, found := strings.Cut(string(doc), tt.heading)
		require.True(t, found)
		section, _, _ = strings.Cut(section, "\n###")
		ours := map[int]lifecycle.Row{}
		for _, r := range tt.rows {
			if r.No > 0 {
				require.Empty(t, ours[r.No].Name, "row %d twice", r.No)
				ours[r.No] = r
			}
		}
		contract := regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \| ([^|]+) \| ([^|]+) \|`).FindAllStringSubmatch(section, -1)
		require.NotEmpty(t, contract)
		for _, m := range contract {
			no, _ := strconv.Atoi(m[1])
			if tt.left[no] != "" {
				continue
			}
			r := ours[no]
			require.Equal(t, m[2], r.Event, "row %d", no)
			require.Equal(t, states(m[3]), slices.Sorted(slices.Values(r.From)), "row %d", no)
			to := strings.TrimSpace(m[4])
			if to == "(same)" || len(r.From) == 1 && r.From[0] == to && r.To == "" {
				to = ""
			}
			require.Equal(t, to, r.To, "row %d", no)
		}
		requireOrder(t, tt.rows)
	}
}

func states(cell string) []string {
	cell = strings.TrimSpace(cell)
	if cell == "(new)" {
		return nil
	}
	return slices.Sorted(slices.Values(strings.Split(cell, ", ")))
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
	ago := func() time.Time { return now.Add(-time.Duration(random.IntN(1600)) * time.Minute) }
	stages := append(model.StagesFor(model.RoleWorker, false, false), "", model.StageCopyingRegistryData)
	for range 20000 {
		facts := fineHost()
		facts.DayTwo, facts.AwaitingRetry, facts.ClusterViable, facts.LogsTimedOut = coin(), coin(), coin(), coin()
		facts.StageSince, facts.StatusSince, facts.Timeouts.Soft = ago(), ago(), coin()
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
		cluster.Installing, cluster.Finalizing, cluster.HostPending, cluster.AllHostsDone, cluster.Complete = coin(), coin(), coin(), coin(), coin()
		cluster.AllHostsPrepared, cluster.UnpreparingHosts, cluster.FailedPreparingHosts = coin(), coin(), coin()
		cluster.PreparationSucceeded, cluster.PreparationFailed, cluster.AwaitingRetry = coin(), coin(), coin()
		cluster.StatusSince, cluster.InstallStartedAt, cluster.Timeouts.Soft = ago(), ago(), coin()
		next, err := lifecycle.NextCluster(lifecycle.RefreshCluster, clusterStatuses[random.IntN(len(clusterStatuses))], cluster)
		require.NoError(t, err)
		require.Contains(t, clusterStatuses, next.To)
	}
}
