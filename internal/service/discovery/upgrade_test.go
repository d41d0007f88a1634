package discovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/service/evaluation"
	"slipway/internal/wire"
)

// release sets the agent of the service in these tests.
func release(o *labOptions) {
	o.AgentImage = "agent:2"
	o.AgentVersion = "ours:2"
	o.programs = func() (map[string]wire.AgentProgram, error) {
		return map[string]wire.AgentProgram{"x86_64": {Path: "/agent/slipway-agent-x86_64", SHA256: "abc"}}, nil
	}
}

func (m *machine) pollAs(t *testing.T, version string) []wire.Step {
	t.Helper()
	in := m.pollInput(0)
	in.AgentVersion = version
	steps, err := m.service.NextSteps(t.Context(), in)
	require.NoError(t, err)
	return steps.Instructions
}

func TestAgentOfAnotherVersionIsUpgradedAndToldOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		agentSteps  model.AgentSteps
		old, wanted string
		argument    string
	}{
		"a foreign agent by its image": {model.InstallStep, "agent:1", "agent:2", `{"agent_image":"agent:2"}`},
		"an agent of ours by its program": {
			model.FineSteps, "ours:1", "ours:2",
			`{"agent_image":"ours:2","programs":{"x86_64":{"path":"/agent/slipway-agent-x86_64","sha256":"abc"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, release)
			c, env := l.cluster(t)
			m := l.machine(env, 0)
			m.register(t)
			m.set(t, func(h *model.Host) { h.AgentSteps, h.DiscoveryAgentVersion = test.agentSteps, test.old })
			steps := m.pollAs(t, test.old)
			require.Len(t, steps, 1)
			require.Equal(t, wire.StepTypeUpgradeAgent, steps[0].StepType)
			require.Equal(t, []string{test.argument}, steps[0].Args)
			require.Equal(t, 1, l.events(t, c.ID)["upgrade_agent_started"])
			l.refresh(t, c.ID)
			require.Equal(t, model.ValidationFailure, m.validation(t, "compatible-agent").Status)

			for result, event := range map[string]string{"failure": "upgrade_agent_failed", "success": "upgrade_agent_finished"} {
				require.NoError(t, m.reply(t, wire.StepReply{
					StepType: wire.StepTypeUpgradeAgent, StepID: steps[0].StepID,
					Output: `{"agent_image":"` + test.wanted + `","result":"` + result + `"}`,
				}))
				require.Equal(t, 1, l.events(t, c.ID)[event])
			}
			require.Empty(t, m.pollAs(t, test.old), "nothing else is asked meanwhile")
			steps = m.pollAs(t, test.wanted)
			require.NotEmpty(t, steps)
			require.Equal(t, wire.StepTypeInventory, steps[0].StepType)
			l.refresh(t, c.ID)
			require.Equal(t, model.ValidationSuccess, m.validation(t, "compatible-agent").Status)
		})
	}
}

func TestAgentsAreNotUpgradedDuringAnInstallation(t *testing.T) {
	t.Parallel()
	l := newLab(t, release)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.installing(t, c, model.StageWritingImageToDisk)
	for _, step := range m.pollAs(t, "ours:1") {
		require.NotEqual(t, wire.StepTypeUpgradeAgent, step.StepType)
	}
}

func TestSoftTimeoutsKeepASilentHostInstalling(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wanted bool
		to     model.HostStatus
	}{
		"where the organisation wants them":         {true, model.HostInstallingInProgress},
		"but not where the organisation wants none": {false, model.HostError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			soft := timeouts()
			soft.Soft = true
			l := newLab(t, func(o *labOptions) { o.Timeouts = soft })
			c, env := l.cluster(t)
			m := l.machine(env, 0)
			m.register(t)
			m.installing(t, c, model.StageWritingImageToDisk)
			l.setCluster(t, c.ID, func(c *model.Cluster) { c.OrgSoftTimeouts = test.wanted })
			late := evaluation.New(evaluation.Options{Store: l.later(t, 4*time.Minute), Log: discard(), Now: l.now, Timeouts: soft})
			require.NoError(t, late.RefreshCluster(t.Context(), c.ID))
			h := m.read(t)
			require.Equal(t, test.to, h.Status)
			require.Equal(t, test.wanted, h.ConnectionTimedOut, "silent while installing")
			if !test.wanted {
				return
			}
			require.Contains(t, h.StatusInfo, "sign")
			l.refresh(t, c.ID)
			h = m.read(t)
			require.False(t, h.ConnectionTimedOut, "back while installing")
			require.Contains(t, h.StatusInfo, "back")
		})
	}
}

func TestLogsOfTheControllerThatDoNotComeAreGivenUp(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *labOptions) { o.Timeouts.LogCollection = time.Second })
	c, _ := l.cluster(t)
	for _, status := range []model.ClusterStatus{model.ClusterError, model.ClusterCancelled} {
		l.setCluster(t, c.ID, func(c *model.Cluster) {
			c.Status, c.LogsInfo, c.ControllerLogsStartedAt = status, model.LogsCollecting, time.Now().Add(-time.Minute)
		})
		require.NoError(t, l.store.MarkAwaitedLogs(t.Context()))
		refreshMark, due, err := l.store.ClaimRefresh(t.Context(), time.Minute)
		require.NoError(t, err)
		require.True(t, due, "the clock alone shows it")
		l.refresh(t, c.ID)
		require.Equal(t, model.LogsTimeout, l.readCluster(t, c.ID).LogsInfo)
		require.Equal(t, status, l.readCluster(t, c.ID).Status)
		require.NoError(t, l.store.FinishRefresh(t.Context(), refreshMark, l.now()))
	}
}

func TestMediaOfHostsInEveryState(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	gone := wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-00000001", ExitCode: 256, Error: "cannot read from the media"}
	for status, want := range map[model.HostStatus]model.HostStatus{
		model.HostDiscovering: model.HostDisconnected, model.HostInsufficient: model.HostDisconnected, model.HostKnown: model.HostDisconnected,
		model.HostPendingForInput: model.HostDisconnected, model.HostBinding: model.HostDisconnected,
		model.HostPreparingForInstallation: model.HostError, model.HostPreparingFailed: model.HostError,
		model.HostPreparingSuccessful: model.HostError,
		model.HostInstalling:          model.HostError, model.HostInstallingInProgress: model.HostError, model.HostError: model.HostError,
		model.HostDiscoveringUnbound: model.HostDisconnectedUnbound, model.HostKnownUnbound: model.HostDisconnectedUnbound,
		model.HostInsufficientUnbound: model.HostDisconnectedUnbound, model.HostUnbinding: model.HostDisconnectedUnbound,
		model.HostInstalled: model.HostInstalled, model.HostCancelled: model.HostCancelled,
	} {
		_, env := l.cluster(t)
		m := l.machine(env, 0)
		m.register(t)
		m.set(t, func(h *model.Host) { h.Status = status })
		require.NoError(t, m.reply(t, gone))
		h := m.read(t)
		require.Equal(t, want, h.Status, "from %s", status)
		require.Equal(t, model.MediaDisconnected, h.MediaStatus)
	}
}
