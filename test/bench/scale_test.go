package bench_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

var (
	scaleHosts  = flag.Int("scale-hosts", 1000, "discovered hosts of BenchmarkScale, ten to a cluster")
	scaleWindow = flag.Duration("scale-window", time.Minute, "how long BenchmarkScale measures hosts that wait")
	scaleStorm  = flag.Int("scale-storm", 500, "hosts of BenchmarkScale that boot within a minute")
	scaleRate   = flag.Float64("scale-rate", 2000, "single nodes that BenchmarkScale installs in an hour")
	scaleTime   = flag.Duration("scale-time", 2*time.Minute, "how long it installs them")
	scaleBurst  = flag.Int("scale-burst", 50, "single nodes that BenchmarkScale installs at once")
)

const (
	scalePerCluster = 10
	// scaleBeside is how many hosts wait beside installations.
	scaleBeside = 500
	stormTime   = time.Minute
	// powerCut is longer than the service waits before it takes a machine without the token of its host: as long as servers start.
	powerCut = 3*time.Minute + 15*time.Second
	// discoveryLimit is for all hosts of a large site, which real ones do not have to do within minutes.
	discoveryLimit = 30 * time.Minute
	scaleLook      = 500 * time.Millisecond
)

// BenchmarkScale measures what one machine holds, over HTTPS with tokens: docs/scale.md. make bench-scale runs it in full size.
func BenchmarkScale(b *testing.B) {
	b.Run("hosts", func(b *testing.B) {
		for b.Loop() {
			measureSite(b)
		}
		b.ReportMetric(0, "ns/op")
	})
	b.Run("installations", func(b *testing.B) {
		for b.Loop() {
			measureSingleNodes(b)
		}
		b.ReportMetric(0, "ns/op")
	})
}

// site is a service with hosts in clusters of ten.
type site struct {
	*service
	clusters []*cluster
	all      *cluster // the machines of all of them
}

func newSite(s *service, version, pullSecret string, hosts int) *site {
	s.tb.Helper()
	p := &site{service: s, all: &cluster{service: s}}
	begun := time.Now()
	l := s.dial()
	for n := 0; n < hosts; n += scalePerCluster {
		c := s.newClusterOf(fmt.Sprintf("site-%d", n/scalePerCluster), version, pullSecret)
		c.register(l, min(scalePerCluster, hosts-n))
		p.clusters = append(p.clusters, c)
		p.all.machines = append(p.all.machines, c.machines...)
	}
	s.tb.Logf("%d hosts registered after %s", hosts, time.Since(begun).Round(time.Second))
	eventually(s.tb, "hosts discovered", discoveryLimit, func() bool {
		return p.all.answer() == 0 && count(s, `select count(*) from hosts where status = 'discovering'`) == 0
	})
	s.settled()
	s.tb.Logf("%d hosts known after %s: %s", hosts, time.Since(begun).Round(time.Second), s.statuses())
	return p
}

// measureSite measures hosts that wait, and then hosts that all boot within a minute beside the rest that waits.
func measureSite(b *testing.B) {
	arguments, save := profiled(b)
	s := launch(&service{tb: b, defaults: true, arguments: arguments})
	p := newSite(s, "4.22", pullSecret, *scaleHosts)
	asking := s.pollFor(waitSeconds, p.all.machines)
	asking.settle()
	waiting := s.measure(1, func() { time.Sleep(*scaleWindow) })
	seen := asking.take()
	require.Empty(b, seen.lost)
	b.Logf("%d hosts wait: service %.2f core, PostgreSQL %.2f core (goal 0.5 and 0.3); %.0f MB resident (goal 600); "+
		"%d polls, p99 %s (goal 50 ms); database %.1f kB a host",
		*scaleHosts, waiting.used.service.Seconds()/waiting.took.Seconds(), waiting.used.database.Seconds()/waiting.took.Seconds(),
		s.residentMB(), len(seen.took)+len(seen.late), percentile(seen.took, 99).Round(100*time.Microsecond),
		s.bytesOf("slipway")/1e3/float64(*scaleHosts))
	b.ReportMetric(waiting.used.service.Seconds()/waiting.took.Seconds(), "core-service-waiting")
	b.ReportMetric(waiting.used.database.Seconds()/waiting.took.Seconds(), "core-PostgreSQL-waiting")
	b.ReportMetric(s.residentMB(), "MB-waiting")
	save()
	asking.end()

	boots := p.all.machines[:min(*scaleStorm, len(p.all.machines))]
	rest := p.all.machines[len(boots):]
	asking = s.pollFor(waitSeconds, rest)
	time.Sleep(powerCut)
	b.Logf("hosts after the power cut: %s", s.statuses())
	asking.take()
	s.forgetPeak()
	storm := s.storm(p, len(boots))
	b.Logf("%d hosts boot within %s: answered and evaluated %s after the last began (goal 2m); refused for a moment %d, failed %d; "+
		"at most %.0f MB", len(boots), stormTime, storm.took.Round(100*time.Millisecond), storm.again, storm.failed, s.peakMB())
	require.Zero(b, storm.failed)
	b.ReportMetric(storm.took.Seconds(), "s-storm")
	b.ReportMetric(s.peakMB(), "MB-storm")
	asking.end()
	seen = asking.take()
	require.Empty(b, seen.lost)
	if len(seen.took) > 0 {
		b.Logf("the %d others meanwhile: p99 %s", len(rest), percentile(seen.took, 99).Round(100*time.Microsecond))
	}
}

