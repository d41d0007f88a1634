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
var (
	differingHosts = []contractRow{
		{
			no: 43, from: contractHosts[13].from, to: "error",
			when:    "And(ClusterInError, !IsDay2Host, !AwaitingRetry)",
			differs: "the others keep their states while one may be tried again",
		},
		{
			no: 58, from: contractHosts[28].from, to: "(same)",
			when:    "Or(!ClusterInError, AwaitingRetry)",
			differs: "counterpart of the row for a failed cluster",
		},
	}
	// hostsWithoutClock differ because the row "Reclaim timed out" does not come before
	// them.
	hostsWithoutClock = []contractRow{
		{no: 68, from: "reclaiming, reclaiming-rebooting", to: "(same)", when: "-", differs: "the workflow of the reclaim keeps its time"},
	}
	differingClusters = []contractRow{
		{
			no: 14, from: "installing-pending-user-action", to: "error",
			when:    "Not(Or(IsInstalling, IsFinalizing, AwaitingRetry))",
			differs: "a host that is tried again may make them enough",
		},
		{
			no: 20, from: "installing-pending-user-action", to: "installing-pending-user-action",
			when: "And(Or(IsInstallingPendingUserAction, And(AwaitingRetry, !IsInstalling, !IsFinalizing)), " +
				"Or(IsInstalling, IsFinalizing, AwaitingRetry))",
			differs: "the cluster waits for the user of the host that may be tried again",
		},
		{
			no: 23, from: "installing, finalizing", to: "installing-pending-user-action",
			when: "And(Or(IsInstalling, IsFinalizing, AwaitingRetry), Or(IsInstallingPendingUserAction, " +
				"And(AwaitingRetry, !IsInstalling, !IsFinalizing)))",
			differs: "instead of the row for too few hosts",
		},
		{
			no: 28, from: "installing", to: "error",
			when:    "And(!IsFinalizing, !IsInstalling, !AwaitingRetry)",
			differs: "as the row of a cluster that waits for its user",
		},
	}
)

// asked is the event a workflow or command asks our tables with where the contract's
// refresh decides by itself.
type asked[E any] struct {
	event E
	// row is the number of the row that answers, when it is not the same one; ours has none.
	row int
	why string
}

const ours = -1

// number returns the number of the row that answers instead of row no.
func (a asked[E]) number(no int) int {
	switch a.row {
	case 0:
		return no
	case ours:
		return 0
	}
	return a.row
}

var hostsAsked = map[int]asked[lifecycle.HostEvent]{
	20: {event: lifecycle.ResetHost, why: "the reset decides by where the host is"},
	26: {event: lifecycle.ReclaimFailed, row: 25, why: "the workflow of the reclaim keeps its time"},
	32: {event: lifecycle.InstallationBegins, why: "hosts begin with their cluster"},
	33: {event: lifecycle.PreparationStopped, why: "hosts stop with their cluster"},
	38: {event: lifecycle.PreparationStopped, why: "hosts stop with their cluster"},
	39: {event: lifecycle.PreparationStopped, why: "hosts stop with their cluster"},
	44: {event: lifecycle.FailHost, row: ours, why: "the workflow waits for the step"},
	50: {event: lifecycle.StageTimedOut, why: "the workflow keeps the time of stages"},
	51: {event: lifecycle.StageTimedOut, why: "the workflow keeps the time of stages"},
	52: {event: lifecycle.StageTimedOut, why: "the workflow keeps the time of stages"},
	53: {event: lifecycle.StageTimedOut, why: "the workflow keeps the time of stages"},
	54: {event: lifecycle.StageTimedOut, why: "the workflow keeps the time of stages"},
	55: {event: lifecycle.StageTimedOut, why: "the workflow keeps the time of stages"},
	56: {event: lifecycle.RebootTimedOut, why: "the workflow waits for the host from its disk"},
	57: {event: lifecycle.FailHost, row: ours, why: "the workflow waits for the user"},
}

var clustersAsked = map[int]asked[lifecycle.ClusterEvent]{
	11: {event: lifecycle.PreparationEnded, why: "the workflow knows when all is prepared"},
	12: {event: lifecycle.PreparationEnded, why: "the workflow knows when all is prepared"},
	13: {event: lifecycle.PreparationEnded, why: "the workflow knows when all is prepared"},
	15: {event: lifecycle.InstallationFailed, row: ours, why: "the workflow keeps the time of the installation"},
	16: {event: lifecycle.InstallationFailed, row: ours, why: "the workflow keeps the time of the installation"},
	17: {event: lifecycle.InstallationFailed, row: ours, why: "the workflow keeps the time of finalizing"},
	18: {event: lifecycle.FinalizingStageTimeout, why: "the workflow keeps the time of finalizing stages"},
	19: {event: lifecycle.FinalizingStageTimeout, why: "the workflow keeps the time of finalizing stages"},
	27: {event: lifecycle.FinishInstallation, why: "the workflow waits for operators, certificate and controller"},
}

