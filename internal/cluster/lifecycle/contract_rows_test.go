package lifecycle_test

// contractHosts are the Refresh rows of docs/reference/states.md, "Hosts of a cluster",
// in order.
var contractHosts = []contractRow{
	{no: 26, from: "reclaiming, reclaiming-rebooting", to: "unbinding-pending-user-action", when: "HasStatusTimedOut(ReclaimTimeout)"},
	{
		no: 29, from: "known", to: "preparing-for-installation",
		when: "And(ValidRoleForInstallation, IsConnected, IsMediaConnected, ClusterPreparingForInstallation)",
	},
	{
		no: 30, from: "preparing-for-installation", to: "preparing-successful",
		when: "And(IsConnected, IsMediaConnected, allConditionsSuccessful, ClusterPreparingForInstallation)",
	},
	{
		no: 31, from: "preparing-successful", to: "preparing-successful",
		when: "And(IsConnected, IsMediaConnected, ClusterPreparingForInstallation)",
	},
	{no: 32, from: "preparing-successful", to: "installing", when: "And(IsConnected, IsMediaConnected, ClusterInstalling)"},
	{
		no: 33, from: "preparing-for-installation", to: "known",
		when: "And(IsConnected, IsMediaConnected, allConditionsSuccessfulOrUnknown, !ClusterPreparingForInstallation)",
	},
	{
		no: 34, from: "preparing-for-installation, preparing-failed, known", to: "insufficient",
		when: "And(IsConnected, IsMediaConnected, !SufficientOrUnknownInstallationDiskSpeed)",
	},
	{
		no: 35, from: "preparing-for-installation", to: "preparing-failed",
		when: "And(IsConnected, IsMediaConnected, IsPreparingTimedOut, Or(installationDiskSpeedUnknown, " +
			"imagesAvailabilityUnknown), allConditionsSuccessfulOrUnknown)",
	},
	{
		no: 36, from: "preparing-for-installation", to: "preparing-failed",
		when: "And(IsConnected, IsMediaConnected, !SucessfullOrUnknownContainerImagesAvailability)",
	},
	{
		no: 37, from: "preparing-for-installation", to: "preparing-for-installation",
		when: "And(IsConnected, IsMediaConnected, atLeastOneConditionUnknown, ClusterPreparingForInstallation)",
	},
	{no: 38, from: "preparing-failed", to: "known", when: "And(IsConnected, IsMediaConnected, !ClusterPreparingForInstallation)"},
	{
		no: 39, from: "preparing-successful", to: "known",
		when: "And(IsConnected, IsMediaConnected, !Or(ClusterPreparingForInstallation, ClusterInstalling))",
	},
	{
		no: 40, from: "discovering, insufficient, known, pending-for-input, disconnected, preparing-failed",
		to:   "disconnected",
		when: "Or(!IsConnected, !IsMediaConnected)",
	},
	{
		no:   43,
		from: "installing, installing-in-progress, installed, resetting-pending-user-action, installing-pending-user-action",
		to:   "error",
		when: "And(ClusterInError, !IsDay2Host)",
	},
	{no: 44, from: "installing", to: "error", when: "HasStatusTimedOut(InstallationTimeout)"},
	{no: 45, from: "preparing-for-installation, preparing-successful", to: "disconnected", when: "Or(!IsConnected, !IsMediaConnected)"},
	{no: 46, from: "installing, installing-in-progress", to: "error", when: "And(!IsConnected, !SoftTimeoutsEnabled)"},
	{no: 47, from: "installing, installing-in-progress", to: "(same)", when: "And(!IsConnected, SoftTimeoutsEnabled, !ConnectionTimedOut)"},
	{no: 48, from: "installing, installing-in-progress", to: "(same)", when: "And(IsConnected, SoftTimeoutsEnabled, ConnectionTimedOut)"},
	{no: 49, from: "installing-in-progress", to: "installing-in-progress", when: "shouldIgnoreInstallationProgressTimeout"},
	{
		no: 50, from: "installing-in-progress", to: "error",
		when: "And(!SoftTimeoutsEnabled, !IsInStages(WritingImageToDisk, CopyingRegistryDataToDisk, Rebooting), " +
			"HasInstallationInProgressTimedOut, !shouldIgnoreInstallationProgressTimeout)",
	},
	{
		no: 51, from: "installing-in-progress", to: "error",
		when: "And(!SoftTimeoutsEnabled, IsInStages(WritingImageToDisk), HasInstallationInProgressTimedOut, " +
			"!shouldIgnoreInstallationProgressTimeout)",
	},
	{
		no: 52, from: "installing-in-progress", to: "error",
		when: "And(!SoftTimeoutsEnabled, IsInStages(CopyingRegistryDataToDisk), HasInstallationInProgressTimedOut, " +
			"!shouldIgnoreInstallationProgressTimeout)",
	},
	{
		no: 53, from: "installing-in-progress", to: "installing-in-progress",
		when: "And(SoftTimeoutsEnabled, !HostStageTimedOut, !IsInStages(WritingImageToDisk, CopyingRegistryDataToDisk, " +
			"Rebooting), HasInstallationInProgressTimedOut, !shouldIgnoreInstallationProgressTimeout)",
	},
	{
		no: 54, from: "installing-in-progress", to: "installing-in-progress",
		when: "And(SoftTimeoutsEnabled, !HostStageTimedOut, IsInStages(WritingImageToDisk), " +
			"HasInstallationInProgressTimedOut, !shouldIgnoreInstallationProgressTimeout)",
	},
	{
		no: 55, from: "installing-in-progress", to: "installing-in-progress",
		when: "And(SoftTimeoutsEnabled, !HostStageTimedOut, IsInStages(CopyingRegistryDataToDisk), " +
			"HasInstallationInProgressTimedOut, !shouldIgnoreInstallationProgressTimeout)",
	},
	{
		no: 56, from: "installing-in-progress", to: "installing-pending-user-action",
		when: "And(HasInstallationInProgressTimedOut, IsHostInReboot)",
	},
	{
		no: 57, from: "installing-pending-user-action", to: "error",
		when: "And(HasPendingUserActionTimedOut, ClusterWouldSucceedWithoutHost, !IsClusterPostInstallation)",
	},
	{
		no:   58,
		from: "installing, installing-in-progress, installed, installing-pending-user-action, resetting-pending-user-action",
		to:   "(same)",
		when: "!ClusterInError",
	},
	{no: 59, from: "disconnected, discovering", to: "discovering", when: "And(IsConnected, IsMediaConnected, !hasValidInventory)"},
	{
		no: 60, from: "disconnected, discovering, insufficient, known, pending-for-input", to: "insufficient",
		when: "And(IsConnected, IsMediaConnected, hasValidInventory, !hasMinRequiredHardware)",
	},
	{
		no: 61, from: "disconnected, discovering, insufficient, known, pending-for-input", to: "pending-for-input",
		when: "And(IsConnected, IsMediaConnected, hasValidInventory, VSphereHostUUIDEnabled, hasMinRequiredHardware, !requiredInputFieldsExist)",
	},
	{
		no: 62, from: "disconnected, insufficient, pending-for-input, discovering, known", to: "insufficient",
		when: "And(IsConnected, IsMediaConnected, HasInventory, Or(hasMinRequiredHardware, !InventoryNotFullyTruncated), " +
			"Or(!VSphereHostUUIDEnabled, And(requiredInputFieldsExist, !isSufficientForInstall)))",
	},
	{
		no: 63, from: "disconnected, insufficient, pending-for-input, discovering", to: "known",
		when: "And(IsConnected, IsMediaConnected, hasValidInventory, hasMinRequiredHardware, requiredInputFieldsExist, " +
			"isSufficientForInstall, VSphereHostUUIDEnabled)",
	},
	{
		no: 64, from: "known", to: "known",
		when: "And(IsConnected, IsMediaConnected, hasValidInventory, hasMinRequiredHardware, requiredInputFieldsExist, " +
			"isSufficientForInstall, VSphereHostUUIDEnabled, !And(ClusterPreparingForInstallation, ValidRoleForInstallation))",
	},
	{no: 65, from: "error, cancelled", to: "(same)", when: "IsLogCollectionTimedOut"},
	{no: 66, from: "error, cancelled, resetting", to: "(same)", when: "-"},
	{no: 67, from: "added-to-existing-cluster", to: "added-to-existing-cluster", when: "IsDay2Host"},
	{no: 68, from: "reclaiming, reclaiming-rebooting", to: "(same)", when: "!HasStatusTimedOut(ReclaimTimeout)"},
}

