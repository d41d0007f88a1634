package bench_test

import (
	"cmp"
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

// listed is a list that is measured; goals are milliseconds of processor time in the service, and in PostgreSQL. Goals of zero are none.
type listed struct {
	name, path        string
	service, database float64
	headers           []string // in pairs
	total             float64  // goal of both together
	runs              int      // listRuns when zero
	status            int      // 200 when zero
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
		bound := "/v2/infra-envs/" + env + "/hosts"
		for _, l := range []listed{
			{name: "bound-hosts-1000", path: bound, service: 45, database: 15},
			{name: "bound-hosts-1000-zstd", path: bound, headers: []string{"Accept-Encoding", "zstd"}},
			{name: "bound-hosts-1000-gzip", path: bound, headers: []string{"Accept-Encoding", "gzip"}},
			{name: "cluster-hosts-1000", path: "/v2/clusters/" + id + "/hosts", total: 23},
			{name: "cluster-hosts-1000-inventory", path: "/v2/clusters/" + id + "/hosts?with_inventory=true"},
			{name: "cluster-with-hosts-1000", path: "/v2/clusters/" + id, service: 45, database: 15},
			{name: "clusters-301", path: "/v2/clusters", service: 19, database: 10},
			{name: "clusters-301-with-hosts", path: "/v2/clusters?with_hosts=true"},
		} {
			s.list(b, l)
		}
		for name, path := range map[string]string{"unchanged-bound-hosts-1000": bound, "unchanged-clusters-301": "/v2/clusters"} {
			_, tag := s.read(path, http.StatusOK)
			s.list(b, listed{
				name: name, path: path, headers: []string{"If-None-Match", tag}, total: 0.3, runs: 500, status: http.StatusNotModified,
			})
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkListMemory lists 5,000 hosts, whose answer is 80 MB: memory of the service above what it has at rest.
func BenchmarkListMemory(b *testing.B) {
	s := launch(&service{tb: b, arguments: []string{"--new-hosts-per-minute", "0"}})
	many := s.newCluster()
	many.peers = listPeers
	many.discover(manyHosts)
	for b.Loop() {
		path := "/v2/infra-envs/" + many.infraEnv.String() + "/hosts"
		s.read(path, http.StatusOK)
		time.Sleep(rest)
		s.forgetPeak()
		idle := s.residentMB()
		size, _ := s.read(path, http.StatusOK)
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
	runs, status := float64(cmp.Or(l.runs, listRuns)), cmp.Or(l.status, http.StatusOK)
	size, _ := s.read(l.path, status, l.headers...) // the first reading fills caches
	e := s.measure(int(runs), func() {
		for range int(runs) {
			again, _ := s.read(l.path, status, l.headers...)
			require.InDelta(b, size, again, float64(size)/100) // times and what is compressed may have another length
		}
	})
	service := float64(e.used.service.Microseconds()) / 1000 / runs
	database := float64(e.used.database.Microseconds()) / 1000 / runs
	goal := "none"
	switch {
	case l.total > 0:
		goal = fmt.Sprintf("%.1f in both", l.total)
	case l.service > 0:
		goal = fmt.Sprintf("%.0f and %.0f", l.service, l.database)
	}
	b.Logf("%-30s %6.1f MB  service %6.2f ms  PostgreSQL %6.2f ms  (goal %s)  %s", l.name, float64(size)/1e6, service, database, goal,
		(e.took / time.Duration(runs)).Round(time.Microsecond))
	b.ReportMetric(service, "ms-service/"+l.name)
	b.ReportMetric(database, "ms-PostgreSQL/"+l.name)
}

// read reads an answer of the API, and returns how long it is on its way, and its tag. It asks for no compression unless a header does.
func (s *service) read(path string, status int, headers ...string) (size int64, tag string) {
	s.tb.Helper()
	request, err := http.NewRequestWithContext(s.tb.Context(), http.MethodGet, s.api+client.BasePath+path, nil)
	require.NoError(s.tb, err)
	request.Header.Set("Accept-Encoding", "identity")
	for n := 0; n < len(headers); n += 2 {
		request.Header.Set(headers[n], headers[n+1])
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(s.tb, err)
	defer answer.Body.Close()
	size, err = io.Copy(io.Discard, answer.Body)
	require.NoError(s.tb, err)
	require.Equal(s.tb, status, answer.StatusCode)
	return size, answer.Header.Get("Etag")
}