// Rows without an answer.
var (
	hostsLeft    = map[int]string{35: "the workflow ends the preparation of all hosts as failed"}
	clustersLeft = map[int]string{10: "the workflow ends the preparation as failed", 26: "subscriptions of a hosted service"}
)

// refreshed returns the rows that our refresh decides too.
func refreshed[E any](rows []contractRow, events map[int]asked[E], left map[int]string) []contractRow {
	return slices.DeleteFunc(slices.Clone(rows), func(r contractRow) bool {
		_, workflow := events[r.no]
		return workflow || left[r.no] != ""
	})
}

func TestHostsFollowTheContract(t *testing.T) {
	t.Parallel()
	for name, awaiting := range map[string]bool{"literally": false, "but for a decision that is open": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := contractHosts
			if awaiting {
				rows = differing(rows, differingHosts)
			}
			all := readTable(t, rows)
			ours := differing(refreshed(rows, hostsAsked, hostsLeft), hostsWithoutClock)
			refresh := readTable(t, slices.Concat(ours, contractPool))
			pool := readTable(t, contractPool)
			numbers := numbersOf(slices.Concat(lifecycle.HostTable(), lifecycle.PoolTable()))
			d := roll(t)
			met, metPool := map[int]int{}, map[int]int{}
			for range rounds {
				from, results, f := d.host()
				f.AwaitingRetry = awaiting && d.evenly()
				holds := nameOfHost(t, &f, results)
				want, no := refresh.next(string(from), holds)
				got, err := lifecycle.NextHost(lifecycle.RefreshHost, from, f.HostFacts)
				require.NoError(t, err, "%s", from) // a refresh that fits no row changes nothing
				require.Equal(t, want, string(got.To), "%s by row %d, found %q: %+v %v", from, no, got.Name, f, results)
				if !f.AwaitingRetry {
					require.Equal(t, no, numbers[got.Name], "%s to %s by %q: %+v %v", from, got.To, got.Name, f, results)
				}
				want, no = all.next(string(from), holds)
				if no == 0 {
					_, no = pool.next(string(from), holds)
					metPool[no]++
					continue
				}
				met[no]++
				if a, ok := hostsAsked[no]; ok {
					got, err := lifecycle.NextHost(a.event, from, f.HostFacts)
					require.NoError(t, err, "%s by row %d", from, no)
					require.Equal(t, want, string(got.To), "%s by row %d, found %q: %+v %v", from, no, got.Name, f, results)
					require.Equal(t, a.number(no), numbers[got.Name], "%s to %s by %q", from, got.To, got.Name)
				}
			}
			delete(metPool, 0)
			require.Len(t, met, len(contractHosts), "the facts meet every row: %v", met)
			require.Len(t, metPool, len(contractPool), "the facts meet every row: %v", metPool)
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
			all, refresh := readTable(t, rows), readTable(t, refreshed(rows, clustersAsked, clustersLeft))
			numbers := numbersOf(lifecycle.ClusterTable())
			d := roll(t)
			met := map[int]int{}
			for range rounds {
				from, results, f := d.cluster()
				f.AwaitingRetry = awaiting && d.evenly()
				holds := nameOfCluster(t, &f, results)
				want, no := refresh.next(string(from), holds)
				got, err := lifecycle.NextCluster(lifecycle.RefreshCluster, from, f.ClusterFacts)
				if no == 0 {
					require.ErrorIs(t, err, model.ErrConflict, "%s to %q", from, got.Name)
				} else {
					require.NoError(t, err, "%s by row %d: %+v", from, no, f)
					require.Equal(t, want, string(got.To), "%s by row %d, found %q: %+v %v", from, no, got.Name, f, results)
					require.Equal(t, no, numbers[got.Name], "%s to %s by %q: %+v %v", from, got.To, got.Name, f, results)
				}
				want, no = all.next(string(from), holds)
				met[no]++
				if a, ok := clustersAsked[no]; ok {
					got, err := lifecycle.NextCluster(a.event, from, f.ClusterFacts)
					require.NoError(t, err, "%s by row %d", from, no)
					require.Equal(t, want, string(got.To), "%s by row %d, found %q: %+v %v", from, no, got.Name, f, results)
					require.Equal(t, a.number(no), numbers[got.Name], "%s to %s by %q", from, got.To, got.Name)
				}
			}
			delete(met, 0)
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
