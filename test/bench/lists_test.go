package bench_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/client"
)

const (
	listPeers = 5 // a host of these clusters reports on
	manyHosts = 5000
	fewHosts  = 4 // of each of 300 clusters
	listRuns  = 10
	// rest is when the service has returned memory of before.
	rest = 30 * time.Second
)

// listed is a list that is measured; goals are milliseconds of processor time in the service, and in PostgreSQL. Goals of zero: none.
type listed struct {
	name, path        string
	service, database float64
}

// BenchmarkLists reads what clients of a large site list: the hosts of an InfraEnv with 1,000, of a cluster with 1,000, and 300 clusters.
// Goals are of docs/performance.md; the hosts of a cluster have theirs in both together.
func BenchmarkLists(b *testing.B) {
	s := newService(b)
	large := s.newCluster()
	large.peers = listPeers
	large.discover(largeCluster)
	for n := range 300 {
		c := s.newClusterOf(fmt.Sprintf("bench-%d", n), "4.22", pullSecret)
		c.register(s.dial(), fewHosts)
		c.answer()
	}
	s.settled()
	id, env := large.id.String(), large.infraEnv.String()
	for b.Loop() {
		for _, l := range []listed{
			{"bound-hosts-1000", "/v2/infra-envs/" + env + "/hosts", 45, 15},
			{"cluster-hosts-1000", "/v2/clusters/" + id + "/hosts", 12, 11},
			{"cluster-hosts-1000-inventory", "/v2/clusters/" + id + "/hosts?with_inventory=true", 12, 11},
			{"cluster-with-hosts-1000", "/v2/clusters/" + id, 45, 15},
			{"clusters-301", "/v2/clusters", 19, 10},
			{"clusters-301-with-hosts", "/v2/clusters?with_hosts=true", 0, 0},
		} {
			s.list(b, l)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkListMemory lists 5,000 hosts, whose answer is 80 MB: memory of the service above what it has at rest.
func BenchmarkListMemory(b *testing.B) {
	s := newService(b)
	many := s.newCluster()
	many.peers = listPeers
	many.discover(manyHosts)
	for b.Loop() {
		path := "/v2/infra-envs/" + many.infraEnv.String() + "/hosts"
		s.read(path)
		time.Sleep(rest)
		s.forgetPeak()
		idle := s.residentMB()
		size := s.read(path)
		peak := s.peakMB()
		b.Logf("%.1f MB of %d hosts: %.1f MB at rest, at most %.1f MB: %.1f MB more (goal 20)",
			float64(size)/1e6, manyHosts, idle, peak, peak-idle)
		b.ReportMetric(peak-idle, "MB-more-for-list-5000")
	}
	b.ReportMetric(0, "ns/op")
}

// list measures a list, and prints what it takes beside its goals.
func (s *service) list(b *testing.B, l listed) {
	b.Helper()
	size := s.read(l.path) // the first reading fills caches
	e := s.measure(listRuns, func() {
		for range listRuns {
			require.Equal(b, size/100, s.read(l.path)/100) // when hosts were heard may have another length
		}
	})
	service := float64(e.used.service.Microseconds()) / 1000 / listRuns
	database := float64(e.used.database.Microseconds()) / 1000 / listRuns
	b.Logf("%-30s %6.1f MB  service %6.1f ms (goal %.0f)  PostgreSQL %6.1f ms (goal %.0f)  %s", l.name, float64(size)/1e6,
		service, l.service, database, l.database, (e.took / listRuns).Round(time.Millisecond))
	b.ReportMetric(service, "ms-service/"+l.name)
	b.ReportMetric(database, "ms-PostgreSQL/"+l.name)
}

// read reads an answer of the API and returns how long it is.
func (s *service) read(path string) int64 {
	s.tb.Helper()
	answer, err := http.Get(s.api + client.BasePath + path)
	require.NoError(s.tb, err)
	defer answer.Body.Close()
	size, err := io.Copy(io.Discard, answer.Body)
	require.NoError(s.tb, err)
	require.Equal(s.tb, http.StatusOK, answer.StatusCode)
	return size
}
