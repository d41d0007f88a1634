package bench_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// BenchmarkLargeCluster discovers 1,000 hosts in one cluster, each of which reports its
// links to all others, and lists them, and the hosts of a cluster of 100.
func BenchmarkLargeCluster(b *testing.B) {
	s := newService(b)
	small := s.newCluster()
	small.discover(largeCluster / 10)
	large := s.newCluster()
	discovery := s.measure(largeCluster, func() { large.discover(largeCluster) })
	for b.Loop() {
		b.ReportMetric(microseconds(discovery.used.total())/1000/largeCluster, "cpu-ms/host-discovered")
		b.ReportMetric(s.peakMB(), "MB-peak-discovery")
		var many, few effort
		var first, whole time.Duration
		for range clusters {
			few.add(s.measure(len(small.machines), func() { small.list("?with_inventory=true") }))
			many.add(s.measure(len(large.machines), func() { first, whole = large.list("?with_inventory=true") }))
		}
		b.ReportMetric(microseconds(few.used.total()/time.Duration(few.requests)), "cpu-us/host-listed")
		b.ReportMetric(
			(float64(many.used.total())/float64(many.requests))/(float64(few.used.total())/float64(few.requests)),
			"list-cost-1000/100",
		)
		b.ReportMetric(100*float64(first)/float64(whole), "%list-until-first-host")
		read := large.readWhole()
		b.ReportMetric(float64(read)/1e6, "MB-whole-cluster")
		b.ReportMetric(s.peakMB(), "MB-peak-lists")
	}
	b.ReportMetric(0, "ns/op")
}

// readWhole reads the cluster with all that is known of its hosts, and returns how much it is.
func (c *cluster) readWhole() int64 {
	c.tb.Helper()
	answer, err := http.Get(c.api + "/api/assisted-install/v2/clusters/" + c.id.String())
	require.NoError(c.tb, err)
	defer answer.Body.Close()
	require.Equal(c.tb, http.StatusOK, answer.StatusCode)
	size, err := io.Copy(io.Discard, answer.Body)
	require.NoError(c.tb, err)
	return size
}

// list reads the hosts as they arrive. It returns when the first one was there, and the last.
func (c *cluster) list(query string) (first, last time.Duration) {
	c.tb.Helper()
	begun := time.Now()
	answer, err := http.Get(c.api + "/api/assisted-install/v2/clusters/" + c.id.String() + "/hosts" + query)
	require.NoError(c.tb, err)
	defer answer.Body.Close()
	require.Equal(c.tb, http.StatusOK, answer.StatusCode)
	decoder := json.NewDecoder(answer.Body)
	_, err = decoder.Token()
	require.NoError(c.tb, err)
	var host wire.Host
	require.NoError(c.tb, decoder.Decode(&host))
	first = time.Since(begun)
	_, err = io.Copy(io.Discard, io.MultiReader(decoder.Buffered(), answer.Body))
	require.NoError(c.tb, err)
	return first, time.Since(begun)
}
