package discovery_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/duesteps"
	"slipway/internal/model"
	"slipway/internal/testing/healthy"
	"slipway/internal/wire"
)

// BenchmarkInventoryReply takes changed inventories of hosts of a cluster of ten and of a cluster of a thousand in turn, while both
// clusters are evaluated with all validations. It reports the cost of a reply in each and the ratio.
func BenchmarkInventoryReply(b *testing.B) {
	sizes, spent := [2]int{10, 1000}, [2]time.Duration{}
	l := newLab(b)
	var machines [2][]*machine
	for i, hosts := range sizes {
		machines[i] = l.connected(b, hosts)
	}
	l.run(b)
	cpus := 8
	for b.Loop() {
		cpus = 24 - cpus // 8 and 16 in turn: both pass every rule
		for i := range sizes {
			m := machines[i][rand.IntN(sizes[i])]
			m.cpus = cpus
			inventory, err := json.Marshal(m.inventory())
			require.NoError(b, err)
			begun := time.Now()
			err = l.service.Reply(b.Context(), m.infraEnv, m.id, wire.StepReply{StepType: wire.StepTypeInventory, Output: string(inventory)})
			spent[i] += time.Since(begun)
			require.NoError(b, err)
		}
	}
	b.ReportMetric(float64(spent[0].Microseconds())/float64(b.N), "us/reply@10")
	b.ReportMetric(float64(spent[1].Microseconds())/float64(b.N), "us/reply@1000")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "ratio")
}

// connected makes settled hosts that all reach each other, in a cluster that was evaluated and can still be changed.
func (l *lab) connected(b *testing.B, hosts int) []*machine {
	b.Helper()
	machines := l.settled(b, hosts)
	h, err := l.store.Host(b.Context(), machines[0].infraEnv, machines[0].id)
	require.NoError(b, err)
	all, err := l.store.ClusterHosts(b.Context(), *h.ClusterID)
	require.NoError(b, err)
	remotes, err := duesteps.NewRemotes(all)
	require.NoError(b, err)
	for i, m := range machines {
		args, err := duesteps.Args(wire.StepTypeConnectivityCheck, duesteps.ArgsInput{Host: all[i], Remotes: remotes})
		require.NoError(b, err)
		report := healthy.Reached(healthy.Arg[wire.ConnectivityCheckParams](wire.Step{Args: args}))
		m.set(b, func(h *model.Host) { h.Connectivity = model.PackConnectivity(report) })
	}
	l.setCluster(b, *h.ClusterID, func(c *model.Cluster) { c.Status = model.ClusterInsufficient })
	l.refresh(b, *h.ClusterID)
	return machines
}
