package lifecycle

import (
	"slices"

	"slipway/internal/model"
)

type (
	hw = when[HostFacts]
	hf = HostFacts
)

// The conditions of the host tables, with the names of docs/reference/states.md.
var (
	isUnbound          = cond("IsUnboundHost", func(f *hf) bool { return f.Unbound })
	isDayTwo           = cond("IsDay2Host", func(f *hf) bool { return f.DayTwo })
	silentAfterReboot  = cond("SilentAfterReboot", func(f *hf) bool { return f.SilentAfterReboot })
	inReboot           = cond("IsHostInReboot", func(f *hf) bool { return f.Stage == model.StageRebooting })
	hasRebooted        = cond("HasRebooted", func(f *hf) bool { return f.Stage.AfterReboot() })
	inDone             = cond("IsHostInDone", func(f *hf) bool { return f.Stage == model.StageDone })
	isConnected        = cond("IsConnected", func(f *hf) bool { return f.Conditions.Connected })
	mediaConnected     = cond("IsMediaConnected", func(f *hf) bool { return f.Conditions.MediaConnected })
	hasInventory       = cond("HasInventory", func(f *hf) bool { return f.Conditions.HasInventory })
	notFullyTruncated  = cond("InventoryNotFullyTruncated", func(f *hf) bool { return f.Conditions.NotFullyTruncated })
	validInventory     = cond("hasValidInventory", func(f *hf) bool { return f.Conditions.ValidInventory() })
	enoughHardware     = cond("hasMinRequiredHardware", func(f *hf) bool { return f.Conditions.MinHardware })
	inputExists        = cond("requiredInputFieldsExist", func(f *hf) bool { return f.Conditions.RequiredInput })
	sufficient         = cond("isSufficientForInstall", func(f *hf) bool { return f.Conditions.SufficientForInstall })
	bindable           = cond("sufficientToBeBound", func(f *hf) bool { return f.Conditions.SufficientToBeBound })
	vsphereUUID        = cond("VSphereHostUUIDEnabled", func(f *hf) bool { return f.Conditions.VSphereDiskUUID })
	validRole          = cond("ValidRoleForInstallation", func(f *hf) bool { return slices.Contains(installableRoles, f.Role) })
	clusterPreparing   = clusterIs("ClusterPreparingForInstallation", model.ClusterPreparingForInstallation)
	clusterInstalling  = clusterIs("ClusterInstalling", model.ClusterInstalling, model.ClusterFinalizing)
	clusterInError     = clusterIs("ClusterInError", model.ClusterError)
	clusterCancels     = clusterIs("ClusterCancelsInstallation", cInstalling, cPending, cError, cFinalizing)
	clusterWaits       = clusterIs("ClusterPendingUserAction", model.ClusterInstallingPendingUserAction)
	diskSpeedUnknown   = cond("installationDiskSpeedUnknown", func(f *hf) bool { return f.DiskSpeed == Unknown })
	diskSpeedPassed    = cond("InstallationDiskSpeedCheckSuccessful", func(f *hf) bool { return f.DiskSpeed == Passed })
	diskSpeedNotFailed = cond("SufficientOrUnknownInstallationDiskSpeed", func(f *hf) bool { return f.DiskSpeed != Failed })
	imagesUnknown      = cond("imagesAvailabilityUnknown", func(f *hf) bool { return f.Images == Unknown })
	imagesPassed       = cond("SuccessfulContainerImageAvailability", func(f *hf) bool { return f.Images == Passed })
	imagesNotFailed    = cond("SuccessfulOrUnknownContainerImagesAvailability", func(f *hf) bool { return f.Images != Failed })
	logsTimeout        = cond("IsLogCollectionTimedOut", func(f *hf) bool { return f.LogsTimedOut })
	softTimeouts       = cond("SoftTimeoutsEnabled", func(f *hf) bool { return f.Timeouts.Soft })
	connectionTimedOut = cond("ConnectionTimedOut", func(f *hf) bool { return f.ConnectionTimedOut })
	tried              = cond("HostTried", func(f *hf) bool { return f.Tried })
	stageTimedOut      = cond("HostStageTimedOut", func(f *hf) bool { return f.StageTimedOut })
	awaitingRetry      = cond("AwaitingRetry", func(f *hf) bool { return f.AwaitingRetry })
	beganBootstrap     = cond("BeganBootstrap", func(f *hf) bool { return f.BeganBootstrap })
	inLiveImage        = cond("InLiveImage", func(f *hf) bool { return !f.Stage.LeftLiveImage() && !f.NoAgent })

	writingImage = stageIs(model.StageWritingImageToDisk)
	copyingData  = stageIs(model.StageCopyingRegistryData)
	ownTimeout   = stageIs(model.StageWritingImageToDisk, model.StageCopyingRegistryData, model.StageRebooting)

	allPassed   = and(diskSpeedPassed, imagesPassed)
	someUnknown = or(diskSpeedUnknown, imagesUnknown)
	// ignoreProgress: these stages wait for other hosts, one of which waits for its user.
	ignoreProgress = and(clusterWaits, stageIs(
		model.StageWaitingForControlPlane, model.StageWaitingForController,
		model.StageWaitingForBootkube, model.StageRebooting,
	))
)

var installableRoles = []model.Role{model.RoleMaster, model.RoleArbiter, model.RoleWorker}

func clusterIs(text string, statuses ...model.ClusterStatus) hw {
	return cond(text, func(f *hf) bool { return slices.Contains(statuses, f.ClusterStatus) })
}

func stageIs(stages ...model.Stage) hw {
	text := "IsInStages("
	for i, s := range stages {
		if i > 0 {
			text += ", "
		}
		text += string(s)
	}
	return cond(text+")", func(f *hf) bool { return slices.Contains(stages, f.Stage) })
}