// bytesOf returns the size of the tables of schemas with their indexes.
func (s *service) bytesOf(schemas ...string) (size float64) {
	s.tb.Helper()
	require.NoError(s.tb, s.tables.QueryRow(s.tb.Context(), `
		select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'r' and n.nspname = any ($1)`, schemas).Scan(&size))
	return size
}

// storming is the outcome of a storm.
type storming struct {
	took          time.Duration
	again, failed int64
}

// storm boots the first hosts of a site evenly within a minute: each registers with the token of its image, and answers what it is asked
// until nothing is due. Hosts that are refused for the moment come again, as agents do.
func (s *service) storm(p *site, hosts int) (out storming) {
	s.tb.Helper()
	var again, failed atomic.Int64
	var group sync.WaitGroup
	begun := time.Now()
	for n, m := range p.all.machines[:hosts] {
		c := p.clusters[n/scalePerCluster]
		at := stormTime * time.Duration(n+1) / time.Duration(hosts)
		group.Go(func() {
			time.Sleep(time.Until(begun.Add(at)))
			refused, err := c.boot(m)
			again.Add(refused)
			if err != nil {
				failed.Add(1)
				s.tb.Logf("host %s: %v", m.id, err)
			}
		})
	}
	group.Wait()
	eventually(s.tb, "hosts evaluated", discoveryLimit, func() bool {
		return count(s, `select count(*) from pulses where dirty > evaluated`) == 0 &&
			count(s, `select count(*) from hosts where status = 'discovering' and deleted_at is null`) == 0
	})
	return storming{took: time.Since(begun.Add(stormTime)), again: again.Load(), failed: failed.Load()}
}

// boot registers a machine that is known already, and answers until nothing is due.
func (c *cluster) boot(m *machine) (again int64, err error) {
	l, err := c.connect()
	if err != nil {
		return 0, err
	}
	defer l.close()
	for registered := false; !registered; {
		l.token = c.token
		status, body, err := l.call(m.register(), callLimit)
		if err != nil {
			return again, err
		}
		if status != http.StatusCreated && status != http.StatusTooManyRequests {
			return again, fmt.Errorf("register: answered %d %s", status, body)
		}
		if registered = l.renewed != ""; !registered {
			again++
			time.Sleep(time.Second)
		}
	}
	m.token, l.renewed = l.renewed, ""
	for {
		m.setClock()
		steps, err := m.answer(l, m.poll, callLimit)
		if err != nil || len(steps) == 0 {
			return again, err
		}
	}
}

// measureSingleNodes installs single nodes at a rate, and many at once, beside hosts that wait.
func measureSingleNodes(b *testing.B) {
	i := newInstallerOf(b, &service{defaults: true})
	beside := newSite(i.service, release, i.pullSecret, scaleBeside)
	asking := i.pollFor(waitSeconds, beside.all.machines)
	defer asking.end()
	rows, histories := i.bytesOf("slipway"), i.bytesOf("temporal", "temporal_visibility")
	asking.settle()
	i.forgetPeak()
	nodes := int(*scaleRate * scaleTime.Hours())
	var took durations
	run := i.measure(nodes, func() { i.installSingleNodes(&took, nodes, *scaleTime, func() {}) })
	seen := asking.take()
	require.Empty(b, seen.lost)
	b.Logf("%d single nodes in %s (%.0f an hour): service %.2f core, PostgreSQL %.2f core; from the definition to installed p50 %s, p99 %s; "+
		"polls p99 %s (goal 50 ms); at most %.0f MB", nodes, run.took.Round(time.Second), float64(nodes)/run.took.Hours(),
		run.used.service.Seconds()/run.took.Seconds(), run.used.database.Seconds()/run.took.Seconds(),
		percentile(took.list, 50).Round(100*time.Millisecond), percentile(took.list, 99).Round(100*time.Millisecond),
		percentile(seen.took, 99).Round(100*time.Microsecond), i.peakMB())
	b.Logf("an installation: processor time %s + %s, database of the service %.0f kB, of Temporal %.0f kB",
		(run.used.service / time.Duration(nodes)).Round(time.Millisecond), (run.used.database / time.Duration(nodes)).Round(time.Millisecond),
		(i.bytesOf("slipway")-rows)/1e3/float64(nodes), (i.bytesOf("temporal", "temporal_visibility")-histories)/1e3/float64(nodes))
	b.ReportMetric(float64(percentile(seen.took, 99))/1e6, "ms-poll-p99-beside-rate")
	b.ReportMetric(microseconds(run.used.total())/1000/float64(nodes), "cpu-ms/single-node")

	i.forgetPeak()
	var together durations
	var begun time.Time
	i.installSingleNodes(&together, *scaleBurst, 0, func() { begun = time.Now(); asking.take() })
	seen = asking.take()
	require.Empty(b, seen.lost)
	b.Logf("%d single nodes at once: all installed after %s; polls p99 %s; at most %.0f MB", *scaleBurst,
		time.Since(begun).Round(time.Second), percentile(seen.took, 99).Round(100*time.Microsecond), i.peakMB())
	b.ReportMetric(time.Since(begun).Seconds(), "s-single-nodes-at-once")
}

