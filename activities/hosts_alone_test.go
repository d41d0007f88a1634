package activities_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/service/evaluation"
	"slipway/internal/service/reports"
)

// alone is a scene whose host joins an existing cluster.
type alone struct {
	*scene
	hosts *activities.Hosts
	files *activities.Files
}

func newAlone(t *testing.T) *alone {
	t.Helper()
	x := newScene(t)
	sealer, err := encryption.New(make([]byte, encryption.KeySize))
	require.NoError(t, err)
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir(), sealer)
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	limits := lifecycle.DefaultTimeouts()
	rules := evaluation.New(evaluation.Options{Store: x.store, Log: log, Now: time.Now, Timeouts: limits})
	x.steps.Reports = reports.Clusters{Store: x.store, Blob: blobs}
	_, err = x.store.UpdateCluster(t.Context(), x.ref.ClusterID, func(c *model.Cluster, _ *store.Tx) error {
		c.Kind, c.Status, c.APIVIPDNSName = model.KindAddHostsCluster, model.ClusterAddingHosts, "api.prod.example.com"
		return nil
	})
	require.NoError(t, err)
	a := &alone{
		scene: x,
		hosts: &activities.Hosts{
			Store: x.store, Evaluation: rules, Progress: reports.Hosts{Store: x.store, Timeouts: limits},
			Timeouts: activities.Timeouts{Timeouts: limits},
		},
		files: &activities.Files{Store: x.store, Blob: blobs},
	}
	a.change(t, func(h *model.Host) {
		h.Kind, h.Role, h.RequestedHostname = model.KindAddToExistingClusterHost, model.RoleWorker, "extra-0"
		h.WorkflowAttempt, h.PendingWorkflow = 1, model.WorkflowAdd
	})
	return a
}

func (a *alone) change(t *testing.T, fn func(*model.Host)) {
	t.Helper()
	_, err := a.store.UpdateHost(t.Context(), a.ref.InfraEnvID, a.ref.HostID, func(h *model.Host, _ *store.Tx) error {
		fn(h)
		return nil
	})
	require.NoError(t, err)
}

func (a *alone) do(fn, request any) error {
	_, err := a.result(fn, request)
	return err
}

func (a *alone) result(fn, request any) (converter.EncodedValue, error) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	for _, s := range []any{a.hosts, a.files, a.steps} {
		env.RegisterActivity(s)
	}
	return env.ExecuteActivity(fn, request)
}

func requireRefused(t *testing.T, err error) {
	t.Helper()
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, activities.FailureRefused, failure.Type())
}

func TestAdditionOfAnOlderAttemptIsRefused(t *testing.T) {
	t.Parallel()
	a := newAlone(t)
	require.NoError(t, a.do(a.hosts.BeginAddition, activities.AddRequest{HostRef: a.ref, Attempt: 1}))
	requireRefused(t, a.do(a.hosts.BeginAddition, activities.AddRequest{HostRef: a.ref, Attempt: 0}))
	requireRefused(t, a.do(a.hosts.BeginReclaim, activities.ReclaimRequest{HostRef: a.ref, Attempt: 1}))
}

func TestIgnitionOfAnAddedHostIsStoredOrRefused(t *testing.T) {
	t.Parallel()
	a := newAlone(t)
	require.NoError(t, a.do(a.files.GenerateHostIgnition, a.ref))
	config, err := a.files.Blob.Get(t.Context(), blob.ClusterFile(a.ref.ClusterID, "worker-"+a.ref.HostID.String()+".ign"))
	require.NoError(t, err)
	require.Contains(t, string(config), "http://api.prod.example.com:22624/config/worker")
	a.change(t, func(h *model.Host) { h.IgnitionConfigOverrides = "{" })
	requireRefused(t, a.do(a.files.GenerateHostIgnition, a.ref))
}

// clusterless remembers whether steps were made with a cluster.
type clusterless struct{ without bool }

func (c *clusterless) StepArgs(_ context.Context, _ string, cluster *model.Cluster, _ *model.Host) ([]string, error) {
	c.without = cluster == nil
	return []string{"{}"}, nil
}

func TestHostThatLeftItsClusterIsStillCommanded(t *testing.T) {
	t.Parallel()
	a := newAlone(t)
	builder := &clusterless{}
	a.steps.Builder = builder
	a.change(t, func(h *model.Host) {
		h.LeaveCluster()
		h.Status = model.HostReclaiming
	})
	step := activities.StepRequest{HostRef: a.ref, Type: "download-boot-artifacts"}
	require.ErrorIs(t, a.do(a.steps.RunStep, step), activity.ErrResultPending)
	require.True(t, builder.without)
	view, err := a.store.Poll(t.Context(), a.ref.InfraEnvID, a.ref.HostID)
	require.NoError(t, err)
	require.True(t, view.Waiting, "the step waits for the host")
}

