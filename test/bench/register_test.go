package bench_test

import (
	"net/http"
	"testing"
	"time"
)

const (
	largeCluster = 1000
	// sample is how many hosts around the first and the last are compared; clusters how
	// often, one after the other.
	sample   = 20
	clusters = 5
)

// BenchmarkRegister takes 1,000 hosts into one cluster, one by one, and out again.
func BenchmarkRegister(b *testing.B) {
	s := newService(b)
	l := s.dial()
	for b.Loop() {
		var in, out comparison
		for range clusters {
			c := s.newCluster()
			c.register(l, sample/2)
			in.first.add(s.measure(sample, func() { c.register(l, sample) }))
			c.register(l, largeCluster-len(c.machines)-sample)
			in.last.add(s.measure(sample, func() { c.register(l, sample) }))
			out.last.add(s.measure(sample, func() { c.deregister(l, sample) }))
			c.deregister(l, len(c.machines)-sample-sample/2)
			out.first.add(s.measure(sample, func() { c.deregister(l, sample) }))
		}
		in.report(b, "register")
		out.report(b, "deregister")
	}
	b.ReportMetric(0, "ns/op")
}

// deregister takes the last n hosts out.
func (c *cluster) deregister(l *line, n int) {
	c.tb.Helper()
	for range n {
		last := len(c.machines) - 1
		l.send(c.tb, c.machines[last].deregister(), http.StatusNoContent)
		c.machines = c.machines[:last]
	}
}

// effort is the cost of a number of requests.
type effort struct {
	requests int
	took     time.Duration
	used     usage
}

func (e *effort) add(more effort) {
	e.requests, e.took = e.requests+more.requests, e.took+more.took
	e.used.service, e.used.database = e.used.service+more.used.service, e.used.database+more.used.database
}

// measure does something that makes a number of requests. Evaluations of the cluster
// that run beside them are part of what they cost.
func (s *service) measure(requests int, do func()) effort {
	s.tb.Helper()
	before, begun := s.usage(), time.Now()
	do()
	return effort{requests, time.Since(begun), s.usage().since(before)}
}

// comparison is the same done in a cluster that is nearly empty, and in one of 1,000.
type comparison struct{ first, last effort }

func (c comparison) report(b *testing.B, what string) {
	b.ReportMetric(microseconds(c.first.used.total()/time.Duration(c.first.requests)), "cpu-us/"+what)
	b.ReportMetric(float64(c.last.used.total())/float64(c.first.used.total()), what+"-cost-1000th/10th")
	b.ReportMetric(float64(c.last.took)/float64(c.first.took), what+"-time-1000th/10th")
}
