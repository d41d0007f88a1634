package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

// allPass reports whether every rule of a group passed, or was not evaluated at all.
func allPass(results []model.ValidationResult, group ...string) bool {
	for _, r := range results {
		bad := r.Status != model.ValidationSuccess && r.Status != model.ValidationDisabled
		if bad && slices.Contains(group, r.ID) {
			return false
		}
	}
	return true
}

// stageLimits are the times of docs/reference/state-rules.md, "Time-outs of stages" in
// minutes; others have 60.
var stageLimits = map[model.Stage]int{
	"Starting installation": 30, "Writing image to disk": 30, "Copying registry data to disk": 90, "Rebooting": 80,
	"Waiting for ignition": 24 * 60,
}

func past(since time.Time, minutes int) bool {
	return !since.IsZero() && now.Sub(since) > time.Duration(minutes)*time.Minute
}

// nameOfHost gives the named conditions of the host tables on some facts.
func nameOfHost(t *testing.T, f *hostPicture, results []model.ValidationResult) func(string) bool {
	t.Helper()
	passes := func(group ...string) bool { return allPass(results, group...) }
	limit, found := stageLimits[f.Stage]
	if !found {
		limit = 60
	}
	if f.singleNode && f.Stage == "Rebooting" {
		limit = 80
	}
	require.Equal(t, time.Duration(limit)*time.Minute, f.Timeouts.Stage(f.Stage, f.singleNode), "the limit that the workflow keeps")
	ignored := f.ClusterStatus == "installing-pending-user-action" &&
		slices.Contains([]model.Stage{"Waiting for control plane", "Waiting for controller", "Waiting for bootkube", "Rebooting"}, f.Stage)
	unknown := f.DiskSpeed == lifecycle.Unknown || f.Images == lifecycle.Unknown
	failed := f.DiskSpeed == lifecycle.Failed || f.Images == lifecycle.Failed
	conditions := map[string]bool{
		"IsConnected": passes("connected"), "IsMediaConnected": passes("media-connected"), "HasInventory": passes("has-inventory"),
		"InventoryNotFullyTruncated": passes("inventory-not-fully-truncated"),
		"hasValidInventory":          passes("has-inventory", "inventory-not-fully-truncated"),
		"hasMinRequiredHardware":     passes(strings.Fields(dayOneHardware)...),
		"sufficientToBeBound":        passes(append(strings.Fields(minHardwareGroup), "hostname-valid")...),
		"requiredInputFieldsExist":   passes("machine-cidr-defined"),
		"isSufficientForInstall":     passes(toInstall...),
		"VSphereHostUUIDEnabled":     passes("vsphere-disk-uuid-enabled"),

		"installationDiskSpeedUnknown": f.DiskSpeed == lifecycle.Unknown, "imagesAvailabilityUnknown": f.Images == lifecycle.Unknown,
		"SufficientOrUnknownInstallationDiskSpeed":       f.DiskSpeed != lifecycle.Failed,
		"SucessfullOrUnknownContainerImagesAvailability": f.Images != lifecycle.Failed,
		"atLeastOneConditionUnknown":                     unknown,
		"allConditionsSuccessful":                        !unknown && !failed,
		"allConditionsSuccessfulOrUnknown":               !failed,
		"IsDay2Host":                                     f.DayTwo,
		"IsHostInReboot":                                 f.Stage == "Rebooting",
		"IsInStages(WritingImageToDisk)":                 f.Stage == "Writing image to disk",
		"IsInStages(CopyingRegistryDataToDisk)":          f.Stage == "Copying registry data to disk",
		"IsInStages(WritingImageToDisk, CopyingRegistryDataToDisk, Rebooting)": slices.Contains(
			[]model.Stage{"Writing image to disk", "Copying registry data to disk", "Rebooting"}, f.Stage),
		"ValidRoleForInstallation":        slices.Contains([]model.Role{"master", "arbiter", "worker"}, f.Role),
		"ClusterPreparingForInstallation": f.ClusterStatus == "preparing-for-installation",
		"ClusterInstalling":               f.ClusterStatus == "installing" || f.ClusterStatus == "finalizing",
		"ClusterInError":                  f.ClusterStatus == "error",
		"IsClusterPostInstallation":       f.ClusterStatus == "installed" || f.ClusterStatus == "adding-hosts",
		"ClusterWouldSucceedWithoutHost":  f.viable,

		"SoftTimeoutsEnabled": f.Timeouts.Soft, "ConnectionTimedOut": f.ConnectionTimedOut, "HostStageTimedOut": f.StageTimedOut,
		"IsLogCollectionTimedOut":                 f.LogsTimedOut,
		"IsPreparingTimedOut":                     past(f.statusSince, 17),
		"HasStatusTimedOut(InstallationTimeout)":  past(f.statusSince, 20),
		"HasStatusTimedOut(ReclaimTimeout)":       past(f.statusSince, 60),
		"HasPendingUserActionTimedOut":            past(f.statusSince, 60),
		"HasInstallationInProgressTimedOut":       past(f.stageSince, limit),
		"shouldIgnoreInstallationProgressTimeout": ignored,
		"AwaitingRetry":                           f.AwaitingRetry,
	}
	return named(t, conditions)
}

