package installation_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// addition makes a cluster that takes hosts and one host of it, in a discovery
// environment that belongs to it or, unbound, to nobody.
func (b bench) addition(t *testing.T, status model.HostStatus, unbound bool, change func(*model.Host)) *model.Host {
	t.Helper()
	c := &model.Cluster{
		ID: uuid.New(), Kind: model.KindAddHostsCluster, Name: "prod", Status: model.ClusterAddingHosts, WorkflowStarted: true,
		APIVIPDNSName: "api.prod.example.com",
	}
	require.NoError(t, b.store.CreateCluster(t.Context(), c, func(*store.Tx) {}))
	env := &model.InfraEnv{ID: uuid.New(), ClusterID: &c.ID, Name: "env"}
	if unbound {
		env.ClusterID = nil
	}
	require.NoError(t, b.store.CreateInfraEnv(t.Context(), env, func(*store.Tx) {}))
	h, err := b.store.RegisterHost(t.Context(), env.ID, uuid.New(), func() *model.Host {
		h := &model.Host{
			ClusterID: &c.ID, Kind: model.KindAddToExistingClusterHost, Status: status, Role: model.RoleAutoAssign,
			SuggestedRole: model.RoleWorker, AgentSteps: model.FineSteps, RequestedHostname: "extra-0",
		}
		if change != nil {
			change(h)
		}
		return h
	}, func(h *model.Host, _ bool, tx *store.Tx) error { tx.CheckIn(h); return nil })
	require.NoError(t, err)
	return h
}

func (b bench) host(t *testing.T, h *model.Host) *model.Host {
	t.Helper()
	got, err := b.store.Host(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	return got
}

// setStatus writes what an evaluation would take away from a host of a test.
func (b bench) setStatus(t *testing.T, h *model.Host, status model.HostStatus) {
	t.Helper()
	_, err := b.store.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
		h.Status = status
		return nil
	})
	require.NoError(t, err)
}

func TestHostThatIsNotReadyIsNotInstalled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.addition(t, model.HostDiscovering, false, nil)
	_, err := b.AcceptHost(t.Context(), h.InfraEnvID, h.ID)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require status known, found ")
	pending, err := b.store.UnstartedHostWorkflows(t.Context())
	require.NoError(t, err)
	require.Empty(t, pending)

	ofNew := b.hosts(t, b.cluster(t, model.ClusterReady, model.HostKnown, "", 3))[0]
	_, err = b.AcceptHost(t.Context(), ofNew.InfraEnvID, ofNew.ID)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require a host added to an existing cluster")
}

func TestAttemptOfAHostIsOverWhenAnotherWasAccepted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.addition(t, model.HostInstalling, false, func(h *model.Host) { h.WorkflowAttempt = 2 })
	got, err := b.BeginAddition(t.Context(), h.InfraEnvID, h.ID, 2)
	require.NoError(t, err)
	require.Equal(t, h.ID, got.ID)
	_, err = b.BeginAddition(t.Context(), h.InfraEnvID, h.ID, 1)
	require.ErrorIs(t, err, model.ErrNotFound)
	b.setStatus(t, h, model.HostDiscovering)
	_, err = b.BeginAddition(t.Context(), h.InfraEnvID, h.ID, 2)
	require.ErrorIs(t, err, model.ErrNotFound)
	require.ErrorContains(t, err, "discovering")
}

func TestFailedChecksAreJudged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.addition(t, model.HostInstalling, false, func(h *model.Host) {
		h.InstallationDiskPath = "/dev/sda"
		h.DiskSpeed = map[string]model.DiskSpeed{"/dev/sda": {Tested: true, ExitCode: 124}}
	})
	problem, err := b.JudgeChecks(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	require.NotEmpty(t, problem)
	fine := b.addition(t, model.HostInstalling, false, nil)
	problem, err = b.JudgeChecks(t.Context(), fine.InfraEnvID, fine.ID)
	require.NoError(t, err)
	require.Empty(t, problem, "what was not asked holds nothing up")
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
			h := b.addition(t, tt.status, false, func(h *model.Host) {
				h.Stage, h.Attempt, h.DecisionOpen, h.WorkflowAttempt = tt.stage, 1, true, 1
			})
			require.NoError(t, b.CheckHostReset(h))
			for range 2 { // the activities may run twice
				stop, err := b.BeginHostReset(t.Context(), h.InfraEnvID, h.ID, 1)
				require.NoError(t, err)
				require.Equal(t, tt.stop, stop)
			}
			require.Equal(t, tt.between, b.host(t, h).Status)
			require.NoError(t, b.FinishHostReset(t.Context(), h.InfraEnvID, h.ID, 1))
			got := b.host(t, h)
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
	h := b.addition(t, model.HostInstallingInProgress, false, nil)
	for range 2 {
		require.NoError(t, b.CancelHost(t.Context(), h.InfraEnvID, h.ID, 0))
	}
	require.Equal(t, model.HostCancelled, b.host(t, h).Status)
}

