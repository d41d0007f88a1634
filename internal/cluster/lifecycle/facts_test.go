package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/wire"
)

func TestHostFactsAreReadFromTheHost(t *testing.T) {
	t.Parallel()
	h := host(1, model.RoleMaster, model.HostPreparingForInstallation)
	id := uuid.New()
	h.ClusterID, h.InstallationDiskPath = &id, "/dev/sda"
	c := &model.Cluster{Status: model.ClusterPreparingForInstallation, ControlPlaneCount: 1}
	facts := func() lifecycle.HostFacts {
		return lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Cluster: c, Timeouts: lifecycle.DefaultTimeouts(), Now: now})
	}
	f := facts()
	require.False(t, f.Unbound)
	require.False(t, f.NoAgent)
	require.Equal(t, lifecycle.Unknown, f.DiskSpeed)
	require.Equal(t, lifecycle.Unknown, f.Images)

	h.DiskSpeed = map[string]model.DiskSpeed{"/dev/sda": {Tested: true, ExitCode: 1}}
	h.Images = []wire.ContainerImageAvailability{{Name: "a", Result: "success"}, {Name: "b"}}
	require.Equal(t, lifecycle.Failed, facts().DiskSpeed)
	require.Equal(t, lifecycle.Unknown, facts().Images, "an image without a result is still awaited")

	h.DiskSpeed["/dev/sda"] = model.DiskSpeed{Tested: true}
	h.Images[1].Result = wire.ContainerImageAvailabilityResultFailure
	require.Equal(t, lifecycle.Passed, facts().DiskSpeed)
	require.Equal(t, lifecycle.Failed, facts().Images)

	off := []model.ValidationResult{
		{ID: "sufficient-installation-disk-speed", Status: model.ValidationDisabled},
		{ID: "container-images-available", Status: model.ValidationDisabled},
	}
	h.DiskSpeed["/dev/sda"] = model.DiskSpeed{Tested: true, ExitCode: 1}
	ignoring := lifecycle.NewHostFacts(lifecycle.HostInput{Host: h, Cluster: c, Results: off, Timeouts: lifecycle.DefaultTimeouts(), Now: now})
	require.Equal(t, []lifecycle.Outcome{lifecycle.Passed, lifecycle.Passed},
		[]lifecycle.Outcome{ignoring.DiskSpeed, ignoring.Images}, "a check that is switched off is not awaited")

	h.DiskSpeed, h.InstallerArgs = nil, []string{"--save-partindex", "5"}
	require.Equal(t, lifecycle.Passed, facts().DiskSpeed, "a disk that keeps partitions is not checked")

	h.ClusterID, h.Validations = nil, failed("connected")
	require.True(t, facts().Unbound)
	require.False(t, facts().Conditions.Connected, "stored results count when none are given")
	h.DecisionOpen = true
	require.True(t, facts().AwaitingRetry)
}

func TestLogsTimeOut(t *testing.T) {
	t.Parallel()
	timeouts := lifecycle.DefaultTimeouts()
	for _, tt := range []struct {
		state model.LogsState
		ago   time.Duration
		want  bool
	}{
		{model.LogsRequested, time.Minute, false},
		{model.LogsRequested, 3 * time.Minute, true},
		{model.LogsCollecting, 3 * time.Minute, false},
		{model.LogsCollecting, 11 * time.Minute, true},
		{model.LogsCompleted, time.Hour, false},
		{model.LogsNone, time.Hour, false},
	} {
		h := &model.Host{LogsInfo: tt.state, LogsStartedAt: now.Add(-tt.ago)}
		require.Equal(t, tt.want, lifecycle.HostLogsTimedOut(h, timeouts, now), "%s since %s", tt.state, tt.ago)
	}
	require.False(t, lifecycle.HostLogsTimedOut(&model.Host{LogsInfo: model.LogsRequested}, timeouts, now))
	c := &model.Cluster{LogsInfo: model.LogsCollecting, ControllerLogsStartedAt: now.Add(-61 * time.Minute)}
	require.True(t, lifecycle.ClusterLogsTimedOut(c, timeouts, now))
}

func TestClusterFactsAddHostsUp(t *testing.T) {
	t.Parallel()
	c := &model.Cluster{ControlPlaneCount: 3, LastPreparation: model.Preparation{Status: lifecycle.PreparationSuccess}, IngressCertAt: now}
	operators := []model.MonitoredOperator{
		{Name: "console", Type: "builtin", Status: model.OperatorAvailable},
		{Name: "odf", Type: "olm", Status: model.OperatorFailed, Timeout: 2 * time.Hour},
	}
	facts := func(hosts ...*model.Host) lifecycle.ClusterFacts {
		return lifecycle.NewClusterFacts(lifecycle.ClusterInput{
			Cluster: c, Hosts: hosts, Operators: operators, Timeouts: lifecycle.DefaultTimeouts(), Now: now,
		})
	}
	f := facts(hosts(model.RoleMaster, "preparing-successful", "preparing-successful", "preparing-successful")...)
	require.True(t, f.AllHostsPrepared && f.PreparationSucceeded && f.Installing && lifecycle.OperatorsDone(operators))
	require.False(t, f.UnpreparingHosts || f.Finalizing || f.AllHostsDone || f.AwaitingRetry)
	require.Equal(t, 2*time.Hour, lifecycle.OperatorTimeout(operators))
	require.Equal(t, []string{"odf"}, f.FailedOperators)

	f = facts(hosts(model.RoleMaster, "preparing-for-installation", "preparing-failed", "insufficient")...)
	require.True(t, f.UnpreparingHosts && f.FailedPreparingHosts)
	require.False(t, f.AllHostsPrepared || f.Installing)

	f = facts(append(hosts(model.RoleMaster, "installed", "installed", "installed"), hosts(model.RoleWorker, "error")...)...)
	require.True(t, f.Finalizing && f.AllHostsDone)

	waits := hosts(model.RoleMaster, "installed", "installed", "error")
	waits[2].DecisionOpen = true
	require.True(t, facts(waits...).AwaitingRetry)

	operators[1].Status = model.OperatorProgressing
	require.False(t, lifecycle.OperatorsDone(operators), "an operator is still progressing")
	operators = []model.MonitoredOperator{{Name: "console", Type: "builtin", Status: model.OperatorFailed}}
	require.False(t, lifecycle.OperatorsDone(operators), "a builtin operator must come up")
	require.False(t, facts().AllHostsPrepared, "no hosts are not prepared")
}

