package discovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/service/evaluation"
	"slipway/internal/wire"
)

// quick makes silence count after a second, after two on the bootstrap host.
func quick(o *labOptions) {
	o.Timeouts.Disconnect, o.Timeouts.BootstrapGrace = time.Second, time.Second
}

func TestSilentHostIsDisconnectedAndComesBack(t *testing.T) {
	t.Parallel()
	l := newLab(t, quick)
	l.run(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	stop := m.boot(t)
	m.reaches(t, model.HostInsufficient)
	stop()
	m.reaches(t, model.HostDisconnected)
	require.Equal(t, model.ValidationFailure, m.validation(t, "connected").Status)
	eventually(t, func() bool { // a slow machine is silent again before it is looked at
		m.poll(t)
		return m.read(t).Status == model.HostInsufficient
	}, "host did not come back", func() any { return m.read(t).StatusInfo })
	require.GreaterOrEqual(t, l.events(t, c.ID)["host_status_updated"], 3)
}

func TestSilenceDuringAnInstallation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		stage model.Stage
		to    model.HostStatus
	}{
		"fails a host in the live image":      {model.StageWritingImageToDisk, model.HostError},
		"is expected of a host that reboots":  {model.StageRebooting, model.HostInstallingInProgress},
		"is expected of a host on its disk":   {model.StageConfiguring, model.HostInstallingInProgress},
		"fails a host that took no step yet.": {"", model.HostError},
	}
	l := newLab(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, env := l.cluster(t)
			m := l.machine(env, 0)
			m.register(t)
			m.installing(t, c, test.stage)
			m.arm(t, c, "image-write", "image-write-1")
			later := evaluation.New(evaluation.Options{
				Store: l.later(t, 2*time.Minute), Log: discard(), Now: l.now, Timeouts: timeouts(),
			})
			require.NoError(t, later.RefreshCluster(t.Context(), c.ID))
			require.NotEqual(t, model.HostError, m.read(t).Status, "two minutes are not too long")

			// A process that began to listen just now cannot know of earlier silence.
			late := l.later(t, 4*time.Minute)
			fresh := evaluation.New(evaluation.Options{Store: late, Log: discard(), Now: late.Now, Timeouts: timeouts()})
			require.NoError(t, fresh.RefreshCluster(t.Context(), c.ID))
			require.NotEqual(t, model.HostError, m.read(t).Status, "silence before the process began to listen says nothing")

			old := evaluation.New(evaluation.Options{Store: late, Log: discard(), Now: l.now, Timeouts: timeouts()})
			require.NoError(t, old.RefreshCluster(t.Context(), c.ID))
			h := m.read(t)
			require.Equal(t, test.to, h.Status)
			i := m.activity(t, c, "image-write-1")
			if test.to != model.HostError {
				require.Equal(t, model.ActivityPending, i.State)
				return
			}
			require.Equal(t, model.ActivityReported, i.State)
			require.Equal(t, wire.ExitInterrupted, i.ExitCode)
			require.True(t, h.DecisionOpen)
			require.Equal(t, model.ClusterInstallingPendingUserAction, l.readCluster(t, c.ID).Status,
				"the workflow decides whether the cluster failed")
		})
	}
}

func TestBootstrapHostMayBeSilentLonger(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.installing(t, c, model.StageWaitingForBootkube)
	m.set(t, func(h *model.Host) { h.Bootstrap = true })
	for _, test := range []struct {
		after time.Duration
		to    model.HostStatus
	}{{4 * time.Minute, model.HostInstallingInProgress}, {6 * time.Minute, model.HostError}} {
		s := evaluation.New(evaluation.Options{Store: l.later(t, test.after), Log: discard(), Now: l.now, Timeouts: timeouts()})
		require.NoError(t, s.RefreshCluster(t.Context(), c.ID))
		require.Equal(t, test.to, m.read(t).Status)
	}
}

func TestLogsThatDoNotComeAreGivenUp(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *labOptions) { o.Timeouts.HostLogPending = time.Second })
	l.run(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.set(t, func(h *model.Host) { h.Status = model.HostError })
	l.setCluster(t, c.ID, func(c *model.Cluster) { c.Status = model.ClusterError })
	require.NoError(t, l.progress().Logs(t.Context(), env.ID, m.id, model.LogsRequested))
	eventually(t, func() bool { return m.read(t).LogsInfo == model.LogsTimeout }, "logs are still awaited",
		func() any { return m.read(t).LogsInfo })
}

func TestMediaThatIsGone(t *testing.T) {
	t.Parallel()
	gone := wire.StepReply{
		StepType: wire.StepTypeNtpSynchronizer, StepID: "ntp-synchronizer-00000001", ExitCode: 256,
		Error: "cannot read from the media",
	}
	back := replyOf("ntp-synchronizer", `{"ntp_sources":[]}`, 0)

	t.Run("disconnects a host until a step succeeds again", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		c, env := l.cluster(t)
		m := l.machine(env, 0)
		m.register(t)
		m.answerAll(t)
		l.refresh(t, c.ID)
		require.NoError(t, m.reply(t, gone))
		require.NoError(t, m.reply(t, gone))
		h := m.read(t)
		require.Equal(t, model.HostDisconnected, h.Status)
		require.Equal(t, model.MediaDisconnected, h.MediaStatus)
		require.Equal(t, 1, l.events(t, c.ID)["host_media_disconnected"])
		l.refresh(t, c.ID)
		require.Equal(t, model.HostDisconnected, m.read(t).Status)
		require.NoError(t, m.reply(t, back))
		require.Equal(t, model.MediaConnected, m.read(t).MediaStatus)
		l.refresh(t, c.ID)
		require.Equal(t, model.HostInsufficient, m.read(t).Status)
	})
	t.Run("fails a host that is being installed", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		c, env := l.cluster(t)
		m := l.machine(env, 0)
		m.register(t)
		m.installing(t, c, model.StageWritingImageToDisk)
		m.arm(t, c, "image-write", "image-write-1")
		require.NoError(t, m.reply(t, gone))
		require.Equal(t, model.HostError, m.read(t).Status)
		i := m.activity(t, c, "image-write-1")
		require.Equal(t, model.ActivityReported, i.State)
		require.Equal(t, 256, i.ExitCode)
	})
	t.Run("means nothing to a host on its disk", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		_, env := l.cluster(t)
		m := l.machine(env, 0)
		m.register(t)
		m.set(t, func(h *model.Host) { h.Status, h.Stage = model.HostInstalled, model.StageDone })
		require.NoError(t, m.reply(t, gone))
		require.Equal(t, model.HostInstalled, m.read(t).Status)
	})
}
