package bench_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	fleetClusters    = 20
	hostsPerCluster  = 50
	idleWindow       = time.Minute
	baselineWindow   = 20 * time.Second
	restarts         = 3
	deliveryClusters = 6
)

// BenchmarkThousandHosts runs a service with 1,000 hosts in 20 clusters that are ready to be installed.
func BenchmarkThousandHosts(b *testing.B) {
	s := newService(b)
	var fleet []*cluster
	var machines []*machine
	for range fleetClusters {
		c := s.newCluster()
		c.discover(hostsPerCluster)
		fleet, machines = append(fleet, c), append(machines, c.machines...)
	}
	require.Equal(b, "known 1000", s.statuses())
	b.Run("idle", func(b *testing.B) { s.with(b).idle(b, machines) })
	b.Run("delivery", func(b *testing.B) { s.with(b).delivery(b, fleet, machines) })
	b.Run("restart", func(b *testing.B) { s.with(b).restart(b) })
}

// with returns the same service in a benchmark below.
func (s *service) with(b *testing.B) *service {
	s.tb = b
	return s
}

// share returns the part of one processor that was used.
func (e effort) share() float64 { return 100 * float64(e.used.total()) / float64(e.took) }

// idle compares a service without connections with one that 1,000 agents wait at.
func (s *service) idle(b *testing.B, machines []*machine) {
	for b.Loop() {
		alone := s.measure(1, func() { time.Sleep(baselineWindow) })
		a := s.hold(machines)
		polls := a.polls.Load()
		held := s.measure(1, func() { time.Sleep(idleWindow) })
		b.ReportMetric(float64(a.polls.Load()-polls)/held.took.Seconds(), "polls/s")
		b.ReportMetric(s.residentMB(), "MB-resident")
		a.end()
		b.ReportMetric(alone.share(), "%core-alone")
		b.ReportMetric(held.share()-alone.share(), "%core-for-1000-connections")
	}
	b.ReportMetric(0, "ns/op")
}

// restart starts the service again on the data folder it has filled.
func (s *service) restart(b *testing.B) {
	for b.Loop() {
		var took []time.Duration
		for range restarts {
			s.stop()
			s.start()
			took = append(took, s.took)
		}
		b.ReportMetric(percentile(took, 50).Seconds(), "s-until-ready")
		b.ReportMetric(s.residentMB(), "MB-resident")
	}
	b.ReportMetric(0, "ns/op")
}
