package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// kills is how often each part is killed in one installation; E2E_KILLS overrides it.
const kills = 10

// killShape takes half a minute undisturbed.
var killShape = shape{masters: 3, workers: 2, speed: 100}

// TestKilledPartsLoseNothing kills two parts in turn, again and again, at random moments of an
// installation, and holds the table pending_activities against the machines' own logs.
func TestKilledPartsLoseNothing(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		exact bool // every command is one write; not so when the writing agent dies
		kill  [2]func(*testing.T, *fleet) bool
	}{
		{"the whole service and the database", true, [2]func(*testing.T, *fleet) bool{
			func(_ *testing.T, f *fleet) bool { return f.service.signal(syscall.SIGKILL) }, killDatabase,
		}},
		{"an agent and the controller", false, [2]func(*testing.T, *fleet) bool{
			func(_ *testing.T, f *fleet) bool { return f.machines[anyMachine(f)].signal(syscall.SIGKILL) },
			func(_ *testing.T, f *fleet) bool { return f.controller.signal(syscall.SIGKILL) },
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			f.define(t, killShape)
			f.discover(t, killShape)
			f.install(t)
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			turn := 0
			f.killAtRandom(t, rand.New(rand.NewPCG(seed, 0)), func(t *testing.T, f *fleet) bool {
				t.Helper()
				turn++
				return c.kill[turn%2](t, f)
			})
			f.awaitStatus(t, wire.ClusterStatusInstalled)
			f.nothingLost(t, c.exact)
		})
	}
}

// killAtRandom spreads the kills over the installation.
func (f *fleet) killAtRandom(t *testing.T, random *rand.Rand, kill func(*testing.T, *fleet) bool) {
	t.Helper()
	n := kills
	if text := os.Getenv("E2E_KILLS"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	// On a busy machine a start takes longer than the time between kills; a service that never comes back is another test's: its
	// hosts run out of time, as they should.
	away := 0
	for done := 0; done < n; {
		if away == 3 {
			await.True(t, func() bool {
				_, err := f.client.Cluster(t.Context(), f.id)
				return err == nil
			}, "the service comes back")
		}
		time.Sleep(time.Duration(500+random.IntN(4500)) * time.Millisecond)
		c, err := f.client.Cluster(t.Context(), f.id)
		if err == nil && c.Status == wire.ClusterStatusInstalled {
			t.Logf("the installation ended after %d kills", done)
			return
		}
		where := "while the service was away"
		away++
		if err == nil {
			away = 0
			where = fmt.Sprintf("at %d%% (%s)", c.Progress.TotalPercentage, c.Status)
		}
		if kill(t, f) {
			done++
			t.Logf("kill %d %s", done, where)
		}
	}
}

func anyMachine(f *fleet) string {
	for name := range f.machines { // the order of a map is random
		return name
	}
	return ""
}

// killDatabase kills the postmaster; the service's supervisor starts it again.
func killDatabase(t *testing.T, f *fleet) bool {
	t.Helper()
	pid, err := postmaster(f.dataDir)
	if err != nil {
		return false // it is being started
	}
	return syscall.Kill(pid, syscall.SIGKILL) == nil
}
