package e2e_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

// Clients that wait for a cluster give up when they read `error`. While one agent does not answer, a reset of a running
// installation takes its whole time; cluster and hosts show nothing but the reset all that time.
func TestResetOfARunningInstallationShowsNoError(t *testing.T) {
	t.Parallel()
	const limit = 10 * time.Second
	f := newFleet(t, "RESET_CLUSTER_TIMEOUT="+limit.String())
	s := shape{masters: 3, workers: 2, speed: 5} // hosts write their disks for 48 s
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.await(t, "a host that writes its disk", writesADisk)
	silent := f.machines["worker-1"]
	require.True(t, silent.signal(syscall.SIGSTOP))
	t.Cleanup(func() { silent.signal(syscall.SIGCONT) })

	_, err := f.client.ResetCluster(t.Context(), f.id)
	require.NoError(t, err)
	var seen []wire.ClusterStatus
	resetting := map[wire.HostStatus]time.Duration{}
	last := time.Now()
	f.await(t, "the end of the reset", func(c *wire.Cluster) bool {
		if len(seen) == 0 || seen[len(seen)-1] != c.Status {
			seen = append(seen, c.Status)
		}
		require.Subset(t, []wire.ClusterStatus{"installing", "insufficient", "pending-for-input"}, []wire.ClusterStatus{c.Status}, describe(c))
		hosts := map[wire.HostStatus]bool{}
		for i := range c.Hosts {
			hosts[c.Hosts[i].Status] = true
		}
		require.NotContains(t, hosts, wire.HostStatusError, describe(c))
		if hosts["resetting"] {
			resetting["resetting"] += time.Since(last)
		}
		last = time.Now()
		return resetting["resetting"] > 0 && !hosts["resetting"]
	})
	t.Logf("the cluster was %v; hosts were reset for %s", seen, resetting["resetting"].Round(time.Second/10))
	require.Greater(t, resetting["resetting"], limit/2, "every agent was quick to stop")
	require.True(t, silent.signal(syscall.SIGCONT))
	f.awaitStatus(t, wire.ClusterStatusReady)
}
