package bench_test

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	pollers    = 50
	pollWindow = 4 * time.Second
	pollRounds = 5
)

// BenchmarkIdlePoll asks for the steps of hosts that have none, over HTTP, as fast as 50
// agents can. What the agents themselves use is part of polls/s, not of the costs.
func BenchmarkIdlePoll(b *testing.B) {
	s := newService(b)
	large := s.newCluster()
	large.peers = 50
	large.discover(2000)
	large.pretend()
	small := s.newCluster()
	small.discover(10)
	b.Logf("hosts by status: %s", s.statuses())
	for b.Loop() {
		var few, many, sample []burst
		for range pollRounds {
			few = append(few, small.burst(small.machines))
			sample = append(sample, large.burst(large.machines[:10]))
			many = append(many, large.burst(large.machines))
		}
		tens, thousands, same := median(few), median(many), median(sample)
		b.ReportMetric(tens.rate(), "polls/s")
		b.ReportMetric(microseconds(tens.cost(tens.used.service)), "cpu-us/poll-service")
		b.ReportMetric(microseconds(tens.cost(tens.used.database)), "cpu-us/poll-database")
		b.ReportMetric(thousands.rate(), "polls/s-2000-hosts")
		b.ReportMetric(float64(thousands.cost(thousands.used.total()))/float64(tens.cost(tens.used.total())), "cost-2000-hosts/10-hosts")
		b.ReportMetric(float64(same.cost(same.used.total()))/float64(tens.cost(tens.used.total())), "cost-10-of-2000/10-hosts")
		b.ReportMetric(100*float64(thousands.asked)/float64(thousands.polls), "%asked")
	}
	b.ReportMetric(0, "ns/op")
}

// burst is a time of polling.
type burst struct {
	polls, asked int64 // asked polls had steps
	took         time.Duration
	used         usage
}

func (p burst) rate() float64 { return float64(p.polls) / p.took.Seconds() }

// cost returns the share of one poll.
func (p burst) cost(used time.Duration) time.Duration { return used / time.Duration(p.polls) }

// median returns the burst with the middle cost.
func median(bursts []burst) burst {
	return middle(bursts, func(p burst) float64 { return float64(p.cost(p.used.total())) })
}

// burst polls for the machines in turn.
func (c *cluster) burst(machines []*machine) burst {
	c.tb.Helper()
	lines := make([]*line, pollers)
	for i := range lines {
		var err error
		lines[i], err = c.connect()
		require.NoError(c.tb, err)
		defer lines[i].close()
	}
	failures := make([]error, pollers)
	var next, asked atomic.Int64
	var group sync.WaitGroup
	before, begun := c.usage(), time.Now()
	for i, l := range lines {
		group.Go(func() {
			for time.Since(begun) < pollWindow {
				m := machines[int(next.Add(1))%len(machines)]
				l.token = m.token // several lines may send one token
				status, body, err := l.call(m.poll, callLimit)
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("poll: answered %d %s", status, body)
				}
				if err != nil {
					failures[i] = err
					return
				}
				if !bytes.Contains(body, idleAnswer) {
					asked.Add(1)
				}
			}
		})
	}
	group.Wait()
	out := burst{polls: next.Load(), asked: asked.Load(), took: time.Since(begun), used: c.usage().since(before)}
	for _, err := range failures {
		require.NoError(c.tb, err)
	}
	return out
}
