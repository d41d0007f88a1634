package discovery_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

func (m *machine) validation(t *testing.T, id string) model.ValidationResult {
	t.Helper()
	for _, r := range m.read(t).Validations {
		if r.ID == id {
			return r
		}
	}
	return model.ValidationResult{}
}

func renamed(name string) func(*model.Host, *store.Tx) error {
	return func(h *model.Host, tx *store.Tx) error {
		h.RequestedHostname = name
		tx.Refresh(h.ClusterID, h.InfraEnvID)
		return nil
	}
}

func TestEvaluationThatFindsNothingNewWritesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	machines := []*machine{l.machine(env, 0), l.machine(env, 1), l.machine(env, 2)}
	for _, m := range machines {
		m.register(t)
		m.answerAll(t)
	}
	for range 3 {
		l.refresh(t, c.ID)
		for _, m := range machines {
			m.answerAll(t)
		}
	}
	l.refresh(t, c.ID)
	before, host := l.readCluster(t, c.ID), machines[0].read(t)
	l.refresh(t, c.ID)
	require.Equal(t, before, l.readCluster(t, c.ID))
	require.Equal(t, host, machines[0].read(t))
	require.ErrorIs(t, l.evaluation.RefreshCluster(t.Context(), uuid.New()), model.ErrNotFound)
}

func TestMachineNetworkFollowsTheVirtualAddress(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.answerAll(t)
	l.refresh(t, c.ID)
	require.Len(t, l.readCluster(t, c.ID).MachineNetworks, 1)
	generation := l.readCluster(t, c.ID).NetworkGeneration
	l.setCluster(t, c.ID, func(c *model.Cluster) { c.APIVIPs, c.IngressVIPs = nil, nil })
	l.refresh(t, c.ID)
	got := l.readCluster(t, c.ID)
	require.Empty(t, got.MachineNetworks)
	require.Greater(t, got.NetworkGeneration, generation, "hosts are asked again")
	require.Equal(t, model.ClusterPendingForInput, got.Status)
}

func TestPreparingHostsAreJudgedAndTheirClusterIsLeftToTheWorkflow(t *testing.T) {
	t.Parallel()
	image := `{"images":[{"name":"a","result":"success","size_bytes":1000,"time":1,"download_rate":10}]}`
	tests := map[string]struct {
		speed, images string
		exit          int
		to            model.HostStatus
	}{
		"waits for the checks": {to: model.HostPreparingForInstallation},
		"waits for the images": {speed: `{"io_sync_duration":3,"path":"/dev/sda"}`, to: model.HostPreparingForInstallation},
		"is prepared when both passed": {
			speed: `{"io_sync_duration":3,"path":"/dev/sda"}`, images: image, to: model.HostPreparingSuccessful,
		},
		"is insufficient with a broken disk": {speed: `{"path":"/dev/sda"}`, exit: 1, to: model.HostInsufficient},
		"failed to prepare without an image": {images: `{"images":[{"name":"a","result":"failure"}]}`, to: model.HostPreparingFailed},
	}
	l := newLab(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, env := l.cluster(t)
			m := l.machine(env, 0)
			m.register(t)
			m.answerAll(t)
			m.set(t, func(h *model.Host) { h.Status, h.Role = model.HostKnown, model.RoleMaster })
			l.setCluster(t, c.ID, func(c *model.Cluster) { c.Status = model.ClusterPreparingForInstallation })
			l.refresh(t, c.ID)
			require.Equal(t, model.HostPreparingForInstallation, m.read(t).Status)
			if test.speed != "" {
				require.NoError(t, m.reply(t, replyOf("installation-disk-speed-check", test.speed, test.exit)))
			}
			if test.images != "" {
				require.NoError(t, m.reply(t, replyOf("container-image-availability", test.images, 0)))
			}
			l.refresh(t, c.ID)
			require.Equal(t, test.to, m.read(t).Status)
			require.Equal(t, model.ClusterPreparingForInstallation, l.readCluster(t, c.ID).Status)
		})
	}
}

func TestTimeOutsOfAnInstallationAreTheWorkflows(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.installing(t, c, model.StageRebooting)
	m.set(t, func(h *model.Host) { h.Progress.StageUpdatedAt = l.now().Add(-24 * time.Hour) })
	l.refresh(t, c.ID)
	require.Equal(t, model.HostInstallingInProgress, m.read(t).Status)
	require.Equal(t, model.ClusterInstalling, l.readCluster(t, c.ID).Status)
}

