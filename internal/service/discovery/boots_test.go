package discovery_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// fenced gives a machine a step for its present boot, and attempt 2 of its cluster.
func (m *machine) fenced(t *testing.T, c *model.Cluster, step, id string) {
	t.Helper()
	id += "-" + m.id.String()
	m.setCluster(t, c.ID, func(c *model.Cluster) { c.InstallAttempt = 2 })
	_, err := m.store.ArmActivity(t.Context(), model.PendingActivity{
		ID: id, Kind: model.ActivityStep, ClusterID: c.ID, InfraEnvID: &m.infraEnv, HostID: &m.id, Type: step, Args: []string{"{}"},
		WorkflowID: "host:x", RunID: uuid.NewString(), ActivityID: id, TaskToken: []byte("t"), HeartbeatEvery: time.Minute,
		Fence: model.Fence{
			Takes: model.HostStatuses{"installing", "installing-in-progress"}, ClusterAttempt: 2, Boot: m.read(t).Boot,
		},
	})
	require.NoError(t, err)
}

func TestStepsThatWriteDisksCarryTheirFenceToOurAgents(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	given := func(steps model.AgentSteps, boot, step string) wire.Step {
		c, env := l.cluster(t)
		m := l.machine(env, 0)
		m.agentSteps, m.bootID = steps, boot
		m.register(t)
		m.installing(t, c, "")
		m.fenced(t, c, step, step+"-1")
		out := m.poll(t).Instructions
		require.Len(t, out, 1)
		if out[0].Fence != (wire.StepFence{}) {
			require.Equal(t, c.ID, out[0].Fence.ClusterID)
			out[0].Fence.ClusterID = uuid.Nil
		}
		return out[0]
	}
	require.Equal(t, wire.StepFence{Boot: "boot-1", ClusterAttempt: 2}, given(model.FineSteps, "boot-1", "image-write").Fence)
	require.Empty(t, given(model.FineSteps, "boot-1", "controller-wait").Fence, "it writes no disk")
	require.Empty(t, given(model.InstallStep, "", "install").Fence, "a foreign agent gets what it knows")
}

func TestMachineThatBootedAgainHasToRegisterBeforeItGetsSteps(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.bootID = "boot-1"
	m.register(t)
	m.installing(t, c, "")
	m.fenced(t, c, "image-write", "image-write-1")
	m.bootID = "boot-2"
	steps := m.poll(t)
	require.Empty(t, steps.Instructions)
	require.Equal(t, wire.Exit, steps.PostStepAction)
	require.Equal(t, model.ActivityPending, m.activity(t, c, "image-write-1").State)
	m.register(t)
	require.Equal(t, "boot-2", m.read(t).Boot)
	require.Equal(t, model.ActivityReported, m.activity(t, c, "image-write-1").State)
	require.NotEqual(t, wire.Exit, m.poll(t).PostStepAction)
}

func TestEachRegistrationOfAnAgentWithoutABootIsABoot(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.agentSteps = model.InstallStep
	m.register(t)
	first := m.read(t).Boot
	require.NotEmpty(t, first)
	m.register(t)
	require.NotEqual(t, first, m.read(t).Boot)
	require.NotEqual(t, wire.Exit, m.poll(t).PostStepAction)
}

// A bootstrap runs until its host is booted: an agent that only starts again ends no reset.
func TestResetOfABootstrapHostWaitsForItsBoot(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.bootID = "first"
	m.register(t)
	m.set(t, func(h *model.Host) { h.Status, h.BootstrapBoot = model.HostResettingPendingUserAction, "first" })
	require.Equal(t, model.HostResettingPendingUserAction, m.register(t).Status)
	m.bootID = "second"
	require.Equal(t, model.HostDiscovering, m.register(t).Status)
	require.False(t, m.read(t).BeganBootstrap())
}

// A host reports Rebooting and registers from the discovery image before its workflow has seen either.
func TestWrongBootOrderDoesNotFailTheStepThatLedToIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		agent model.AgentSteps
		step  string
	}{
		"of a foreign agent": {model.InstallStep, "install"},
		"of our agent":       {model.FineSteps, "reboot"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t) // of its own: the ids of workflows are the same
			c, env := l.cluster(t)
			m := l.machine(env, 0)
			m.agentSteps = test.agent
			m.register(t)
			m.installing(t, c, model.StageWritingImageToDisk)
			m.fenced(t, c, test.step, test.step+"-1")
			p := l.progress()
			require.NoError(t, p.Stage(t.Context(), m.infraEnv, m.id, model.StageRebooting, ""))
			for range 3 { // it boots the image again and again
				m.register(t)
				h := m.read(t)
				require.Equal(t, model.HostInstallingPendingUserAction, h.Status)
				require.Contains(t, h.StatusInfo, "boot order")
				row := m.activity(t, c, test.step+"-1")
				require.Equal(t, model.ActivityReported, row.State)
				require.Zero(t, row.ExitCode, row.Error)
			}
			require.Zero(t, l.events(t, c.ID)["host_registration_failed"])
		})
	}
}
