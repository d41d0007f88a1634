package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/reports"
)

func requireSuperseded(t *testing.T, err error) {
	t.Helper()
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, activities.FailureSuperseded, failure.Type())
	require.True(t, failure.NonRetryable())
}

// stand puts the host of a scene where its installation is.
func (x *scene) stand(t *testing.T, status model.HostStatus, stage model.Stage) {
	t.Helper()
	_, err := x.store.UpdateHost(t.Context(), x.ref.InfraEnvID, x.ref.HostID, func(h *model.Host, _ *store.Tx) error {
		h.Status, h.Stage, h.Attempt = status, stage, 1
		return nil
	})
	require.NoError(t, err)
	_, err = x.store.UpdateCluster(t.Context(), x.ref.ClusterID, func(c *model.Cluster, _ *store.Tx) error {
		c.InstallAttempt = 3
		return nil
	})
	require.NoError(t, err)
	x.ref.ClusterAttempt = 3
}

func (x *scene) commanded(t *testing.T) []model.PendingActivity {
	t.Helper()
	rows, err := x.store.PendingActivities(t.Context(), x.ref.ClusterID)
	require.NoError(t, err)
	return rows
}

// "Reset" of Temporal's UI runs a workflow again from a point of its history: the activities after it once more.
func TestInstalledHostWhoseWorkflowIsTakenBackIsAskedForNothing(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	x.stand(t, model.HostInstalled, model.StageDone)
	hosts := &activities.Hosts{Store: x.store, Progress: x.shown}
	err := hosts.BeginAttempt(t.Context(), activities.AttemptRequest{HostRef: x.ref, Attempt: 1, FromStart: true})
	requireSuperseded(t, err)
	require.ErrorContains(t, err, "installed")

	for _, step := range []activities.StepRequest{
		{HostRef: x.ref, Type: "disk-clean", Stage: model.StageStartingInstallation},
		{HostRef: x.ref, Type: "image-write", Stage: model.StageWritingImageToDisk},
		{HostRef: x.ref, Type: "reboot", Stage: model.StageRebooting},
	} {
		value, err := x.run(x.steps.RunStep, step)
		require.NoError(t, err, "what is done is passed by")
		var result activities.StepResult
		require.NoError(t, value.Get(&result))
		require.True(t, result.Skipped, step.Type)
	}
	for _, step := range []string{"installation-disk-speed-check", "install", "download-boot-artifacts", "stop-installation"} {
		_, err := x.run(x.steps.RunStep, activities.StepRequest{HostRef: x.ref, Type: step})
		requireSuperseded(t, err)
	}
	require.Empty(t, x.commanded(t))
	require.Empty(t, x.shown.stages, "no stage is shown again")
}

func TestStepIsForTheBootInWhichItsHostIs(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	x.stand(t, model.HostInstalling, "")
	x.boot(t, "boot-7")
	_, err := x.run(x.steps.RunStep, activities.StepRequest{HostRef: x.ref, Type: "image-write", Stage: model.StageWritingImageToDisk})
	require.ErrorIs(t, err, activity.ErrResultPending)
	rows := x.commanded(t)
	require.Len(t, rows, 1)
	require.Equal(t, "boot-7", rows[0].Fence.Boot)
}

func (x *scene) boot(t *testing.T, id string) {
	t.Helper()
	_, err := x.store.UpdateHost(t.Context(), x.ref.InfraEnvID, x.ref.HostID, func(h *model.Host, _ *store.Tx) error {
		h.Boot = id
		return nil
	})
	require.NoError(t, err)
}