func TestConditionsIgnoreWhatIsReportedOnly(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"ntp-synced", "mtu-valid", "container-images-available", "inventory-not-partially-truncated", "media-connected",
	} {
		c := lifecycle.HostConditionsOf(failed(id))
		require.True(t, c.SufficientForInstall && c.MinHardware && c.RequiredInput, id)
	}
	for _, id := range []string{"platform-requirements-satisfied", "openshift-ai-gpu-requirements-satisfied"} {
		require.True(t, lifecycle.ClusterConditionsOf(failed(id)).Ready(), id)
	}
	disabled := failed("hostname-unique")
	disabled[0].Status = model.ValidationDisabled
	require.True(t, lifecycle.HostConditionsOf(disabled).SufficientForInstall)
	c := lifecycle.HostConditionsOf(failed("disk-encryption-requirements-satisfied"))
	require.True(t, !c.MinHardware && c.SufficientForInstall, "hardware, although its id ends like an operator's")
	require.False(t, lifecycle.HostConditionsOf(failed("inventory-not-fully-truncated")).ValidInventory())
}

func TestHasEnough(t *testing.T) {
	t.Parallel()
	const done, bad = model.HostInstalled, model.HostError
	for _, tt := range []struct {
		name     string
		count    int
		masters  []model.HostStatus
		arbiters []model.HostStatus
		workers  []model.HostStatus
		want     bool
	}{
		{"three masters are enough", 3, []model.HostStatus{done, done, done}, nil, nil, true},
		{"two of three masters are not", 3, []model.HostStatus{done, done, bad}, nil, nil, false},
		{"four of five masters are not", 5, []model.HostStatus{done, done, done, done, bad}, nil, nil, false},
		{"a single worker may fail", 3, []model.HostStatus{done, done, done}, nil, []model.HostStatus{bad}, true},
		{"one of two workers may not", 3, []model.HostStatus{done, done, done}, nil, []model.HostStatus{done, bad}, false},
		{"two of three workers are enough", 3, []model.HostStatus{done, done, done}, nil, []model.HostStatus{done, done, bad}, true},
		{"two masters and an arbiter are enough", 2, []model.HostStatus{done, done}, []model.HostStatus{done}, nil, true},
		{"the arbiter may not fail", 2, []model.HostStatus{done, done}, []model.HostStatus{bad}, nil, false},
		{"two masters with fencing are enough", 2, []model.HostStatus{done, done}, nil, nil, true},
		{"a single node is enough", 1, []model.HostStatus{done}, nil, nil, true},
		{"a single node that failed is not", 1, []model.HostStatus{bad}, nil, nil, false},
		{"no hosts are not", 3, nil, nil, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all := append(hosts(model.RoleMaster, tt.masters...), hosts(model.RoleArbiter, tt.arbiters...)...)
			all = append(all, hosts(model.RoleWorker, tt.workers...)...)
			c := &model.Cluster{ControlPlaneCount: tt.count}
			require.Equal(t, tt.want, lifecycle.HasEnough(c, all, done))
			require.Equal(t, tt.want, lifecycle.Finalizable(c, all))
			require.Equal(t, tt.want, lifecycle.Installing(c, all))
		})
	}
}

func TestSoftTimeoutsNeedTheServiceAndTheOrganisation(t *testing.T) {
	t.Parallel()
	soft, err := lifecycle.ParseTimeouts(map[string]string{"ENABLE_SOFT_TIMEOUTS": "true"})
	require.NoError(t, err)
	for _, tt := range []struct {
		name     string
		timeouts lifecycle.Timeouts
		wanted   bool
		soft     bool
		limit    time.Duration
	}{
		{"both", soft, true, true, 70 * time.Minute},
		{"the service alone", soft, false, false, 10 * time.Hour},
		{"the organisation alone", lifecycle.DefaultTimeouts(), true, false, 10 * time.Hour},
	} {
		got := tt.timeouts.Of(&model.Cluster{OrgSoftTimeouts: tt.wanted})
		require.Equal(t, tt.soft, got.Soft, tt.name)
		require.Equal(t, tt.limit, got.FinalizingStage(model.FinalizingWaitingForOperators, 0), tt.name)
	}
	require.True(t, soft.Of(nil).Soft, "a host without a cluster")
	require.Equal(t, 70*time.Minute, soft.FinalizingStages[model.FinalizingWaitingForOperators], "the service's own are left alone")
}