func TestHostIsReclaimedByWhereItStands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status, after model.HostStatus
		attempt       int
	}{
		"an installed host fetches the image": {model.HostAddedToExistingCluster, model.HostReclaiming, 1},
		"a failed one waits for its user":     {model.HostError, model.HostUnbindingPendingUserAction, 0},
		"one in discovery leaves":             {model.HostDiscovering, model.HostUnbinding, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			h := b.addition(t, tt.status, true, func(h *model.Host) { h.Stage = model.StageDone })
			attempt, err := b.AcceptReclaim(t.Context(), h.InfraEnvID, h.ID)
			require.NoError(t, err)
			require.Equal(t, tt.attempt, attempt)
			got := b.host(t, h)
			require.Equal(t, tt.after, got.Status)
			require.Nil(t, got.ClusterID)
			require.Equal(t, h.ClusterID, got.FormerClusterID)
			require.Equal(t, model.KindHost, got.Kind)
			pending, err := b.store.UnstartedHostWorkflows(t.Context())
			require.NoError(t, err)
			require.Len(t, pending, tt.attempt)
			require.NoError(t, b.store.HostWorkflowStarted(t.Context(), h.InfraEnvID, h.ID, tt.attempt))
			pending, err = b.store.UnstartedHostWorkflows(t.Context())
			require.NoError(t, err)
			require.Empty(t, pending)
		})
	}
	b := newBench(t)
	bound := b.addition(t, model.HostAddedToExistingCluster, false, nil)
	_, err := b.AcceptReclaim(t.Context(), bound.InfraEnvID, bound.ID)
	require.ErrorIs(t, err, model.ErrConflict, "its environment belongs to the cluster")
	busy := b.addition(t, model.HostInstallingInProgress, true, nil)
	_, err = b.AcceptReclaim(t.Context(), busy.InfraEnvID, busy.ID)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "installing-in-progress")
}

func TestReclaimGoesOnAndEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.addition(t, model.HostAddedToExistingCluster, true, nil)
	_, err := b.AcceptReclaim(t.Context(), h.InfraEnvID, h.ID)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, b.RebootForReclaim(t.Context(), h.InfraEnvID, h.ID))
		require.Equal(t, model.HostReclaimingRebooting, b.host(t, h).Status)
	}
	for range 2 {
		require.NoError(t, b.FailReclaim(t.Context(), h.InfraEnvID, h.ID, 1, "it did not come back"))
	}
	got := b.host(t, h)
	require.Equal(t, model.HostUnbindingPendingUserAction, got.Status)
	require.Contains(t, got.StatusInfo, "it did not come back")
}

func TestStageThatTakesLongIsJudgedByTheTable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		soft    bool
		cluster model.ClusterStatus
		stage   model.Stage
		failure string
		again   bool
		told    bool
	}{
		"hard":                            {cluster: model.ClusterInstalling, stage: model.StageWritingImageToDisk, failure: "has not been written in 30m"},
		"soft":                            {soft: true, cluster: model.ClusterInstalling, stage: model.StageWritingImageToDisk, told: true},
		"another host waits for its user": {cluster: model.ClusterInstallingPendingUserAction, stage: model.StageWaitingForBootkube, again: true},
		"the cluster waits for a command": {cluster: model.ClusterError, stage: model.StageInstalling, failure: `stage "Installing" for more than 30m`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			h := b.hosts(t, b.cluster(t, tt.cluster, model.HostInstallingInProgress, tt.stage, 1))[0]
			failure, again, err := b.JudgeStage(t.Context(), h.InfraEnvID, h.ID, 30*time.Minute, tt.soft)
			require.NoError(t, err)
			require.Equal(t, tt.again, again)
			require.Contains(t, failure, tt.failure)
			require.Equal(t, tt.failure == "", failure == "")
			require.Equal(t, tt.told, b.host(t, h).Progress.StageTimedOut)
		})
	}
}

func TestFinalizingStageThatTakesLongIsJudgedByTheTable(t *testing.T) {
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
			c := b.cluster(t, model.ClusterFinalizing, model.HostInstalled, model.StageDone, 1)
			require.NoError(t, b.FinalizingProgress(t.Context(), c.ID, tt.stage))
			stage, _, _, err := b.FinalizingStage(t.Context(), c.ID)
			require.NoError(t, err)
			require.Equal(t, tt.stage, stage)
			for range 2 {
				failure, err := b.JudgeFinalizing(t.Context(), c.ID, stage, time.Hour, tt.soft)
				require.NoError(t, err)
				require.Contains(t, failure, tt.failure)
				require.Equal(t, tt.failure == "", failure == "")
			}
			got, err := b.store.Cluster(t.Context(), c.ID)
			require.NoError(t, err)
			require.Equal(t, tt.failure == "", got.Progress.FinalizingStageTimedOut)
		})
	}
}

func TestClusterThatWaitsForACommandKeepsItsHosts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cluster(t, model.ClusterFinalizing, model.HostInstalled, model.StageDone, 1)
	require.NoError(t, b.FailCluster(t.Context(), c.ID, "finalizing took too long", true))
	got, err := b.store.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, model.ClusterError, got.Status)
	require.True(t, got.DecisionOpen)
	require.Equal(t, model.HostInstalled, b.hosts(t, c)[0].Status)

	require.NoError(t, b.Resume(t.Context(), c.ID))
	require.Equal(t, model.ClusterFinalizing, b.status(t, c))
	require.NoError(t, b.FailCluster(t.Context(), c.ID, "over", true))
	require.NoError(t, b.FailCluster(t.Context(), c.ID, "over", false))
	got, err = b.store.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.False(t, got.DecisionOpen, "nobody waits any more")
}