// nameOfCluster gives the names of the cluster table.
func nameOfCluster(t *testing.T, f *clusterPicture, results []model.ValidationResult) func(string) bool {
	t.Helper()
	passes := func(groups ...string) bool { return allPass(results, strings.Fields(strings.Join(groups, " "))...) }
	required := allPass(results, toInstallAll...)
	limit := 70
	switch f.FinalizingStage {
	case "Waiting for cluster operators":
		if !f.Timeouts.Soft {
			limit = 600
		}
	case "Applying olm manifests", "Waiting for OLM operator setup jobs":
		limit = 10
	}
	olm := []model.FinalizingStage{
		"Applying olm manifests", "Waiting for olm operators csv initialization", "Waiting for olm operators csv",
		"Waiting for OLM operator setup jobs",
	}
	if slices.Contains(olm, f.FinalizingStage) {
		limit = max(limit, int(f.operators/time.Minute))
	}
	require.Equal(t, time.Duration(limit)*time.Minute, f.Timeouts.FinalizingStage(f.FinalizingStage, f.operators),
		"the limit that the workflow keeps")
	conditions := map[string]bool{
		"VipDhcpAllocationSet": f.VIPDHCPAllocation,
		"pendingConditions":    passes(clusterPending), "requiredInputFieldsExistNonDhcp": passes(clusterPending, clusterVIPs),
		"requiredForInstall": required, "isSufficientForInstallDhcp": required && passes(clusterVIPs),
		"allRefreshStatusConditions":   required && passes(clusterPending, clusterVIPs),
		"AllHostsPreparedSuccessfully": f.AllHostsPrepared, "FailedPreparingtHostsExist": f.FailedPreparingHosts,
		"UnPreparingtHostsExist":      f.UnpreparingHosts,
		"ClusterPreparationSucceeded": f.PreparationSucceeded, "ClusterPreparationFailed": f.PreparationFailed,
		"IsInstalling": f.Installing, "IsFinalizing": f.Finalizing, "IsInstallingPendingUserAction": f.HostPending,
		"areAllHostsDone": f.AllHostsDone, "hasClusterCompleteInstallation": f.complete,

		"SoftTimeoutsEnabled": f.Timeouts.Soft, "IsLogCollectionTimedOut": f.LogsTimedOut,
		"finalizingStageTimeoutTriggered":                     f.FinalizingStageTimedOut,
		"IsPreparingTimedOut":                                 past(f.statusSince, 18),
		"IsInstallationTimedOut":                              past(f.installStarted, 24*60),
		"IsFinalizingTimedOut":                                past(f.statusSince, 5*60),
		"IsFinalizingStageTimedOut":                           past(f.stageSince, limit),
		"isInFinalizingStages(nonFailingFinalizingStages...)": slices.Contains(olm[:3], f.FinalizingStage),
		"AwaitingRetry":                                       f.AwaitingRetry,
	}
	return named(t, conditions)
}

func named(t *testing.T, conditions map[string]bool) func(string) bool {
	t.Helper()
	return func(name string) bool {
		value, found := conditions[strings.TrimSpace(name)]
		require.True(t, found, "the condition %s", name)
		return value
	}
}