func TestFinalizingStageIsWaitedForUntilALaterOneIsReported(t *testing.T) {
	t.Parallel()
	a, late := newAlone(t), newAlone(t)
	request := activities.FinalizingRequest{ClusterID: a.ref.ClusterID}
	require.ErrorIs(t, a.do(a.steps.AwaitFinalizingStage, request), activity.ErrResultPending)
	require.NoError(t, a.steps.Reports.FinalizingProgress(t.Context(), a.ref.ClusterID, model.FinalizingAddingRouterCA))
	rows, err := a.store.PendingActivities(t.Context(), a.ref.ClusterID)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, model.ActivityReported, rows[0].State, "the report itself ends the wait")
	result, failure, err := activities.Result(t.Context(), a.store, rows[0])
	require.NoError(t, err)
	require.NoError(t, failure)
	requireStage(t, model.FinalizingAddingRouterCA, result)

	require.NoError(t, late.steps.Reports.FinalizingProgress(t.Context(), late.ref.ClusterID, model.FinalizingAddingRouterCA))
	request = activities.FinalizingRequest{ClusterID: late.ref.ClusterID, Stage: model.FinalizingWaitingForOperators}
	value, err := late.result(late.steps.AwaitFinalizingStage, request)
	require.NoError(t, err, "that one was left before the wait began")
	var left activities.FinalizingLeft
	require.NoError(t, value.Get(&left))
	requireStage(t, model.FinalizingAddingRouterCA, left)
}

func TestWaitsForAClusterThatHasGoneAreRefused(t *testing.T) {
	t.Parallel()
	a := newAlone(t)
	unknown := uuid.New() // its rows were lost
	requireRefused(t, a.do(a.steps.AwaitFinalizingStage, activities.FinalizingRequest{ClusterID: unknown}))
	requireRefused(t, a.do(a.steps.AwaitMilestone, activities.MilestoneRequest{
		ClusterID: unknown, Milestone: model.MilestoneOperatorsAvailable,
	}))
	stage := activities.StageRequest{HostRef: a.ref, Stage: model.StageJoined}
	stage.ClusterID = unknown
	requireRefused(t, a.do(a.steps.AwaitStage, stage))
}

func requireStage(t *testing.T, want model.FinalizingStage, result any) {
	t.Helper()
	left, ok := result.(activities.FinalizingLeft)
	require.True(t, ok, "%T", result)
	require.NotNil(t, left.Next)
	require.Equal(t, want, left.Next.Stage)
}

func TestStepsOfAWorkflowThatLostItsHostAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*model.Host){
		"it left its cluster":         func(h *model.Host) { h.LeaveCluster(); h.Status = model.HostKnownUnbound },
		"it belongs to another's now": func(h *model.Host) { h.Status = model.HostInstalling },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAlone(t)
			a.steps.Builder = &clusterless{}
			a.change(t, change)
			step := activities.StepRequest{HostRef: a.ref, Type: "reboot-for-reclaim"}
			if h, err := a.store.Host(t.Context(), a.ref.InfraEnvID, a.ref.HostID); err == nil && h.ClusterID != nil {
				other := &model.Cluster{ID: uuid.New(), Kind: model.KindCluster, Name: "other", Status: model.ClusterInstalling, WorkflowStarted: true}
				require.NoError(t, a.store.CreateCluster(t.Context(), other, func(*store.Tx) {}))
				a.change(t, func(h *model.Host) { h.ClusterID = &other.ID })
			}
			requireRefused(t, a.do(a.steps.RunStep, step))
		})
	}
}

func TestAddedHostHasTheTimeoutsOfItsCluster(t *testing.T) {
	t.Parallel()
	for _, wanted := range []bool{true, false} {
		a := newAlone(t)
		a.hosts.Timeouts.Soft = true
		_, err := a.store.UpdateCluster(t.Context(), a.ref.ClusterID, func(c *model.Cluster, _ *store.Tx) error {
			c.OrgSoftTimeouts, c.OnFailure = wanted, model.OnFailureWait
			return nil
		})
		require.NoError(t, err)
		plan, err := a.hosts.BeginAddition(t.Context(), activities.AddRequest{HostRef: a.ref, Attempt: 1})
		require.NoError(t, err)
		require.Equal(t, wanted, plan.Timeouts.Soft)
		require.Equal(t, 24*time.Hour, plan.Timeouts.Decision)
	}
}