// contractPool are the rows of "Hosts without a cluster".
var contractPool = []contractRow{
	{
		no: 4, from: "discovering-unbound, insufficient-unbound, known-unbound, disconnected-unbound, unbinding",
		to:   "disconnected-unbound",
		when: "!IsConnected",
	},
	{
		no: 6, from: "disconnected-unbound, discovering-unbound", to: "discovering-unbound",
		when: "And(IsConnected, IsMediaConnected, !hasValidInventory)",
	},
	{
		no: 7, from: "disconnected-unbound, discovering-unbound, insufficient-unbound, known-unbound",
		to:   "insufficient-unbound",
		when: "And(IsConnected, IsMediaConnected, hasValidInventory, !sufficientToBeBound)",
	},
	{no: 8, from: "binding, unbinding", to: "(same)", when: "-"},
	{
		no: 9, from: "disconnected-unbound, discovering-unbound, insufficient-unbound, known-unbound", to: "known-unbound",
		when: "And(IsConnected, IsMediaConnected, hasValidInventory, sufficientToBeBound)",
	},
}

// contractClusters are the RefreshStatus rows of "Clusters"; the row left out concerns
// subscriptions of a hosted service and changes no status.
var contractClusters = []contractRow{
	{
		no: 5, from: "pending-for-input, ready, insufficient", to: "pending-for-input",
		when: "And(!VipDhcpAllocationSet, !requiredInputFieldsExistNonDhcp)",
	},
	{
		no: 6, from: "pending-for-input, ready, insufficient", to: "insufficient",
		when: "And(!VipDhcpAllocationSet, requiredInputFieldsExistNonDhcp, !requiredForInstall)",
	},
	{no: 7, from: "pending-for-input, ready, insufficient", to: "pending-for-input", when: "And(VipDhcpAllocationSet, !pendingConditions)"},
	{
		no: 8, from: "pending-for-input, ready, insufficient", to: "insufficient",
		when: "And(VipDhcpAllocationSet, pendingConditions, !isSufficientForInstallDhcp)",
	},
	{no: 9, from: "pending-for-input, ready, insufficient", to: "ready", when: "allRefreshStatusConditions"},
	{no: 10, from: "preparing-for-installation", to: "ready", when: "And(IsPreparingTimedOut, !FailedPreparingtHostsExist)"},
	{no: 11, from: "preparing-for-installation", to: "installing", when: "And(AllHostsPreparedSuccessfully, ClusterPreparationSucceeded)"},
	{no: 12, from: "preparing-for-installation", to: "insufficient", when: "UnPreparingtHostsExist"},
	{
		no: 13, from: "preparing-for-installation", to: "ready",
		when: "Or(FailedPreparingtHostsExist, And(!UnPreparingtHostsExist, ClusterPreparationFailed))",
	},
	{no: 14, from: "installing-pending-user-action", to: "error", when: "Not(Or(IsInstalling, IsFinalizing))"},
	{no: 15, from: "installing-pending-user-action", to: "error", when: "IsInstallationTimedOut"},
	{no: 16, from: "installing, finalizing", to: "error", when: "And(IsInstallationTimedOut, SoftTimeoutsEnabled)"},
	{no: 17, from: "finalizing", to: "error", when: "And(IsFinalizingTimedOut, !SoftTimeoutsEnabled)"},
	{
		no: 18, from: "finalizing", to: "error",
		when: "And(!SoftTimeoutsEnabled, IsFinalizingStageTimedOut, !isInFinalizingStages(nonFailingFinalizingStages...))",
	},
	{
		no: 19, from: "finalizing", to: "finalizing",
		when: "And(!finalizingStageTimeoutTriggered, Or(SoftTimeoutsEnabled, " +
			"isInFinalizingStages(nonFailingFinalizingStages...)), IsFinalizingStageTimedOut)",
	},
	{
		no: 20, from: "installing-pending-user-action", to: "installing-pending-user-action",
		when: "And(IsInstallingPendingUserAction, Or(IsInstalling, IsFinalizing))",
	},
	{
		no: 21, from: "installing-pending-user-action", to: "installing",
		when: "And(!IsInstallingPendingUserAction, IsInstalling, !IsFinalizing)",
	},
	{no: 22, from: "installing-pending-user-action", to: "finalizing", when: "And(!IsInstallingPendingUserAction, IsFinalizing)"},
	{
		no: 23, from: "installing, finalizing", to: "installing-pending-user-action",
		when: "And(Or(IsInstalling, IsFinalizing), IsInstallingPendingUserAction)",
	},
	{no: 24, from: "installing", to: "finalizing", when: "And(IsFinalizing, !IsInstallingPendingUserAction)"},
	{no: 25, from: "installing", to: "installing", when: "And(!IsFinalizing, !IsInstallingPendingUserAction, IsInstalling)"},
	{no: 27, from: "finalizing", to: "installed", when: "And(areAllHostsDone, hasClusterCompleteInstallation)"},
	{no: 28, from: "installing", to: "error", when: "And(!IsFinalizing, !IsInstalling)"},
	{no: 29, from: "error, cancelled", to: "(same)", when: "IsLogCollectionTimedOut"},
	{no: 30, from: "preparing-for-installation, finalizing, installed, error, cancelled, adding-hosts, unmonitored", to: "(same)", when: "-"},
}
