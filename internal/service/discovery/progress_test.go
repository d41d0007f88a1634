package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func replyOf(step, output string, exit int) wire.StepReply {
	return wire.StepReply{StepType: wire.StepType(step), StepID: step + "-00000001", Output: output, ExitCode: exit}
}

func TestStagesOfAHost(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		at       model.Stage
		reported model.Stage
		info     string
		stage    model.Stage
		status   model.HostStatus
		foreign  bool // its agent takes one step
		dayTwo   bool
		failure  string // of its step
		over     bool   // its step is done: the host runs from its disk
	}{
		"continues": {
			at: model.StageStartingInstallation, reported: model.StageInstalling, stage: model.StageInstalling,
			status: model.HostInstallingInProgress,
		},
		"begins": {
			reported: model.StageStartingInstallation, stage: model.StageStartingInstallation,
			status: model.HostInstallingInProgress,
		},
		"reports its percent": {
			at: model.StageWritingImageToDisk, reported: model.StageWritingImageToDisk, info: "42%",
			stage: model.StageWritingImageToDisk, status: model.HostInstallingInProgress,
		},
		"skips stages": {
			at: model.StageInstalling, reported: model.StageRebooting, stage: model.StageRebooting,
			status: model.HostInstallingInProgress,
		},
		"does not go back": {
			at: model.StageRebooting, reported: model.StageInstalling, stage: model.StageRebooting,
			status: model.HostInstallingInProgress,
		},
		"does not take a stage of workers": {
			at: model.StageRebooting, reported: model.StageWaitingForIgnition, stage: model.StageRebooting,
			status: model.HostInstallingInProgress,
		},
		"is installed when it is done": {
			at: model.StageJoined, reported: model.StageDone, stage: model.StageDone,
			status: model.HostInstalled, over: true,
		},
		"fails with the installer's words": {
			at: model.StageWritingImageToDisk, reported: model.StageFailed, info: "no space",
			stage: model.StageWritingImageToDisk, status: model.HostError, failure: "no space",
		},
		"fails with its stage in the one step of a foreign agent": {
			foreign: true,
			at:      model.StageWritingImageToDisk, reported: model.StageFailed, info: "no space",
			stage: model.StageWritingImageToDisk, status: model.HostError, failure: "Writing image to disk: no space",
		},
		"is added when it reboots after the one step of a foreign agent": {
			foreign: true, dayTwo: true,
			at: model.StageWritingImageToDisk, reported: model.StageRebooting, stage: model.StageDone,
			status: model.HostAddedToExistingCluster, over: true,
		},
		"is watched after its reboot by an agent of ours": {
			dayTwo: true,
			at:     model.StageWritingImageToDisk, reported: model.StageRebooting, stage: model.StageRebooting,
			status: model.HostInstallingInProgress,
		},
		"is reported by the controller late": {
			at: model.StageRebooting, reported: model.StageJoined, stage: model.StageJoined,
			status: model.HostInstallingInProgress, over: true,
		},
	}
	l := newLab(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, env := l.cluster(t)
			m := l.machine(env, 0)
			m.register(t)
			m.installing(t, c, test.at)
			if test.foreign {
				m.set(t, func(h *model.Host) { h.AgentSteps = model.InstallStep })
			}
			if test.dayTwo {
				m.set(t, func(h *model.Host) { h.Kind = model.KindAddToExistingClusterHost })
			}
			m.arm(t, c, "image-write", "image-write-1")
			require.NoError(t, l.progress().Stage(t.Context(), env.ID, m.id, test.reported, test.info))
			h := m.read(t)
			require.Equal(t, test.stage, h.Stage)
			require.Equal(t, test.status, h.Status)
			require.Equal(t, test.info, h.Progress.Info)
			if test.stage == test.at {
				require.Zero(t, h.Progress.Percentage, "it was not reported before")
			} else {
				require.Equal(t, lifecycle.HostPercentage(h, false, test.stage), h.Progress.Percentage)
				require.NotZero(t, h.Progress.Percentage)
				require.False(t, h.Progress.StageStartedAt.IsZero())
				require.Equal(t, 1, l.events(t, c.ID)["host_install_progress_updated"])
			}
			i := m.activity(t, c, "image-write-1")
			require.Equal(t, test.over || test.failure != "", i.State == model.ActivityReported, i.State)
			require.Equal(t, test.failure, i.Error)
			if test.failure != "" {
				require.Contains(t, h.StatusInfo, "no space")
				require.True(t, h.DecisionOpen)
			}
		})
	}
}

func TestReportedStagesCompleteWhatWaitsForThem(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.installing(t, c, model.StageRebooting)
	for _, stage := range []model.Stage{model.StageConfiguring, model.StageJoined, model.StageDone} {
		m.armAs(t, c, model.ActivityStage, string(stage), string(stage))
	}
	m.arm(t, c, "reboot", "reboot-1")
	require.NoError(t, l.progress().Stage(t.Context(), env.ID, m.id, model.StageJoined, ""))
	require.Equal(t, model.ActivityReported, m.activity(t, c, string(model.StageConfiguring)).State)
	require.Equal(t, model.ActivityReported, m.activity(t, c, string(model.StageJoined)).State)
	require.Equal(t, model.ActivityPending, m.activity(t, c, string(model.StageDone)).State)
	require.Equal(t, model.ActivityReported, m.activity(t, c, "reboot-1").State, "its reply may be lost")
}

func TestProgressNeedsAnInstallation(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	progress := func(stage model.Stage) error { return l.progress().Stage(t.Context(), env.ID, m.id, stage, "") }
	require.ErrorIs(t, progress("Having lunch"), model.ErrInvalid)
	m.set(t, func(h *model.Host) { h.Role = model.RoleMaster })
	require.ErrorIs(t, progress(model.StageInstalling), model.ErrConflict)
	require.ErrorIs(t, progress(model.StageFailed), model.ErrConflict)
	unbound := l.machine(l.infraEnv(t, nil), 1)
	unbound.register(t)
	require.ErrorIs(t, l.progress().Stage(t.Context(), unbound.infraEnv, unbound.id, model.StageInstalling, ""), model.ErrConflict)
}

func TestLogCollectionIsFollowed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	report := func(state model.LogsState) error { return l.progress().Logs(t.Context(), env.ID, m.id, state) }
	require.NoError(t, report(model.LogsRequested))
	require.False(t, m.read(t).LogsStartedAt.IsZero())
	require.NoError(t, report(model.LogsCollecting))
	require.NoError(t, report(model.LogsCompleted))
	require.False(t, m.read(t).LogsCollectedAt.IsZero())
	require.ErrorIs(t, report("lost"), model.ErrInvalid)
}
