package bench_test

import (
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim"
	"slipway/internal/wire"
)

// waitingHosts is how many hosts are awaited beside an installation.
var waitingHosts = flag.Int("waiting", 1000, "hosts that BenchmarkWaitingHosts waits for")

const (
	// smallInstallations of smallHosts each are measured without waiting hosts, and beside them.
	smallInstallations = 3
	smallHosts         = 5
)

// BenchmarkWaitingHosts installs small clusters, first alone and then while 1,000 reclaimed hosts are awaited in the live
// image: their workflows wait for a status that does not come.
func BenchmarkWaitingHosts(b *testing.B) {
	i := newInstaller(b)
	i.install("warm", smallHosts, installationLimit) // the first one loads the release
	for b.Loop() {
		alone := i.installations("alone")
		i.awaitReclaimed(*waitingHosts)
		awaited := i.installations("beside")
		require.Equal(b, *waitingHosts, count(i.service, openWaits), "hosts that are still awaited")
		b.ReportMetric(alone.Seconds(), "s-alone")
		b.ReportMetric(awaited.Seconds(), "s-beside-waits")
		b.ReportMetric(awaited.Seconds()/alone.Seconds(), "ratio")
	}
	b.ReportMetric(0, "ns/op")
}

const openWaits = `select count(*) from pending_activities where kind = 'status' and state in ('pending', 'sent')`

// installations returns the middle of what a few took, one after the other.
func (i *installer) installations(name string) time.Duration {
	i.tb.Helper()
	var took []time.Duration
	for n := range smallInstallations {
		_, one := i.install(fmt.Sprintf("%s-%d", name, n), smallHosts, installationLimit)
		took = append(took, one)
	}
	return middle(took, time.Duration.Seconds)
}

// awaitReclaimed has hosts wait that are installed as far as the database says: each is commanded to return to its InfraEnv,
// answers until it reboots, and does not come back.
func (i *installer) awaitReclaimed(hosts int) {
	i.tb.Helper()
	existing := i.newClusterOf("existing", release, i.pullSecret)
	pool, err := i.client.RegisterInfraEnv(i.tb.Context(), wire.InfraEnvCreateParams{Name: "pool", PullSecret: i.pullSecret})
	require.NoError(i.tb, err)
	config, err := i.client.DiscoveryIgnition(i.tb.Context(), pool.ID)
	require.NoError(i.tb, err)
	image, err := sim.ReadDiscovery(config)
	require.NoError(i.tb, err)
	there := &cluster{service: i.service, id: existing.id, infraEnv: pool.ID, agent: image.AgentVersion}
	there.register(there.dial(), hosts)
	_, err = i.tables.Exec(i.tb.Context(), `update hosts set cluster_id = $1, status = 'installed' where infra_env_id = $2`,
		there.id, there.infraEnv)
	require.NoError(i.tb, err)
	a := i.holdWithin(10*time.Second, there.machines)
	require.NoError(i.tb, there.reclaim())
	eventually(i.tb, "hosts awaited", 20*time.Minute, func() bool {
		return count(i.service, openWaits) == hosts && a.left.Load() == int64(hosts)
	})
	a.end()
}

// reclaim commands all hosts to return to their InfraEnv.
func (c *cluster) reclaim() error {
	var next atomic.Int64
	var group sync.WaitGroup
	failures := make(chan error, discoverers)
	for range discoverers {
		group.Go(func() {
			for n := int(next.Add(1) - 1); n < len(c.machines); n = int(next.Add(1) - 1) {
				if err := c.client.ReclaimHost(c.tb.Context(), c.infraEnv, c.machines[n].id); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	return <-failures
}
