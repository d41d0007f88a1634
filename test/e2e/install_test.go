package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"slipway/internal/client"
	"slipway/internal/model"
	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

// fast lets nothing take time on the machines.
var fast = shape{masters: 3, workers: 2, speed: 0}

func TestClusterIsInstalledAndItsHistoryTellsEverythingButSecrets(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.define(t, fast)
	f.discover(t, fast)
	f.install(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)

	password, err := f.client.ClusterCredentialsFile(t.Context(), f.id, "kubeadmin-password")
	require.NoError(t, err)
	require.NotEmpty(t, password)
	f.record(t, "ha")
	children := 0
	for _, h := range histories(t, f.dataDir) {
		if strings.HasPrefix(h.id, "host:") {
			children++
			stages := scheduled(h)
			for _, stage := range []string{"image-write", "reboot", "Wait for Configuring", "Wait for Joined", "Wait for Done"} {
				require.Equal(t, 1, stages[stage], "activities of %s: %v", h.id, stages)
			}
		}
	}
	require.Equal(t, 5, children, "one child for each host")
}

// scheduled counts the activities of a history by what they are for.
func scheduled(h history) map[string]int {
	counts := map[string]int{}
	for _, e := range h.opened.GetEvents() {
		if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			what, _, _ := strings.Cut(strings.Trim(string(e.GetUserMetadata().GetSummary().GetData()), `"`), ": ")
			counts[what]++
		}
	}
	return counts
}

func TestSingleNodeIsInstalled(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := shape{masters: 1, speed: 0}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
	f.record(t, "sno")
}

func TestAgentsOfTheV2APIAreInstalledWithOneStep(t *testing.T) {
	t.Parallel()
	f := newFleet(t, perInfraEnv)
	s := shape{masters: 3, workers: 2, speed: 600, agentSteps: "install"}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	f.nothingLost(t, true)
	for name, a := range f.accounts(t) {
		require.Equal(t, 1, a.commanded["install"], name)
		require.Zero(t, a.commanded["image-write"], name)
	}
	f.record(t, "v2")
}

func TestOneFailedHostIsRetriedAlone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := fast
	s.flags = map[string][]string{"worker-1": {"--fail", "image-write"}}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.await(t, "worker-1 to fail", func(c *wire.Cluster) bool {
		for i := range c.Hosts {
			if c.Hosts[i].RequestedHostname == "worker-1" && c.Hosts[i].Status == wire.HostStatusError {
				return c.Status == wire.ClusterStatusInstallingPendingUserAction
			}
		}
		return false
	})
	before := f.accounts(t)
	failed := before["worker-1"].host
	require.Contains(t, failed.StatusInfo, "coreos-installer")
	f.await(t, "the logs of the failed host", func(c *wire.Cluster) bool {
		for i := range c.Hosts {
			if c.Hosts[i].RequestedHostname == "worker-1" {
				return c.Hosts[i].LogsInfo == wire.LogsStateCompleted
			}
		}
		return false
	})
	other := before["master-1"].host
	_, err := f.client.ResetHost(t.Context(), other.InfraEnvID, other.ID)
	require.ErrorIs(t, err, model.ErrConflict, "a host that did not fail cannot be retried")

	_, err = f.client.ResetHost(t.Context(), failed.InfraEnvID, failed.ID)
	require.NoError(t, err)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	for name, a := range f.accounts(t) {
		want := 1
		if name == "worker-1" {
			want = 2
		}
		require.Equal(t, want, a.commanded["image-write"], name)
		require.Equal(t, want, a.commanded["disk-clean"], name)
		require.Equal(t, want, a.writes, name)
	}
	f.record(t, "retry")
}

func TestHostThatLosesItsNetworkIsRetriedOnceItIsBack(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "HOST_MAX_DISCONNECTION_TIME=5s")
	s := shape{masters: 3, workers: 2, speed: 200, flags: map[string][]string{"worker-1": {"--disconnect", "15s:image-write"}}}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	status := func(want wire.HostStatus) func(*wire.Cluster) bool {
		return func(c *wire.Cluster) bool {
			for i := range c.Hosts {
				if c.Hosts[i].RequestedHostname == "worker-1" {
					return c.Hosts[i].Status == want
				}
			}
			return false
		}
	}
	f.await(t, "worker-1 to be missed", status(wire.HostStatusError))
	lost := f.host(t, "worker-1")
	_, err := f.client.ResetHost(t.Context(), lost.InfraEnvID, lost.ID)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require a sign of it within 5s")
	await.True(t, func() bool {
		_, err = f.client.ResetHost(t.Context(), lost.InfraEnvID, lost.ID)
		return err == nil
	}, "the host is not back")
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	for name, a := range f.accounts(t) {
		require.LessOrEqual(t, a.writes, a.commanded["image-write"], name)
		if name != "worker-1" {
			require.Equal(t, 1, a.commanded["image-write"], name)
		}
	}
}

func TestWrongBootOrderIsDetectedAndLeftAgain(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := fast
	s.flags = map[string][]string{"master-1": {"--boot-live", "1"}}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	f.awaitStatus(t, wire.ClusterStatusInstalled)
	events, err := f.client.Events(t.Context(), client.EventQuery{ClusterID: f.id})
	require.NoError(t, err)
	pending := false
	for _, e := range events {
		pending = pending || strings.Contains(e.Message, "master-1 went from installing-in-progress to installing-pending-user-action")
	}
	require.True(t, pending, "the wrong boot order was not noticed")
}

func TestCancelledInstallationIsResetAndInstalledAgain(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	// Hosts write their disks for 16 s: one that has rebooted from its disk when the reset
	// comes would wait for somebody to boot it from the discovery image again.
	s := shape{masters: 3, workers: 2, speed: 15}
	f.define(t, s)
	f.discover(t, s)
	f.install(t)
	_, err := f.client.InstallCluster(t.Context(), f.id)
	require.ErrorIs(t, err, model.ErrConflict, "a second install command")
	// The bootstrap host begins its bootstrap before it writes its disk. One that has not begun needs no boot.
	f.await(t, "the bootstrap host writes its disk", func(c *wire.Cluster) bool {
		return slices.ContainsFunc(c.Hosts, func(h wire.Host) bool { return h.Bootstrap && writes(h) })
	})
	_, err = f.client.CancelCluster(t.Context(), f.id)
	require.NoError(t, err)
	f.awaitStatus(t, wire.ClusterStatusCancelled)
	require.Len(t, f.resetCluster(t), 1, "the bootstrap host is booted again")
	f.awaitStatus(t, wire.ClusterStatusReady)
	for name, a := range f.accounts(t) {
		require.Equal(t, wire.HostStatusKnown, a.host.Status, name)
	}
	f.record(t, "cancel")
	f.install(t)
	f.await(t, "a host that writes its disk again", writesADisk)
	f.resetCluster(t)
	f.awaitStatus(t, wire.ClusterStatusReady)
	f.record(t, "reset")
}

func writesADisk(c *wire.Cluster) bool {
	return slices.ContainsFunc(c.Hosts, writes)
}

func writes(h wire.Host) bool {
	return h.Progress.CurrentStage == wire.HostStage(model.StageWritingImageToDisk)
}
