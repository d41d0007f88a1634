package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// setStatus writes what an evaluation would take away from a host of a test.
func (b bench) setStatus(t *testing.T, h *model.Host, status model.HostStatus) {
	t.Helper()
	_, err := b.Tables.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Status = status
		return nil
	})
	require.NoError(t, err)
}

func TestAttemptOfAHostIsOverWhenAnotherWasAccepted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.NewAddedHost(t, model.HostInstalling, false, func(h *model.Host) { h.WorkflowAttempt = 2 })
	got, err := b.BeginAddition(t.Context(), activities.AddRequest{HostRef: ref(h), Attempt: 2})
	require.NoError(t, err)
	require.Equal(t, h.ID, got.Host.ID)
	_, err = b.BeginAddition(t.Context(), activities.AddRequest{HostRef: ref(h), Attempt: 1})
	requireRefused(t, err)
	b.setStatus(t, h, model.HostDiscovering)
	_, err = b.BeginAddition(t.Context(), activities.AddRequest{HostRef: ref(h), Attempt: 2})
	requireRefused(t, err)
	require.ErrorContains(t, err, "discovering")
}

func TestHostThatFailedItsChecksIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.NewAddedHost(t, model.HostInstalling, false, func(h *model.Host) {
		h.InstallationDiskPath = "/dev/sda"
		h.DiskSpeed = map[string]model.DiskSpeed{"/dev/sda": {Tested: true, ExitCode: 124}}
	})
	err := b.JudgeChecks(t.Context(), ref(h))
	requireRefused(t, err)
	require.ErrorContains(t, err, "disk")
	fine := b.NewAddedHost(t, model.HostInstalling, false, nil)
	require.NoError(t, b.JudgeChecks(t.Context(), ref(fine)), "a check that was not asked for does not hold the host up")
}

func TestDayTwoHostIsResetByWhereItStands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status   model.HostStatus
		stage    model.Stage
		stop     bool
		between  model.HostStatus
		after    model.HostStatus
		attempts int
	}{
		"in the live image, its agent is stopped first": {
			model.HostInstallingInProgress, model.StageWritingImageToDisk, true, model.HostResetting, model.HostDiscovering, 1,
		},
		"after the reboot, its user has to boot it": {
			model.HostAddedToExistingCluster, model.StageDone, false, model.HostResettingPendingUserAction, model.HostResettingPendingUserAction, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			h := b.NewAddedHost(t, tt.status, false, func(h *model.Host) {
				h.Stage, h.Attempt, h.DecisionOpen, h.WorkflowAttempt = tt.stage, 1, true, 1
			})
			require.NoError(t, b.commands.CheckHostReset(h))
			for range 2 { // the activities may run twice
				stop, err := b.BeginHostReset(t.Context(), activities.AddRequest{HostRef: ref(h), Attempt: 1})
				require.NoError(t, err)
				require.Equal(t, tt.stop, stop)
			}
			require.Equal(t, tt.between, b.Reload(t, h).Status)
			require.NoError(t, b.FinishHostReset(t.Context(), activities.AddRequest{HostRef: ref(h), Attempt: 1}))
			got := b.Reload(t, h)
			require.Equal(t, tt.after, got.Status)
			require.Empty(t, got.Stage)
			require.False(t, got.DecisionOpen)
			require.Equal(t, tt.attempts, got.WorkflowAttempt, "attempts are never taken back")
		})
	}
}

func TestCancelledHostShowsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.NewAddedHost(t, model.HostInstallingInProgress, false, nil)
	for range 2 {
		require.NoError(t, b.CancelHost(t.Context(), activities.AddRequest{HostRef: ref(h), Attempt: 0}))
	}
	require.Equal(t, model.HostCancelled, b.Reload(t, h).Status)
}

func TestReclaimContinuesAndEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.NewAddedHost(t, model.HostAddedToExistingCluster, true, nil)
	_, err := b.commands.Reclaim(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, b.RebootForReclaim(t.Context(), ref(h)))
		require.Equal(t, model.HostReclaimingRebooting, b.Reload(t, h).Status)
	}
	for range 2 {
		require.NoError(t, b.FailReclaim(t.Context(), reclaimFailure(h, 1, "it did not come back")))
	}
	got := b.Reload(t, h)
	require.Equal(t, model.HostUnbindingPendingUserAction, got.Status)
	require.Contains(t, got.StatusInfo, "it did not come back")
}

