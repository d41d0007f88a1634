package lifecycle_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
)

func TestElectBootstrap(t *testing.T) {
	t.Parallel()
	all := append(hosts(model.RoleWorker, "known"), hosts(model.RoleMaster, "known", "known", "known")...)
	require.Equal(t, all[1], lifecycle.ElectBootstrap(all), "the first by name")
	all[1].RequestedHostname = "z"
	require.Equal(t, all[2], lifecycle.ElectBootstrap(all))
	all[3].Bootstrap = true
	require.Equal(t, all[3], lifecycle.ElectBootstrap(all), "the host that was elected before")
	require.Nil(t, lifecycle.ElectBootstrap(all[:1]))
}

// passed returns the share of its stages that a host has passed at the end of a stage. The order of stages is written out by the tests of
// package steps.
func passed(t *testing.T, stages []model.Stage, last model.Stage) (done, all int) {
	t.Helper()
	require.Contains(t, stages, last)
	return slices.Index(stages, last) + 1, len(stages)
}

func TestHostPercentage(t *testing.T) {
	t.Parallel()
	master, bootstrap := &model.Host{Role: model.RoleMaster}, &model.Host{Role: model.RoleMaster, Bootstrap: true}
	worker := &model.Host{Role: model.RoleAutoAssign, SuggestedRole: model.RoleWorker}
	added := &model.Host{Role: model.RoleWorker, Kind: model.KindAddToExistingClusterHost}
	percent := func(stages []model.Stage, last model.Stage) int {
		done, all := passed(t, stages, last)
		return done * 100 / all
	}
	require.Equal(t, percent(steps.StagesFor(model.RoleMaster, true, false), "Starting installation"),
		lifecycle.HostPercentage(bootstrap, false, "Starting installation"))
	require.Equal(t, percent(steps.StagesFor(model.RoleMaster, false, false), "Writing image to disk"),
		lifecycle.HostPercentage(master, false, "Writing image to disk"))
	require.Equal(t, 100, lifecycle.HostPercentage(worker, false, "Done"))
	require.Equal(t, percent(steps.StagesFor(model.RoleMaster, true, true), "Writing image to disk"),
		lifecycle.HostPercentage(bootstrap, true, "Writing image to disk"))
	untilReboot := steps.StagesFor(model.RoleWorker, false, false)
	untilReboot = untilReboot[:slices.Index(untilReboot, "Rebooting")+1]
	require.Equal(t, percent(untilReboot, "Starting installation"), lifecycle.HostPercentage(added, false, "Starting installation"),
		"clients see its stages up to the reboot")
	require.Equal(t, 100, lifecycle.HostPercentage(added, false, "Rebooting"))
	worker.Progress.Percentage, added.Progress.Percentage = 42, 100
	require.Equal(t, 42, lifecycle.HostPercentage(worker, false, "Failed"), "a failure keeps what was reached")
	require.Equal(t, 100, lifecycle.HostPercentage(added, false, "Joined"))
	added.Progress.Percentage = 60
	require.Equal(t, 100, lifecycle.HostPercentage(added, false, "Done"), "its agent reported no reboot")
}

func TestClusterProgress(t *testing.T) {
	t.Parallel()
	operators := []model.MonitoredOperator{
		{Type: "builtin", Status: model.OperatorAvailable}, {Type: "olm", Status: model.OperatorProgressing},
	}
	masters := hosts(model.RoleMaster, "preparing-successful", "known", "preparing-successful")
	masters[0].Bootstrap = true
	all := append(masters, hosts(model.RoleWorker, "known")...)
	c := &model.Cluster{ControlPlaneCount: 3, Progress: model.ClusterProgress{Installing: 90}}
	progress := func(status model.ClusterStatus) model.ClusterProgress {
		c.Status = status
		c.Progress = lifecycle.ClusterProgress(c, all, operators)
		return c.Progress
	}
	require.Equal(t, model.ClusterProgress{Preparing: 50, Total: 5}, progress("preparing-for-installation"))

	all[0].Stage, all[1].Stage, all[3].Stage = "Waiting for bootkube", "Rebooting", "Waiting for control plane"
	bootstrap, ofBootstrap := passed(t, steps.StagesFor(model.RoleMaster, true, false), "Waiting for bootkube")
	master, ofMaster := passed(t, steps.StagesFor(model.RoleMaster, false, false), "Rebooting")
	worker, ofWorker := passed(t, steps.StagesFor(model.RoleWorker, false, false), "Waiting for control plane")
	share := (bootstrap + master + worker) * 100 / (ofBootstrap + 2*ofMaster + ofWorker)
	installing := model.ClusterProgress{Preparing: 100, Installing: share, Total: 10 + share*7/10}
	require.Equal(t, installing, progress("installing"))
	all[1].Stage, all[1].Progress.Percentage = "Failed", master*100/ofMaster
	require.Equal(t, installing, progress("installing"), "a failed host keeps its stages")
	all[0].Stage = ""
	require.Equal(t, installing, progress("installing"), "a retried host takes nothing back")

	for _, h := range all {
		h.Stage = "Done"
	}
	finalizing := model.ClusterProgress{Preparing: 100, Installing: 100, Finalizing: 50, Total: 90}
	require.Equal(t, finalizing, progress("finalizing"))
	require.Equal(t, finalizing, progress("error"), "a failed cluster shows how far it came")
	require.Equal(t, 100, progress("installed").Total)
	require.Zero(t, progress("insufficient").Total)
}