func TestClusterWaitsForAFailedHostUntilItIsGivenUp(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.installing(t, c, model.StageWritingImageToDisk)
	m.set(t, func(h *model.Host) { h.Status, h.DecisionOpen = model.HostError, true })
	l.refresh(t, c.ID)
	require.Equal(t, model.ClusterInstallingPendingUserAction, l.readCluster(t, c.ID).Status)
	m.set(t, func(h *model.Host) { h.DecisionOpen = false })
	l.refresh(t, c.ID)
	require.Equal(t, model.ClusterError, l.readCluster(t, c.ID).Status)
	require.Equal(t, 1, l.events(t, c.ID)["cluster_installation_failed"])
	l.refresh(t, c.ID)
	hosts, err := l.store.ClusterHosts(t.Context(), c.ID)
	require.NoError(t, err)
	for _, h := range hosts {
		require.Equal(t, model.HostError, h.Status)
	}
}

func TestClusterFinalizesWhenItsHostsAreInstalled(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	m.installing(t, c, model.StageJoined)
	hosts, err := l.store.ClusterHosts(t.Context(), c.ID)
	require.NoError(t, err)
	for _, h := range hosts {
		require.NoError(t, l.progress().Stage(t.Context(), h.InfraEnvID, h.ID, model.StageDone, ""))
	}
	l.setCluster(t, c.ID, func(c *model.Cluster) { c.IngressCertAt = l.now() })
	l.refresh(t, c.ID)
	got := l.readCluster(t, c.ID)
	require.Equal(t, model.ClusterFinalizing, got.Status)
	require.Equal(t, 100, got.Progress.Installing)
	require.Equal(t, 80, got.Progress.Total)
	l.refresh(t, c.ID)
	require.Equal(t, model.ClusterFinalizing, l.readCluster(t, c.ID).Status, "the workflow completes it")
}

func TestDisabledValidationsHoldNothingUp(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *labOptions) {
		rules := validation.DefaultOptions()
		rules.DisabledHost = []string{"has-min-cpu-cores", "has-cpu-cores-for-role"}
		o.Rules = &rules
	})
	l.run(t)
	c, env := l.cluster(t, singleNode)
	m := l.machine(env, 0)
	m.cpus = 1
	m.boot(t)
	eventually(t, func() bool { return m.validation(t, "has-min-cpu-cores").Status == model.ValidationDisabled },
		"the rule is not disabled", func() any { return m.read(t).Validations })
	require.Empty(t, l.events(t, c.ID)["host_validation_failed"])
}

func TestMarksAreEvaluatedByTheRunningService(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(t)
	c, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	eventually(t, func() bool { return len(m.read(t).Validations) > 0 && len(l.readCluster(t, c.ID).Validations) > 0 },
		"nothing was evaluated", func() any { return m.read(t) })
	eventually(t, func() bool {
		_, pending, err := l.store.NextRefresh(t.Context())
		return err == nil && !pending
	}, "the mark stays", func() any { return nil })
}

func TestMarksAreEvaluatedByTheClockWithoutSignals(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *labOptions) { o.Signals = nil })
	l.run(t)
	_, env := l.cluster(t)
	m := l.machine(env, 0)
	m.register(t)
	steps, err := l.service.NextSteps(t.Context(), m.pollInput(time.Minute))
	require.NoError(t, err)
	require.Positive(t, steps.NextInstructionSeconds, "a poll that cannot be held returns the seconds to the next")
	eventually(t, func() bool { return len(m.read(t).Validations) > 0 }, "nothing was evaluated", func() any { return m.read(t) })
}

func TestOthersAreAskedAboutAHostThatCameBackThoughTheEvaluationStartsOver(t *testing.T) {
	t.Parallel()
	var meanwhile func() // runs within the first evaluation
	l := newLab(t, func(o *labOptions) {
		o.Requirements = func(version string) model.RoleRequirements {
			if do := meanwhile; do != nil {
				meanwhile = nil
				do()
			}
			return openshift.RequirementsFor(version)
		}
	})
	c, env := l.cluster(t)
	back, busy := l.machine(env, 0), l.machine(env, 1)
	for _, m := range []*machine{back, busy} {
		m.register(t)
		m.answerAll(t)
	}
	l.refresh(t, c.ID)
	back.set(t, func(h *model.Host) { h.Status = model.HostDisconnected })
	back.poll(t)
	busy.set(t, func(h *model.Host) { h.RequestedHostname = "one" })
	before := l.readCluster(t, c.ID).HostsGeneration
	meanwhile = func() { busy.set(t, func(h *model.Host) { h.RequestedHostname = "two" }) }
	l.refresh(t, c.ID)
	require.Nil(t, meanwhile)
	require.NotEqual(t, model.HostDisconnected, back.read(t).Status)
	require.Contains(t, busy.validation(t, "hostname-unique").Message, "two")
	require.Equal(t, before+1, l.readCluster(t, c.ID).HostsGeneration)
}
