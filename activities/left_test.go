package activities_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/activities"
	"slipway/internal/model"
)

// arm makes a workflow wait for a step of a host.
func (b bench) arm(t *testing.T, h *model.Host, clusterID uuid.UUID) {
	t.Helper()
	_, err := b.Tables.ArmActivity(t.Context(), model.PendingActivity{
		ID: h.ID.String(), Kind: model.ActivityStep, ClusterID: clusterID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID,
		Type: "image-write", Args: []string{"{}"}, WorkflowID: "host:x", RunID: "run-1", ActivityID: "image-write 1",
		TaskToken: []byte("token"), Attempt: 1, HeartbeatEvery: time.Minute,
	})
	require.NoError(t, err)
}

func (b bench) armed(t *testing.T, h *model.Host) bool {
	t.Helper()
	steps, err := b.Tables.DeliverSteps(t.Context(), h.InfraEnvID, h.ID, b.Tables.Now().Add(time.Hour)) // also what was handed out before
	require.NoError(t, err)
	return len(steps) > 0
}

func TestNothingIsAskedOfHostsWhenAnInstallationIsOver(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(bench, *model.Cluster) error{
		"cancelled": func(b bench, c *model.Cluster) error { return b.CancelInstallation(t.Context(), attempt(c)) },
		"failed": func(b bench, c *model.Cluster) error {
			return b.FailInstallation(t.Context(), activities.ClusterFailure{ClusterID: c.ID, Reason: "too many failed", Waiting: false})
		},
		"reset": func(b bench, c *model.Cluster) error {
			return b.FinishReset(t.Context(), activities.ResetTarget{ClusterID: c.ID})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c := b.NewCluster(t, model.ClusterInstalling, model.HostInstalling, "", 1)
			h := b.HostsOf(t, c)[0]
			b.arm(t, h, c.ID)
			require.True(t, b.armed(t, h))
			require.NoError(t, end(b, c))
			require.False(t, b.armed(t, h), "it would write its disk for no workflow")
		})
	}
}

func TestWaitOfAnOldInstallationLeavesAHostThatLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.NewAddedHost(t, model.HostInstallingInProgress, true, nil)
	require.NoError(t, b.FailHost(t.Context(), activities.HostFailure{HostRef: ref(h), Reason: "I/O error"}))
	_, err := b.commands.Reclaim(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	b.arm(t, h, *h.ClusterID)
	require.NoError(t, b.GiveUpHost(t.Context(), activities.HostFailure{HostRef: ref(h)}))
	require.NoError(t, b.FailHost(t.Context(), activities.HostFailure{HostRef: ref(h), Reason: "time ran out"}))
	require.Equal(t, model.HostUnbindingPendingUserAction, b.Reload(t, h).Status)
	require.True(t, b.armed(t, h))
}

func TestReclaimThatIsOverTouchesTheHostNoMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.NewAddedHost(t, model.HostAddedToExistingCluster, true, nil)
	_, err := b.commands.Reclaim(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.NoError(t, b.FailReclaim(t.Context(), reclaimFailure(h, 0, "it is older")))
	require.Equal(t, model.HostReclaiming, b.Reload(t, h).Status)
	b.setStatus(t, h, model.HostKnownUnbound) // it was booted by hand
	b.arm(t, h, *h.ClusterID)
	requireRefused(t, b.RebootForReclaim(t.Context(), ref(h)))
	require.NoError(t, b.FailReclaim(t.Context(), reclaimFailure(h, 1, "it is over")))
	require.Equal(t, model.HostKnownUnbound, b.Reload(t, h).Status)
	require.True(t, b.armed(t, h), "the step belongs to another workflow")
}

func TestStopOfAnOldAttemptLeavesTheNewOneAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.NewAddedHost(t, model.HostInstalling, false, func(h *model.Host) { h.WorkflowAttempt, h.PendingWorkflow = 2, model.WorkflowAdd })
	require.NoError(t, b.CancelHost(t.Context(), activities.AddRequest{HostRef: ref(h), Attempt: 1}))
	_, err := b.BeginHostReset(t.Context(), activities.AddRequest{HostRef: ref(h), Attempt: 1})
	requireRefused(t, err)
	requireRefused(t, b.FinishHostReset(t.Context(), activities.AddRequest{HostRef: ref(h), Attempt: 1}))
	got := b.Reload(t, h)
	require.Equal(t, model.HostInstalling, got.Status)
	require.Equal(t, model.WorkflowAdd, got.PendingWorkflow)
}

func TestVersionOfTheClusterIsWaitedForUnlessSwitchedOff(t *testing.T) {
	t.Parallel()
	for check, want := range map[bool][]string{true: {"console", "cvo"}, false: {"console"}} {
		b := newBench(t)
		b.CheckClusterVersion = check
		c := b.NewCluster(t, model.ClusterPreparingForInstallation, model.HostPreparingSuccessful, "", 1)
		outcome, err := b.ConcludePreparation(t.Context(), activities.PreparationConclusion{
			InstallRequest: attempt(c), Outcome: activities.PreparationOutcome{Ready: true},
		})
		require.NoError(t, err)
		require.True(t, outcome.Ready)
		require.Empty(t, outcome.Reason)
		list, err := b.Tables.MonitoredOperators(t.Context(), c.ID)
		require.NoError(t, err)
		var names []string
		for _, o := range list {
			names = append(names, o.Name)
		}
		require.ElementsMatch(t, want, names)
	}
}