// Clients compute the total of the parts that they see, each cut off by itself: 60.9 of 70 and 18.4 of 30 are 60 and 18.
func TestTotalProgressIsTheSumOfItsParts(t *testing.T) {
	t.Parallel()
	operators := make([]model.MonitoredOperator, 7)
	for i := range 3 {
		operators[i].Status = model.OperatorAvailable
	}
	c := &model.Cluster{ControlPlaneCount: 3, Status: "finalizing", Progress: model.ClusterProgress{Installing: 87}}
	require.Equal(t, model.ClusterProgress{Preparing: 100, Installing: 87, Finalizing: 42, Total: 60 + 18},
		lifecycle.ClusterProgress(c, hosts(model.RoleMaster, "installing", "installing", "installing"), operators))
}

func TestParseTimeouts(t *testing.T) {
	t.Parallel()
	d := lifecycle.DefaultTimeouts()
	require.Equal(t, 17*time.Minute, d.PrepareHost)
	require.Equal(t, 18*time.Minute, d.PrepareCluster)
	require.Equal(t, 80*time.Minute, d.Stage(model.StageRebooting, true))
	for stage, want := range map[model.Stage]time.Duration{
		model.StageRebooting: 80 * time.Minute, model.StageStartingInstallation: 30 * time.Minute,
		model.StageWritingImageToDisk: 30 * time.Minute, model.StageCopyingRegistryData: 90 * time.Minute,
		model.StageWaitingForIgnition: 24 * time.Hour, model.StageJoined: time.Hour, "Juggling": time.Hour,
	} {
		require.Equal(t, want, d.Stage(stage, false), stage)
	}
	require.Equal(t, 10*time.Hour, d.FinalizingStage(model.FinalizingWaitingForOperators, 0))
	require.Equal(t, 10*time.Minute, d.FinalizingStage(model.FinalizingApplyingOLMManifests, 0))
	require.Equal(t, 2*time.Hour, d.FinalizingStage(model.FinalizingWaitingForCSV, 2*time.Hour), "as long as the slowest operator")
	require.Equal(t, 70*time.Minute, d.FinalizingStage(model.FinalizingAddingRouterCA, 2*time.Hour))
	require.Equal(t, 70*time.Minute, softTimeouts().FinalizingStage(model.FinalizingWaitingForOperators, 0))

	got, err := lifecycle.ParseTimeouts(map[string]string{
		"HOST_STAGE_WRITING_IMAGE_TO_DISK_TIMEOUT": "45m", "HOST_STAGE_JOINED_TIMEOUT": "2h",
		"FINALIZING_STAGE_ADDING_ROUTER_CA_TIMEOUT": "5m", "DISK_CHECK_TIMEOUT": "30m", "HOST_MAX_DISCONNECTION_TIME": "1m",
	})
	require.NoError(t, err)
	require.Equal(t, 45*time.Minute, got.Stage(model.StageWritingImageToDisk, false))
	require.Equal(t, 2*time.Hour, got.Stage(model.StageJoined, false))
	require.Equal(t, 5*time.Minute, got.FinalizingStage(model.FinalizingAddingRouterCA, 0))
	require.Equal(t, 31*time.Minute, got.PrepareHost, "outlasts the longest check")
	require.Equal(t, time.Minute, got.Disconnect)

	for name, value := range map[string]string{
		"FINALIZING_TIMEOUT": "soon", "RESET_CLUSTER_TIMEOUT": "-1m", "ENABLE_SOFT_TIMEOUTS": "perhaps",
	} {
		_, err := lifecycle.ParseTimeouts(map[string]string{name: value})
		require.ErrorContains(t, err, name)
	}
	var names []string
	for _, setting := range lifecycle.TimeoutSettings() {
		names = append(names, setting.Name)
	}
	require.Contains(t, names, "HOST_STAGE_WAITING_FOR_CONTROL_PLANE_TIMEOUT")
	require.Contains(t, names, "FINALIZING_STAGE_WAITING_FOR_OLM_OPERATORS_CSV_INITIALIZATION_TIMEOUT")
}

func TestHostsOfASingleNodeAreItsControlPlane(t *testing.T) {
	t.Parallel()
	single, three := &model.Cluster{ControlPlaneCount: 1}, &model.Cluster{ControlPlaneCount: 3}
	weak := host(0, model.RoleAutoAssign, model.HostDiscovering, 3, 15, 120)
	lifecycle.FollowSingleNode(single, weak)
	require.Equal(t, model.RoleMaster, weak.Role, "its validations show what it lacks")
	require.True(t, weak.Bootstrap)

	weak.Role = model.RoleAutoAssign
	lifecycle.FollowSingleNode(single, weak)
	require.Equal(t, model.RoleAutoAssign, weak.Role, "a user chose that")

	weak.Role = model.RoleMaster
	lifecycle.FollowSingleNode(three, weak)
	require.Equal(t, model.RoleAutoAssign, weak.Role, "free again")
	require.False(t, weak.Bootstrap)

	for name, other := range map[string]*model.Host{
		"a user's choice": host(0, model.RoleWorker, model.HostKnown),
		"installed":       host(0, model.RoleAutoAssign, model.HostInstalled),
		"day 2":           {Kind: model.KindAddToExistingClusterHost, Role: model.RoleAutoAssign, Status: model.HostKnown},
	} {
		before := *other
		lifecycle.FollowSingleNode(single, other)
		require.Equal(t, before, *other, name)
	}
	elected := host(0, model.RoleMaster, model.HostKnown)
	elected.Bootstrap = true
	lifecycle.FollowSingleNode(three, elected)
	require.True(t, elected.Bootstrap, "an election stays")
}
