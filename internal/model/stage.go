package model

import "slices"

// Stage is a step of a host's installation as users see it.
type Stage string

// The host stages (docs/reference/state-rules.md, "Stages of a host").
const (
	StageStartingInstallation   Stage = "Starting installation"
	StageWaitingForControlPlane Stage = "Waiting for control plane"
	StageWaitingForBootkube     Stage = "Waiting for bootkube"
	StageWaitingForController   Stage = "Waiting for controller"
	StageInstalling             Stage = "Installing"
	StageWritingImageToDisk     Stage = "Writing image to disk"
	StageCopyingRegistryData    Stage = "Copying registry data to disk"
	StageRebooting              Stage = "Rebooting"
	StageWaitingForIgnition     Stage = "Waiting for ignition"
	StageConfiguring            Stage = "Configuring"
	StageJoined                 Stage = "Joined"
	StageDone                   Stage = "Done"
	StageFailed                 Stage = "Failed"
)

var (
	bootstrapStages = []Stage{
		StageStartingInstallation, StageInstalling, StageWritingImageToDisk, StageCopyingRegistryData,
		StageWaitingForControlPlane, StageWaitingForBootkube, StageWaitingForController,
		StageRebooting, StageConfiguring, StageJoined, StageDone,
	}
	masterStages = []Stage{
		StageStartingInstallation, StageInstalling, StageWritingImageToDisk, StageCopyingRegistryData,
		StageRebooting, StageConfiguring, StageJoined, StageDone,
	}
	workerStages = []Stage{
		StageStartingInstallation, StageInstalling, StageWritingImageToDisk, StageWaitingForControlPlane,
		StageRebooting, StageWaitingForIgnition, StageConfiguring, StageJoined, StageDone,
	}
	singleNodeStages = []Stage{
		StageStartingInstallation, StageInstalling, StageWaitingForBootkube, StageWritingImageToDisk,
		StageCopyingRegistryData, StageRebooting, StageJoined, StageDone,
	}
	stagesAfterReboot = []Stage{StageRebooting, StageWaitingForIgnition, StageConfiguring, StageJoined, StageDone}
)

// StagesFor lists the stages a host passes, in order (docs/reference/state-rules.md,
// "Stages of a host").
func StagesFor(role Role, bootstrap, singleNode bool) []Stage {
	switch {
	case bootstrap && singleNode:
		return singleNodeStages
	case bootstrap:
		return bootstrapStages
	case role == RoleMaster || role == RoleArbiter:
		return masterStages
	case role == RoleWorker:
		return workerStages
	}
	return nil
}

// LeftLiveImage reports whether a host in this stage runs from its disk or is on its
// way there: its agent is silent from here on.
func (s Stage) LeftLiveImage() bool { return slices.Contains(stagesAfterReboot, s) }

// FinalizingStage is a step of the cluster after its nodes are up.
type FinalizingStage string

// The finalizing stages, in order (docs/reference/state-rules.md, "Finalizing stages").
const (
	FinalizingWaitingForOperators     FinalizingStage = "Waiting for cluster operators"
	FinalizingAddingRouterCA          FinalizingStage = "Adding router ca"
	FinalizingApplyingOLMManifests    FinalizingStage = "Applying olm manifests"
	FinalizingWaitingForCSVInit       FinalizingStage = "Waiting for olm operators csv initialization"
	FinalizingWaitingForCSV           FinalizingStage = "Waiting for olm operators csv"
	FinalizingWaitingForOperatorSetup FinalizingStage = "Waiting for OLM operator setup jobs"
	FinalizingDone                    FinalizingStage = "Done"
)
