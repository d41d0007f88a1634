package bench_test

import (
	"net/http"
	"testing"

	"slipway/internal/testing/healthy"
	"slipway/internal/wire"
)

// BenchmarkInventory takes the inventories of 1,000 hosts of a cluster: the first of each, one that is another than before, and the same
// once more. The cost has the evaluations of the cluster until all are done. The goal is a third of the 4.5 to 5.3 ms in both that
// openshift/assisted-service took for one of 1,000 hosts (measured on 2026-11-25, on another machine).
func BenchmarkInventory(b *testing.B) {
	const goal = 1.6 // milliseconds in both
	s := newService(b)
	l := s.dial()
	for b.Loop() {
		c := s.newCluster()
		c.peers = listPeers
		c.register(l, largeCluster)
		s.settled()
		for _, m := range c.machines { // asks for the inventory
			l.token = m.token
			l.send(b, m.poll, http.StatusOK)
		}
		for _, sent := range []string{"first", "changed", "unchanged"} {
			e := s.measure(largeCluster, func() {
				for _, m := range c.machines {
					inventory := m.inventory()
					if sent != "first" {
						inventory.Memory.UsableBytes -= 1 << 30
					}
					l.token = m.token
					l.send(b, post(m.path, healthy.Reply(wire.Step{StepType: wire.StepTypeInventory}, inventory)), http.StatusNoContent)
				}
				s.settled()
			})
			service, database := e.used.service/largeCluster, e.used.database/largeCluster
			b.Logf("%-9s inventory of %d hosts: service %v, PostgreSQL %v  (goal %.1f ms in both)", sent, largeCluster, service, database, goal)
			b.ReportMetric(microseconds(service), "us-service/"+sent)
			b.ReportMetric(microseconds(database), "us-PostgreSQL/"+sent)
		}
	}
	b.ReportMetric(0, "ns/op")
}
