package installation_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/service/installation"
)

// arm makes a workflow wait for a step of a host.
func (b bench) arm(t *testing.T, h *model.Host, clusterID uuid.UUID) {
	t.Helper()
	_, err := b.store.ArmActivity(t.Context(), model.PendingActivity{
		ID: h.ID.String(), Kind: model.ActivityStep, ClusterID: clusterID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID,
		Type: "image-write", Args: []string{"{}"}, WorkflowID: "host:x", RunID: "run-1", ActivityID: "image-write 1",
		TaskToken: []byte("token"), Attempt: 1, HeartbeatEvery: time.Minute,
	})
	require.NoError(t, err)
}

func (b bench) armed(t *testing.T, h *model.Host) bool {
	t.Helper()
	steps, err := b.store.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, b.store.Now().Add(time.Hour)) // also what was handed out before
	require.NoError(t, err)
	return len(steps) > 0
}

func TestNothingIsAskedOfHostsWhenAnInstallationIsOver(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(bench, *model.Cluster) error{
		"cancelled": func(b bench, c *model.Cluster) error { return b.Cancel(t.Context(), c.ID) },
		"failed": func(b bench, c *model.Cluster) error {
			return b.FailCluster(t.Context(), c.ID, "too many failed", false)
		},
		"reset": func(b bench, c *model.Cluster) error { return b.FinishReset(t.Context(), c.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c := b.cluster(t, model.ClusterInstalling, model.HostInstalling, "", 1)
			h := b.hosts(t, c)[0]
			b.arm(t, h, c.ID)
			require.True(t, b.armed(t, h))
			require.NoError(t, end(b, c))
			require.False(t, b.armed(t, h), "it would write its disk for nobody")
		})
	}
}

func TestWaitOfAnOldInstallationLeavesAHostThatLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.addition(t, model.HostInstallingInProgress, true, nil)
	require.NoError(t, b.Fail(t.Context(), h.InfraEnvID, h.ID, "I/O error"))
	_, err := b.AcceptReclaim(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	b.arm(t, h, *h.ClusterID)
	require.NoError(t, b.GiveUp(t.Context(), h.InfraEnvID, h.ID))
	require.NoError(t, b.Fail(t.Context(), h.InfraEnvID, h.ID, "time ran out"))
	require.Equal(t, model.HostUnbindingPendingUserAction, b.host(t, h).Status)
	require.True(t, b.armed(t, h))
}

func TestHostOfARunningInstallationIsNotReclaimed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*model.Cluster){
		"that finalizes":            func(c *model.Cluster) { c.Status = model.ClusterFinalizing },
		"that waits for a command":  func(c *model.Cluster) { c.Status, c.DecisionOpen = model.ClusterError, true },
		"that prepares its cluster": func(c *model.Cluster) { c.Status = model.ClusterPreparingForInstallation },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			h := b.addition(t, model.HostInstalled, true, nil)
			_, err := b.store.UpdateCluster(t.Context(), *h.ClusterID, func(c *model.Cluster, _ *store.Tx) error {
				change(c)
				return nil
			})
			require.NoError(t, err)
			_, err = b.AcceptReclaim(t.Context(), h.InfraEnvID, h.ID)
			require.ErrorIs(t, err, model.ErrConflict)
			require.Equal(t, model.HostInstalled, b.host(t, h).Status)
		})
	}
}

func TestReclaimThatIsOverTouchesTheHostNoMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.addition(t, model.HostAddedToExistingCluster, true, nil)
	_, err := b.AcceptReclaim(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.NoError(t, b.FailReclaim(t.Context(), h.InfraEnvID, h.ID, 0, "it is older"))
	require.Equal(t, model.HostReclaiming, b.host(t, h).Status)
	b.setStatus(t, h, model.HostKnownUnbound) // it was booted by hand
	b.arm(t, h, *h.ClusterID)
	require.ErrorIs(t, b.RebootForReclaim(t.Context(), h.InfraEnvID, h.ID), model.ErrNotFound)
	require.NoError(t, b.FailReclaim(t.Context(), h.InfraEnvID, h.ID, 1, "it is over"))
	require.Equal(t, model.HostKnownUnbound, b.host(t, h).Status)
	require.True(t, b.armed(t, h), "the step belongs to somebody else")
}

func TestStopOfAnOldAttemptLeavesTheNewOneAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.addition(t, model.HostInstalling, false, func(h *model.Host) { h.WorkflowAttempt, h.PendingWorkflow = 2, model.WorkflowAdd })
	require.NoError(t, b.CancelHost(t.Context(), h.InfraEnvID, h.ID, 1))
	_, err := b.BeginHostReset(t.Context(), h.InfraEnvID, h.ID, 1)
	require.ErrorIs(t, err, model.ErrNotFound)
	require.ErrorIs(t, b.FinishHostReset(t.Context(), h.InfraEnvID, h.ID, 1), model.ErrNotFound)
	got := b.host(t, h)
	require.Equal(t, model.HostInstalling, got.Status)
	require.Equal(t, model.WorkflowAdd, got.PendingWorkflow)
}

func TestVersionOfTheClusterIsWaitedForUnlessSwitchedOff(t *testing.T) {
	t.Parallel()
	for check, want := range map[bool][]string{true: {"console", "cvo"}, false: {"console"}} {
		b := newBench(t)
		log := slog.New(slog.DiscardHandler)
		d := discovery.New(discovery.Options{Store: b.store, Log: log, Now: time.Now, Timeouts: lifecycle.DefaultTimeouts()})
		b.Service = installation.New(installation.Options{Store: b.store, Blob: b.blob, Discovery: d, Log: log, CheckClusterVersion: check})
		c := b.cluster(t, model.ClusterPreparingForInstallation, model.HostPreparingSuccessful, "", 1)
		problem, err := b.ConcludePreparation(t.Context(), c.ID, 1, "")
		require.NoError(t, err)
		require.Empty(t, problem)
		list, err := b.store.MonitoredOperators(t.Context(), c.ID)
		require.NoError(t, err)
		var names []string
		for _, o := range list {
			names = append(names, o.Name)
		}
		require.ElementsMatch(t, want, names)
	}
}
