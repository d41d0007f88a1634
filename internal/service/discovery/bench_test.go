package discovery_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
)

// pollers is how many agents poll at the same time in the benchmarks.
const pollers = 50

func BenchmarkIdlePoll10(b *testing.B)   { benchmarkIdlePoll(b, 10) }
func BenchmarkIdlePoll2000(b *testing.B) { benchmarkIdlePoll(b, 2000) }

// benchmarkIdlePoll measures polls of hosts of one cluster of which nothing is asked,
// with the service running beside them.
func benchmarkIdlePoll(b *testing.B, hosts int) {
	l := newLab(b)
	machines := l.settled(b, hosts)
	l.run(b)
	b.SetParallelism(max(pollers/runtime.GOMAXPROCS(0), 1))
	begun := time.Now()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m := machines[rand.IntN(len(machines))]
			steps, err := l.service.NextSteps(b.Context(), m.pollInput(0))
			if err != nil || len(steps.Instructions) > 0 {
				b.Errorf("poll was not idle: %v %v", steps.Instructions, err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "polls/s")
}

// BenchmarkIdlePollRatio alternates between a cluster of ten hosts and a cluster of two thousand, so that other load of the machine
// weighs on both, and reports the cost of a poll in each.
func BenchmarkIdlePollRatio(b *testing.B) {
	const polls = 40 // of each poller in a turn
	sizes, spent := [2]int{10, 2000}, [2]time.Duration{}
	var labs [2]*lab
	var machines [2][]*machine
	for i, hosts := range sizes {
		labs[i] = newLab(b)
		machines[i] = labs[i].settled(b, hosts)
		labs[i].run(b)
	}
	for b.Loop() {
		for i, l := range labs {
			begun := time.Now()
			var wg sync.WaitGroup
			for range pollers {
				wg.Go(func() {
					for range polls {
						if _, err := l.service.NextSteps(b.Context(), machines[i][rand.IntN(sizes[i])].pollInput(0)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			spent[i] += time.Since(begun)
		}
	}
	each := float64(b.N * pollers * polls)
	b.ReportMetric(float64(spent[0].Nanoseconds())/each, "ns/poll@10")
	b.ReportMetric(float64(spent[1].Nanoseconds())/each, "ns/poll@2000")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "ratio")
}

// settled registers hosts that are known and were asked everything a moment ago.
func (l *lab) settled(b *testing.B, n int) []*machine {
	b.Helper()
	c, env := l.cluster(b)
	machines := make([]*machine, n)
	for i := range machines {
		m := l.machine(env, i)
		m.address = fmt.Sprintf("198.51.%d.%d/16", i/250, i%250+2)
		_, err := l.service.Register(b.Context(), discovery.RegisterInput{
			InfraEnvID: env.ID, HostID: m.id, AgentVersion: "agent:1", AgentSteps: model.FineSteps,
		})
		require.NoError(b, err)
		inventory := m.inventory()
		m.set(b, func(h *model.Host) {
			h.Status, h.Inventory, h.Facts = model.HostKnown, &inventory, model.Facts{}
			for _, fact := range []model.Fact{
				"inventory", "connectivity-check", "tang-connectivity-check", "free-network-addresses", "dhcp-lease-allocate",
				"ntp-synchronizer", "domain-resolution", "verify-vips",
			} {
				h.Facts[fact] = model.FactRecord{AskedAt: l.now().Add(time.Hour), AnsweredAt: l.now().Add(time.Hour)} // not due for long
			}
		})
		machines[i] = m
	}
	// Nothing is evaluated: statuses and generations do not change.
	l.setCluster(b, c.ID, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	for {
		p, ok, err := l.store.ClaimRefresh(b.Context(), time.Hour)
		require.NoError(b, err)
		if !ok {
			break
		}
		require.NoError(b, l.store.FinishRefresh(b.Context(), p, l.now()))
	}
	// Autovacuum would run within a minute: run it now, not meanwhile.
	conn, err := pgx.Connect(b.Context(), l.url)
	require.NoError(b, err)
	_, err = conn.Exec(b.Context(), "vacuum analyze")
	require.NoError(b, err)
	require.NoError(b, conn.Close(b.Context()))
	return machines
}

// BenchmarkHeldPolls holds the polls of a thousand hosts again and again and reports
// what the process spends on one, and what that is of one core when each host polls
// every thirty seconds.
func BenchmarkHeldPolls(b *testing.B) {
	const hosts, every = 1000, 30
	l := newLab(b)
	machines := l.settled(b, hosts)
	l.run(b)
	spent := cpuTime()
	for b.Loop() {
		l.pass(store.CheckInEvery + time.Second) // each poll checks in
		var wg sync.WaitGroup
		for _, m := range machines {
			wg.Go(func() {
				if _, err := l.service.NextSteps(b.Context(), m.pollInput(50*time.Millisecond)); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
	each := float64((cpuTime() - spent).Microseconds()) / float64(b.N*hosts)
	b.ReportMetric(each, "cpu-us/poll")
	b.ReportMetric(each*hosts/every/1e6*100, "%-of-a-core")
}

// cpuTime returns the time that this process has spent, without PostgreSQL.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkRegister registers a host into a cluster of ten and one into a cluster of a
// thousand in turn, and takes them out again, while both clusters are evaluated: what
// the evaluation takes of the machine weighs on both, a lock it held would not.
func BenchmarkRegister(b *testing.B) {
	l := newLab(b)
	var envs [2]*model.InfraEnv
	for i, hosts := range []int{10, 1000} {
		_, envs[i] = l.cluster(b)
		for range hosts {
			l.registers(b, envs[i], uuid.New())
		}
	}
	l.run(b)
	var registered, removed [2]time.Duration
	for b.Loop() {
		id := uuid.New()
		for i, env := range envs {
			registered[i] += l.registers(b, env, id)
		}
		for i, env := range envs {
			begun := time.Now()
			require.NoError(b, l.store.DeleteHost(b.Context(), env.ID, id, func(*model.Host, *store.Tx) error { return nil }))
			removed[i] += time.Since(begun)
		}
	}
	report := func(what string, d [2]time.Duration) {
		b.ReportMetric(float64(d[0].Microseconds())/float64(b.N), "us/"+what+"@10")
		b.ReportMetric(float64(d[1].Microseconds())/float64(b.N), "us/"+what+"@1000")
		b.ReportMetric(float64(d[1])/float64(d[0]), what+"-ratio")
	}
	report("registered", registered)
	report("removed", removed)
}

// registers registers a host and returns how long that took.
func (l *lab) registers(b *testing.B, env *model.InfraEnv, id uuid.UUID) time.Duration {
	b.Helper()
	begun := time.Now()
	_, err := l.service.Register(b.Context(), discovery.RegisterInput{InfraEnvID: env.ID, HostID: id})
	require.NoError(b, err)
	return time.Since(begun)
}

// BenchmarkList streams the hosts of a cluster; the cost of a host must not grow with
// their number.
func BenchmarkList(b *testing.B) {
	for _, hosts := range []int{10, 1000} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			l := newLab(b)
			first := l.settled(b, hosts)[0]
			h, err := l.store.Host(b.Context(), first.infraEnv, first.id)
			require.NoError(b, err)
			n := 0
			for b.Loop() {
				require.NoError(b, l.store.Hosts(b.Context(), store.HostFilter{ClusterID: *h.ClusterID}, func(*model.Host) error {
					n++
					return nil
				}))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "us/host")
		})
	}
}

// BenchmarkRefresh evaluates a cluster whose hosts all reach each other.
func BenchmarkRefresh(b *testing.B) {
	for _, hosts := range []int{10, 100, 500} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			l := newLab(b)
			first := l.connected(b, hosts)[0]
			h, err := l.store.Host(b.Context(), first.infraEnv, first.id)
			require.NoError(b, err)
			for b.Loop() {
				l.refresh(b, *h.ClusterID)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*hosts), "us/host")
		})
	}
}

// BenchmarkReady measures the time from the last answer of five hosts to the first look that shows their cluster ready, by
// a client that looks every 50 ms.
func BenchmarkReady(b *testing.B) {
	l := newLab(b)
	l.run(b)
	var waits []time.Duration
	for b.Loop() {
		c, env := l.cluster(b)
		var mu sync.Mutex
		var answered time.Time
		ctx, stop := context.WithCancel(b.Context())
		var wg sync.WaitGroup
		for i := range 5 {
			m := l.machine(env, i)
			m.replied = func() {
				mu.Lock()
				answered = time.Now()
				mu.Unlock()
			}
			_, err := m.service.Register(b.Context(), discovery.RegisterInput{
				InfraEnvID: m.infraEnv, HostID: m.id, AgentVersion: "agent:1", AgentSteps: m.agentSteps,
			})
			require.NoError(b, err)
			wg.Go(func() { m.live(ctx) })
		}
		for {
			require.NoError(b, l.evaluation.BringUpToDate(b.Context(), store.Reading{ClusterID: c.ID}))
			if l.readCluster(b, c.ID).Status == model.ClusterReady {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		mu.Lock()
		waits = append(waits, time.Since(answered))
		mu.Unlock()
		stop()
		wg.Wait()
	}
	slices.Sort(waits)
	b.ReportMetric(waits[len(waits)/2].Seconds(), "s-p50")
	b.ReportMetric(waits[(len(waits)*95+99)/100-1].Seconds(), "s-p95")
}
