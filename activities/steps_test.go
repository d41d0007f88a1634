package activities_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/testing/kepttexts"
	"slipway/internal/testing/pgtest"
	"slipway/internal/wire"
)

// shownStages stands in for the records of progress: it keeps the stages it receives.
type shownStages struct{ stages []model.Stage }

func (d *shownStages) WorkflowStage(
	_ context.Context, _, _ uuid.UUID, stage model.Stage, _ func(*model.Cluster, *model.Host) error,
) error {
	d.stages = append(d.stages, stage)
	return nil
}

// fixedArgs builds the same arguments for every step; nil asks for nothing.
type fixedArgs []string

func (a fixedArgs) StepArgs(context.Context, string, *model.Cluster, *model.Host) ([]string, error) {
	return a, nil
}

type scene struct {
	store *store.Store
	shown *shownStages
	steps *activities.Steps
	host  *model.Host
	ref   activities.HostRef
}

func newScene(t *testing.T) *scene {
	t.Helper()
	url := pgtest.Migrated(t, store.Migrate)
	sealer, err := encryption.New(make([]byte, encryption.KeySize))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{
		URL: url, Sealer: sealer, Now: time.Now, Rendering: kepttexts.Rendering, CompareSnapshots: true,
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	kepttexts.CheckAtEnd(t, s)
	c := &model.Cluster{ID: uuid.New(), Kind: model.KindCluster, Name: "prod", Status: model.ClusterInstalling, ControlPlaneCount: 3}
	require.NoError(t, s.CreateCluster(t.Context(), c, func(*store.Tx) {}))
	e := &model.InfraEnv{ID: uuid.New(), ClusterID: &c.ID, Name: "env"}
	require.NoError(t, s.CreateInfraEnv(t.Context(), e, func(*store.Tx) {}))
	h, err := s.RegisterHost(t.Context(), e.ID, uuid.New(), func() *model.Host {
		return &model.Host{
			ClusterID: &c.ID, Kind: model.KindHost, Status: model.HostInstalling, Role: model.RoleMaster,
			AgentSteps: model.FineSteps,
		}
	}, func(*model.Host, bool, *store.Tx) error { return nil })
	require.NoError(t, err)
	x := &scene{store: s, shown: &shownStages{}, host: h, ref: activities.HostRef{ClusterID: c.ID, InfraEnvID: e.ID, HostID: h.ID}}
	x.steps = &activities.Steps{Store: s, Progress: x.shown, Builder: fixedArgs{"{}"}}
	return x
}

// run executes an activity as the first one of a workflow: a second run is another
// attempt of it.
func (x *scene) run(activity, request any) (converter.EncodedValue, error) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(x.steps)
	return env.ExecuteActivity(activity, request)
}

func (x *scene) step() activities.StepRequest {
	return activities.StepRequest{HostRef: x.ref, Type: "image-write", Stage: model.StageWritingImageToDisk}
}

func (x *scene) reply(t *testing.T, id string, code int, text string) {
	t.Helper()
	_, err := x.store.UpdateHost(t.Context(), x.ref.InfraEnvID, x.ref.HostID, func(h *model.Host, tx *store.Tx) error {
		tx.StepReplied(h, store.Reply{StepID: id, ExitCode: code, Error: text})
		return nil
	})
	require.NoError(t, err)
}

func TestStepIsAskedOnceUnderOneIDHoweverOftenItsActivityRuns(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	for range 2 {
		_, err := x.run(x.steps.RunStep, x.step())
		require.ErrorIs(t, err, activity.ErrResultPending)
	}
	rows, err := x.store.PendingActivities(t.Context(), x.ref.ClusterID)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Regexp(t, `^image-write-[0-9a-f]{8}$`, rows[0].ID)
	require.Equal(t, model.StageWritingImageToDisk, x.shown.stages[0])

	x.reply(t, rows[0].ID, 0, "")
	value, err := x.run(x.steps.RunStep, x.step())
	require.NoError(t, err, "a result that came before is given at once")
	var result activities.StepResult
	require.NoError(t, value.Get(&result))
	require.Equal(t, rows[0].ID, result.StepID)
}

func TestBootOfABootstrapIsNotedBeforeItBegins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step      wire.StepType
		bootstrap bool
		noted     bool
	}{
		{steps.BootstrapStart, true, true},
		{wire.StepTypeInstall, true, true},
		{wire.StepTypeInstall, false, false},
		{steps.ImageWrite, true, false},
		{steps.DiskClean, true, false},
	} {
		x := newScene(t)
		_, err := x.store.UpdateHost(t.Context(), x.ref.InfraEnvID, x.ref.HostID, func(h *model.Host, _ *store.Tx) error {
			h.Boot, h.Bootstrap = "a boot", c.bootstrap
			return nil
		})
		require.NoError(t, err)
		request := x.step()
		request.Type = string(c.step)
		_, err = x.run(x.steps.RunStep, request)
		require.ErrorIs(t, err, activity.ErrResultPending, c.step)
		h, err := x.store.Host(t.Context(), x.ref.InfraEnvID, x.ref.HostID)
		require.NoError(t, err)
		require.Equal(t, c.noted, h.BeganBootstrap(), "%s of a bootstrap host: %t", c.step, c.bootstrap)
	}
}

func TestStepOfAFailedHostIsRefused(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	_, err := x.store.UpdateHost(t.Context(), x.ref.InfraEnvID, x.ref.HostID, func(h *model.Host, _ *store.Tx) error {
		h.Status, h.StatusInfo = model.HostError, "it fell silent"
		return nil
	})
	require.NoError(t, err)
	_, err = x.run(x.steps.RunStep, x.step())
	require.ErrorContains(t, err, "it fell silent")
}

func TestStepWithNothingToAskIsSkipped(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	x.steps.Builder = fixedArgs(nil)
	value, err := x.run(x.steps.RunStep, x.step())
	require.NoError(t, err)
	var result activities.StepResult
	require.NoError(t, value.Get(&result))
	require.True(t, result.Skipped)
}

func TestStageIsWaitedForOnlyUntilItWasReached(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	request := activities.StageRequest{HostRef: x.ref, Stage: model.StageJoined}
	_, err := x.run(x.steps.AwaitStage, request)
	require.ErrorIs(t, err, activity.ErrResultPending)
	_, err = x.store.UpdateHost(t.Context(), x.ref.InfraEnvID, x.ref.HostID, func(h *model.Host, _ *store.Tx) error {
		h.Stage = model.StageDone
		return nil
	})
	require.NoError(t, err)
	_, err = x.run(x.steps.AwaitStage, request)
	require.NoError(t, err)
}

func TestOutcomeSaysWhatTheWorkflowBranchesOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code int
		text string
		kind string
		says string
	}{
		"a failure has the host's words":        {1, "I/O error", activities.FailureStep, "I/O error"},
		"a failure without words names itself":  {2, "", activities.FailureStep, "image-write ended with exit code 2"},
		"an interruption is no failure of host": {wire.ExitInterrupted, "interrupted", activities.FailureInterrupted, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := activities.Outcome(model.PendingActivity{ID: "x", Type: "image-write", ExitCode: c.code, Error: c.text})
			var failure *temporal.ApplicationError
			require.ErrorAs(t, err, &failure)
			require.Equal(t, c.kind, failure.Type())
			require.Equal(t, c.says, failure.Message())
			require.True(t, failure.NonRetryable())
		})
	}
	_, err := activities.Outcome(model.PendingActivity{ID: "x"})
	require.NoError(t, err)
}