func TestStageThatTakesLongIsDecidedByTheTable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		soft     bool
		cluster  model.ClusterStatus
		stage    model.Stage
		failure  string
		again    bool
		reported bool
	}{
		"hard": {
			cluster: model.ClusterInstalling, stage: model.StageWritingImageToDisk, failure: "has not been written in 30m",
		},
		"soft":                            {soft: true, cluster: model.ClusterInstalling, stage: model.StageWritingImageToDisk, reported: true},
		"another host waits for its user": {cluster: model.ClusterInstallingPendingUserAction, stage: model.StageWaitingForBootkube, again: true},
		"the cluster waits for a command": {
			cluster: model.ClusterError, stage: model.StageInstalling, failure: `stage "Installing" for more than 30m`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			h := b.HostsOf(t, b.NewCluster(t, tt.cluster, model.HostInstallingInProgress, tt.stage, 1))[0]
			verdict, err := b.JudgeStage(t.Context(), activities.StageClock{HostRef: ref(h), Limit: 30 * time.Minute, Soft: tt.soft})
			require.NoError(t, err)
			require.Equal(t, tt.again, verdict.Again)
			require.Contains(t, verdict.Failure, tt.failure)
			require.Equal(t, tt.failure == "", verdict.Failure == "")
			require.Equal(t, tt.reported, b.Reload(t, h).Progress.StageTimedOut)
		})
	}
}

func TestFinalizingStageThatTakesLongIsDecidedByTheTable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stage   model.FinalizingStage
		soft    bool
		failure string
	}{
		"one that fails the cluster": {model.FinalizingAddingRouterCA, false, "Adding router ca"},
		"one that never does":        {model.FinalizingWaitingForCSV, false, ""},
		"soft":                       {model.FinalizingAddingRouterCA, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c := b.NewCluster(t, model.ClusterFinalizing, model.HostInstalled, model.StageDone, 1)
			require.NoError(t, b.Reports.FinalizingProgress(t.Context(), c.ID, tt.stage))
			at, err := b.FinalizingStage(t.Context(), c.ID)
			require.NoError(t, err)
			require.Equal(t, tt.stage, at.Stage)
			for range 2 {
				verdict, err := b.JudgeFinalizing(t.Context(), activities.FinalizingClock{
					ClusterID: c.ID, Stage: at.Stage, Limit: time.Hour, Soft: tt.soft,
				})
				require.NoError(t, err)
				require.Contains(t, verdict.Failure, tt.failure)
				require.Equal(t, tt.failure == "", verdict.Failure == "")
			}
			got, err := b.Tables.Cluster(t.Context(), c.ID)
			require.NoError(t, err)
			require.Equal(t, tt.failure == "", got.Progress.FinalizingStageTimedOut)
		})
	}
}

func TestClusterThatWaitsForACommandKeepsItsHosts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterFinalizing, model.HostInstalled, model.StageDone, 1)
	failure := activities.ClusterFailure{ClusterID: c.ID, Reason: "finalizing took too long", Waiting: true}
	require.NoError(t, b.FailInstallation(t.Context(), failure))
	got, err := b.Tables.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, model.ClusterError, got.Status)
	require.True(t, got.DecisionOpen)
	require.Equal(t, model.HostInstalled, b.HostsOf(t, c)[0].Status)

	require.NoError(t, b.ResumeInstallation(t.Context(), attempt(c)))
	require.Equal(t, model.ClusterFinalizing, b.StatusOf(t, c))
	require.NoError(t, b.FailInstallation(t.Context(), activities.ClusterFailure{ClusterID: c.ID, Reason: "over", Waiting: true}))
	require.NoError(t, b.FailInstallation(t.Context(), activities.ClusterFailure{ClusterID: c.ID, Reason: "over", Waiting: false}))
	got, err = b.Tables.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.False(t, got.DecisionOpen, "no workflow waits any more")
}