func TestHostTakenBackInTheMiddleContinuesWhereItIs(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	x.stand(t, model.HostInstallingInProgress, model.StageWritingImageToDisk)
	hosts := &activities.Hosts{Store: x.store, Progress: x.shown}
	require.NoError(t, hosts.BeginAttempt(t.Context(), activities.AttemptRequest{HostRef: x.ref, Attempt: 1, FromStart: true}))
	_, err := x.run(x.steps.RunStep, activities.StepRequest{HostRef: x.ref, Type: "disk-clean", Stage: model.StageStartingInstallation})
	require.NoError(t, err)
	require.Empty(t, x.commanded(t))
	_, err = x.run(x.steps.RunStep, x.step())
	require.ErrorIs(t, err, activity.ErrResultPending, "the stage that it is in is done once more")
	require.Len(t, x.commanded(t), 1)
}

func TestWorkflowOfAnEarlierInstallationChangesNothing(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	x.stand(t, model.HostInstalling, "")
	x.ref.ClusterAttempt = 2
	hosts := &activities.Hosts{Store: x.store, Progress: x.shown}
	for name, err := range map[string]error{
		"begin": hosts.BeginAttempt(t.Context(), activities.AttemptRequest{HostRef: x.ref, Attempt: 1, FromStart: true}),
		"fail":  hosts.FailHost(t.Context(), activities.HostFailure{HostRef: x.ref, Reason: "time ran out"}),
		"boot":  hosts.RebootTimedOut(t.Context(), x.ref),
	} {
		requireSuperseded(t, err)
		require.ErrorContains(t, err, "installation 2 of cluster prod is over", name)
	}
	_, err := x.run(x.steps.RunStep, x.step())
	requireSuperseded(t, err)
	require.Empty(t, x.commanded(t))
	h, err := x.store.Host(t.Context(), x.ref.InfraEnvID, x.ref.HostID)
	require.NoError(t, err)
	require.Equal(t, model.HostInstalling, h.Status)
}

// A stage that no component reports is a write of the workflow alone, as a step is.
func TestStagesOfAnEarlierInstallationAreNotShown(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	x.stand(t, model.HostInstalling, "")
	hosts := &activities.Hosts{Store: x.store, Progress: reports.Hosts{Store: x.store, Timeouts: lifecycle.DefaultTimeouts()}}
	show := func(stage model.Stage) error {
		return hosts.ShowStage(t.Context(), activities.StageRequest{HostRef: x.ref, Stage: stage})
	}
	x.ref.ClusterAttempt = 2
	err := show(model.StageInstalling)
	requireSuperseded(t, err)
	require.ErrorContains(t, err, "installation 2 of cluster prod is over")

	x.ref.ClusterAttempt = 3
	require.NoError(t, show(model.StageInstalling))
	h, err := x.store.Host(t.Context(), x.ref.InfraEnvID, x.ref.HostID)
	require.NoError(t, err)
	require.Equal(t, model.StageInstalling, h.Stage)

	x.stand(t, model.HostInstalled, model.StageDone)
	err = show(model.StageInstalling)
	requireSuperseded(t, err)
	require.ErrorContains(t, err, "there is nothing to install")
}

// A time-out of an earlier installation does not apply to the present one.
func TestTimeOutOfAnEarlierInstallationIsNotJudged(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	x.stand(t, model.HostInstalling, "")
	clusters := &activities.Clusters{Store: x.store}
	_, err := clusters.JudgeFinalizing(t.Context(), activities.FinalizingClock{ClusterID: x.ref.ClusterID, Attempt: 2})
	requireSuperseded(t, err)
}

func TestStepsOfAnEarlierAttemptOfAHostAloneAreRefused(t *testing.T) {
	t.Parallel()
	a := newAlone(t)
	a.steps.Builder = &clusterless{}
	a.change(t, func(h *model.Host) { h.Status, h.WorkflowAttempt = model.HostInstalling, 2 })
	a.ref.HostAttempt = 1
	clean := func() error {
		return a.do(a.steps.RunStep, activities.StepRequest{HostRef: a.ref, Type: "disk-clean", Stage: model.StageStartingInstallation})
	}
	requireSuperseded(t, clean())
	a.ref.HostAttempt = 2
	require.ErrorIs(t, clean(), activity.ErrResultPending)
}
