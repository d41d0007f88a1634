package e2e_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
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

	names := f.names(t)
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
	require.LessOrEqual(t, len(f.bootAgain(t, names)), 1, "the bootstrap host, if it had begun")
	f.awaitStatus(t, wire.ClusterStatusReady)
}

// What a bootstrap started runs on its host until that is booted: the next installation takes nothing of it.
func TestSingleNodePastItsBootstrapIsInstalledAgainAfterABoot(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := shape{masters: 1, speed: 30}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.await(t, "a host that writes its disk", writesADisk)
	root := filepath.Join(f.machineDir("master-0"), "root")
	first, err := os.ReadFile(filepath.Join(root, "opt/install-dir/bootstrap.ign"))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(root, "opt/openshift/.bootkube.done"))
	names := f.names(t)
	_, err = f.client.ResetCluster(t.Context(), f.id)
	require.NoError(t, err)
	f.await(t, "a host that is to be booted", func(c *wire.Cluster) bool {
		return c.Hosts[0].Status == wire.HostStatusResettingPendingUserAction
	})
	_, err = f.client.InstallCluster(t.Context(), f.id)
	require.ErrorIs(t, err, model.ErrConflict, "its host is not booted yet")
	require.FileExists(t, filepath.Join(root, "opt/openshift/.bootkube.done"), "a live image keeps what it has until it is booted")

	require.Equal(t, []string{"master-0"}, f.bootAgain(t, names))
	f.awaitStatus(t, wire.ClusterStatusReady)
	require.NoFileExists(t, filepath.Join(root, "opt/openshift/.bootkube.done"))
	f.install(t)
	f.await(t, "a host that writes its disk", writesADisk)
	second, err := os.ReadFile(filepath.Join(root, "opt/install-dir/bootstrap.ign"))
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	a := f.accounts(t)["master-0"]
	require.Equal(t, a.commanded["image-write"], a.writes, "one write for a command")
	require.Equal(t, 2, a.writes, "one for an installation")
}

// names lists the machines of the hosts: a host that was reset has no name until it is discovered again.
func (f *fleet) names(t *testing.T) map[uuid.UUID]string {
	t.Helper()
	names := map[uuid.UUID]string{}
	for name := range f.machines {
		names[f.host(t, name).ID] = name
	}
	return names
}

// resetCluster resets a cluster and boots the hosts whose user has to; it returns their names.
func (f *fleet) resetCluster(t *testing.T) []string {
	t.Helper()
	names := f.names(t)
	_, err := f.client.ResetCluster(t.Context(), f.id)
	require.NoError(t, err)
	return f.bootAgain(t, names)
}

// bootAgain boots the hosts that wait for it after a reset from the live image, once all have been reset.
func (f *fleet) bootAgain(t *testing.T, names map[uuid.UUID]string) []string {
	t.Helper()
	var waiting []string
	f.await(t, "the end of the reset", func(c *wire.Cluster) bool {
		waiting = nil
		for i := range c.Hosts {
			switch h := &c.Hosts[i]; {
			case h.Status == wire.HostStatusResetting, h.Progress.CurrentStage != "":
				return false
			case h.Status == wire.HostStatusResettingPendingUserAction:
				waiting = append(waiting, names[h.ID])
			}
		}
		return true
	})
	for _, name := range waiting {
		require.True(t, f.machines[name].signal(syscall.SIGUSR2), "boot the live image")
	}
	return waiting
}
