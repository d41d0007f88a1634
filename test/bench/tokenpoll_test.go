package bench_test

import (
	"testing"
)

// tokenHosts poll in turn, so that none exceeds the requests a second that its token is good for.
const tokenHosts = 500

// BenchmarkTokenPoll asks for the steps of hosts that have none as BenchmarkIdlePoll does, over HTTPS with the token of each, and without
// either. TLS sessions are kept, as agents keep them.
func BenchmarkTokenPoll(b *testing.B) {
	open, closed := newService(b), launch(&service{tb: b, defaults: true})
	clusters := []*cluster{open.newCluster(), closed.newCluster()}
	for _, c := range clusters {
		c.peers = 5
		c.discover(tokenHosts)
		c.pretend()
	}
	for b.Loop() {
		bursts := make([][]burst, len(clusters))
		for range pollRounds {
			for i, c := range clusters {
				bursts[i] = append(bursts[i], c.burst(c.machines))
			}
		}
		without, with := median(bursts[0]), median(bursts[1])
		b.ReportMetric(100*float64(with.asked)/float64(with.polls), "%asked")
		b.ReportMetric(microseconds(without.cost(without.used.total())), "cpu-us/poll")
		b.ReportMetric(microseconds(with.cost(with.used.service)), "cpu-us/token-poll-service")
		b.ReportMetric(microseconds(with.cost(with.used.database)), "cpu-us/token-poll-database")
		b.ReportMetric(float64(with.cost(with.used.total()))/float64(without.cost(without.used.total())), "token-cost/without")
	}
	b.ReportMetric(0, "ns/op")
}
