package lifecycle_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

var seed = flag.Uint64("seed", 0, "of the random facts; 0 takes another one each time")

// rounds is how many pictures each table is tried on.
const rounds = 20_000

func roll(t *testing.T) dice {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("facts of -seed %d", s)
	return dice{rand.New(rand.NewPCG(s, s))}
}

// The design differs from the contract where a failed step of a host waits for a
// decision of its user (lifecycle.HostFacts.AwaitingRetry, ClusterFacts.AwaitingRetry): a
// host that is tried again saves the installation. Everything else is the contract's.
// That the workflow, and not an evaluation, ends an installation whose time is over is no
// matter of the tables: internal/discovery evaluates them without those limits then.
var (
	differingHosts = []contractRow{
		{no: 43, from: contractHosts[13].from, to: "error", when: "And(ClusterInError, !IsDay2Host, !AwaitingRetry)", differs: "the others keep their states while one may be tried again"},
		{no: 58, from: contractHosts[28].from, to: "(same)", when: "Or(!ClusterInError, AwaitingRetry)", differs: "counterpart of row 43"},
	}
	differingClusters = []contractRow{
		{no: 14, from: "installing-pending-user-action", to: "error", when: "Not(Or(IsInstalling, IsFinalizing, AwaitingRetry))", differs: "a host that is tried again may make them enough"},
		{
			no: 20, from: "installing-pending-user-action", to: "installing-pending-user-action",
			when:    "And(Or(IsInstallingPendingUserAction, And(AwaitingRetry, !IsInstalling, !IsFinalizing)), Or(IsInstalling, IsFinalizing, AwaitingRetry))",
			differs: "the cluster waits for the user of the host that may be tried again",
		},
		{
			no: 23, from: "installing, finalizing", to: "installing-pending-user-action",
			when:    "And(Or(IsInstalling, IsFinalizing, AwaitingRetry), Or(IsInstallingPendingUserAction, And(AwaitingRetry, !IsInstalling, !IsFinalizing)))",
			differs: "instead of row 28",
		},
		{no: 28, from: "installing", to: "error", when: "And(!IsFinalizing, !IsInstalling, !AwaitingRetry)", differs: "as row 14"},
	}
)

func TestHostsFollowTheContract(t *testing.T) {
	t.Parallel()
	for name, awaiting := range map[string]bool{"literally": false, "but for a decision that is open": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := contractHosts
			if awaiting {
				rows = differing(rows, differingHosts)
			}
			table := readTable(t, slices.Concat(rows, contractPool))
			numbers := numbersOf(slices.Concat(lifecycle.HostTable(), lifecycle.PoolTable()))
			d := roll(t)
			met := map[string]int{}
			for range rounds {
				from, results, f := d.host()
				f.AwaitingRetry = awaiting && d.evenly()
				want, no := table.next(string(from), nameOfHost(t, &f, results))
				got, err := lifecycle.NextHost(lifecycle.RefreshHost, from, f)
				require.NoError(t, err, "%s", from) // a refresh that fits no row changes nothing
				require.Equal(t, want, string(got.To), "%s by row %d, found %q: %+v %v", from, no, got.Name, f, results)
				if !f.AwaitingRetry {
					require.Equal(t, no, numbers[got.Name], "%s to %s by %q: %+v %v", from, got.To, got.Name, f, results)
				}
				met[got.Name]++
			}
			require.GreaterOrEqual(t, len(met), len(contractHosts)+len(contractPool), "the facts meet every row: %v", met)
		})
	}
}

func TestClustersFollowTheContract(t *testing.T) {
	t.Parallel()
	for name, awaiting := range map[string]bool{"literally": false, "but for a decision that is open": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := contractClusters
			if awaiting {
				rows = differing(rows, differingClusters)
			}
			table, numbers := readTable(t, rows), numbersOf(lifecycle.ClusterTable())
			d := roll(t)
			met := map[string]int{}
			for range rounds {
				from, results, f := d.cluster()
				f.AwaitingRetry = awaiting && d.evenly()
				want, no := table.next(string(from), nameOfCluster(t, &f, results))
				got, err := lifecycle.NextCluster(lifecycle.RefreshCluster, from, f)
				if no == 0 {
					require.ErrorIs(t, err, model.ErrConflict, "%s to %q", from, got.Name)
					continue
				}
				require.NoError(t, err, "%s by row %d: %+v", from, no, f)
				require.Equal(t, want, string(got.To), "%s by row %d, found %q: %+v %v", from, no, got.Name, f, results)
				require.Equal(t, no, numbers[got.Name], "%s to %s by %q: %+v %v", from, got.To, got.Name, f, results)
				met[got.Name]++
			}
			require.Len(t, met, len(contractClusters), "the facts meet every row")
		})
	}
}

// numbersOf maps the names of rows to their numbers in the contract; ours have none.
func numbersOf(rows []lifecycle.Row) map[string]int {
	out := map[string]int{}
	for _, r := range rows {
		out[r.Name] = r.No
	}
	return out
}