// durations are collected by several goroutines.
type durations struct {
	mu   sync.Mutex
	list []time.Duration
}

func (d *durations) add(one time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, one)
}

// installSingleNodes installs clusters of one node, whose definitions are spread evenly over a time. Without a time all are made ready
// first, then together is called, and they are installed at once.
func (i *installer) installSingleNodes(took *durations, nodes int, over time.Duration, together func()) {
	i.tb.Helper()
	var group, ready sync.WaitGroup
	at := make(chan struct{})
	failed := make(chan error, nodes)
	preparing := make(chan struct{}, discoverers) // at once, where all are prepared together
	begun := time.Now()
	ready.Add(nodes)
	for n := range nodes {
		group.Go(func() {
			wait := func() { ready.Done() }
			if over > 0 {
				time.Sleep(time.Until(begun.Add(over * time.Duration(n) / time.Duration(nodes))))
			} else {
				preparing <- struct{}{}
				wait = func() { <-preparing; ready.Done(); <-at }
			}
			since := time.Now()
			if err := i.installSingleNode(n, wait); err != nil {
				failed <- fmt.Errorf("single node %d: %w", n, err)
			}
			took.add(time.Since(since))
		})
	}
	if over == 0 {
		ready.Wait()
		together()
		close(at)
	}
	group.Wait()
	close(failed)
	for err := range failed {
		require.NoError(i.tb, err)
	}
}

// installSingleNode defines a cluster of one node, discovers it, calls ready, and installs it.
func (i *installer) installSingleNode(n int, ready func()) error {
	var once sync.Once
	defer once.Do(ready)
	ctx := i.tb.Context()
	c, err := i.singleNode(ctx, fmt.Sprintf("node-%d-%d", time.Now().UnixNano(), n))
	if err != nil {
		return err
	}
	m := newMachine(c.infraEnv, c.agent, n, 0)
	c.machines = []*machine{m}
	if _, err := c.boot(m); err != nil {
		return err
	}
	a := i.holdWithin(time.Millisecond, c.machines)
	defer a.end()
	if err := c.becomes(ctx, wire.ClusterStatusReady); err != nil {
		return err
	}
	once.Do(ready)
	if _, err := i.client.InstallCluster(ctx, c.id); err != nil {
		return err
	}
	if err := c.becomes(ctx, wire.ClusterStatusFinalizing); err != nil {
		return err
	}
	if err := c.reportCompletion(ctx); err != nil {
		return err
	}
	return c.becomes(ctx, wire.ClusterStatusInstalled)
}

// singleNode defines a cluster of one node with the environment it boots from.
func (i *installer) singleNode(ctx context.Context, name string) (*cluster, error) {
	domain, network, one := "example.com", wire.ClusterCreateParamsNetworkType("OVNKubernetes"), 1
	defined, err := i.client.RegisterCluster(ctx, wire.ClusterCreateParams{
		Name: name, OpenshiftVersion: release, PullSecret: i.pullSecret, BaseDNSDomain: &domain, NetworkType: &network, ControlPlaneCount: &one,
		MachineNetworks: &[]wire.MachineNetwork{{Cidr: "10.0.0.0/16"}},
	})
	if err != nil {
		return nil, err
	}
	env, err := i.client.RegisterInfraEnv(ctx, wire.InfraEnvCreateParams{Name: name, PullSecret: i.pullSecret, ClusterID: &defined.ID})
	if err != nil {
		return nil, err
	}
	return i.booted(ctx, defined.ID, env.ID)
}

// failures are the statuses that an installation without a user does not leave.
var failures = []wire.ClusterStatus{
	wire.ClusterStatusError, wire.ClusterStatusCancelled, wire.ClusterStatusInstallingPendingUserAction,
}

// becomes waits until a cluster has a status, unless its installation has failed.
func (c *cluster) becomes(ctx context.Context, want wire.ClusterStatus) error {
	deadline := time.Now().Add(installationLimit)
	for {
		var status wire.ClusterStatus
		var info string
		err := c.tables.QueryRow(ctx, `select status, status_info from clusters where id = $1`, c.id).Scan(&status, &info)
		switch {
		case err != nil:
			return err
		case status == want:
			return nil
		case slices.Contains(failures, status), time.Now().After(deadline):
			return fmt.Errorf("wait for %s: found %s (%s)", want, status, info)
		}
		time.Sleep(scaleLook)
	}
}
