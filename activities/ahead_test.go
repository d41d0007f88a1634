package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/service/reports"
)

// The service was restored from a backup of the moment in which the host wrote its disk. The host has rebooted since, and its agent
// answers no more.
func TestAReportFromTheDiskEndsTheStepsOfTheLiveImage(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	_, err := x.run(x.steps.RunStep, x.step())
	require.ErrorIs(t, err, activity.ErrResultPending)
	stages := reports.Hosts{Store: x.store, Timeouts: lifecycle.DefaultTimeouts()}
	require.NoError(t, stages.Stage(t.Context(), x.ref.InfraEnvID, x.ref.HostID, model.StageRebooting, ""))
	require.Equal(t, model.ActivityPending, x.commanded(t)[0].State, "the last report from the live image")
	require.NoError(t, stages.Stage(t.Context(), x.ref.InfraEnvID, x.ref.HostID, model.StageConfiguring, ""))
	row := x.commanded(t)[0]
	require.Equal(t, model.ActivityReported, row.State)
	require.Zero(t, row.ExitCode)
	_, err = x.run(x.steps.RunStep, x.step())
	require.NoError(t, err, "the workflow continues")
}

// The same after it was silent for too long: its workflow waits for a decision.
func TestAFailedHostThatReportsFromItsDiskNeedsNoDecision(t *testing.T) {
	t.Parallel()
	for stage, want := range map[model.Stage]model.HostStatus{
		model.StageWritingImageToDisk: "error", model.StageRebooting: "error", // an agent that is late
		model.StageConfiguring: "installing-in-progress", model.StageJoined: "installing-in-progress", model.StageDone: "installed",
	} {
		t.Run(string(stage), func(t *testing.T) {
			t.Parallel()
			x := newScene(t)
			hosts := &activities.Hosts{Store: x.store, Progress: x.shown}
			require.NoError(t, hosts.BeginAttempt(t.Context(), activities.AttemptRequest{HostRef: x.ref, Attempt: 1, FromStart: true}))
			require.NoError(t, hosts.FailHost(t.Context(), activities.HostFailure{HostRef: x.ref, Reason: "the host fell silent"}))
			require.ErrorIs(t, wait(hosts, hosts.AwaitProgress, x.ref), activity.ErrResultPending)

			stages := reports.Hosts{Store: x.store, Timeouts: lifecycle.DefaultTimeouts()}
			err := stages.Stage(t.Context(), x.ref.InfraEnvID, x.ref.HostID, stage, "")
			h := x.read(t)
			require.Equal(t, want, h.Status)
			if want == "error" {
				require.ErrorIs(t, err, model.ErrConflict)
				require.True(t, h.DecisionOpen)
				require.Equal(t, model.ActivityPending, x.theWait(t).State)
				return
			}
			require.NoError(t, err)
			require.False(t, h.DecisionOpen)
			require.Equal(t, 2, h.Attempt)
			require.NoError(t, wait(hosts, hosts.AwaitProgress, x.ref))
			stands, err := hosts.Standing(t.Context(), x.ref)
			require.NoError(t, err)
			require.Equal(t, stage == model.StageDone, stands.Installed)
			if !stands.Installed {
				begin := activities.AttemptRequest{HostRef: x.ref, Attempt: 2}
				require.NoError(t, hosts.BeginAttempt(t.Context(), begin), "its workflow continues")
			}
			require.Equal(t, stage, x.read(t).Stage)
		})
	}
}

func TestAHostThatWasGivenUpStaysSo(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	hosts := &activities.Hosts{Store: x.store, Progress: x.shown}
	failure := activities.HostFailure{HostRef: x.ref, Reason: "the host fell silent"}
	require.NoError(t, hosts.FailHost(t.Context(), failure))
	require.NoError(t, hosts.GiveUpHost(t.Context(), failure))
	stages := reports.Hosts{Store: x.store, Timeouts: lifecycle.DefaultTimeouts()}
	require.ErrorIs(t, stages.Stage(t.Context(), x.ref.InfraEnvID, x.ref.HostID, model.StageDone, ""), model.ErrConflict)
	require.Equal(t, model.HostError, x.read(t).Status)
}

func (x *scene) read(t *testing.T) *model.Host {
	t.Helper()
	h, err := x.store.Host(t.Context(), x.ref.InfraEnvID, x.ref.HostID)
	require.NoError(t, err)
	return h
}
