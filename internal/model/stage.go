package model

import "slices"

// Stage is a step of a host's installation as users see it.
type Stage string

// The host stages (docs/reference/installer.md). Package steps lists the stages of each role, in order.
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

// stagesAfterReboot are the stages of a host that is on its way to its disk, or runs from it.
var stagesAfterReboot = []Stage{StageRebooting, StageWaitingForIgnition, StageConfiguring, StageJoined, StageDone}

// LeftLiveImage reports whether a host in this stage runs from its disk or is on its
// way there: its agent is silent from here on.
func (s Stage) LeftLiveImage() bool { return slices.Contains(stagesAfterReboot, s) }

// AfterReboot reports whether a host in this stage runs from its disk: it has left the live image, and is not on its way any more.
func (s Stage) AfterReboot() bool { return s.LeftLiveImage() && s != StageRebooting }

// FinalizingStage is a step of the cluster after its nodes are up.
type FinalizingStage string

// The finalizing stages (docs/reference/state-rules.md, "Finalizing stages").
const (
	FinalizingWaitingForOperators     FinalizingStage = "Waiting for cluster operators"
	FinalizingAddingRouterCA          FinalizingStage = "Adding router ca"
	FinalizingWaitingForCSVInit       FinalizingStage = "Waiting for olm operators csv initialization"
	FinalizingApplyingOLMManifests    FinalizingStage = "Applying olm manifests"
	FinalizingWaitingForCSV           FinalizingStage = "Waiting for olm operators csv"
	FinalizingWaitingForOperatorSetup FinalizingStage = "Waiting for OLM operator setup jobs"
	FinalizingDone                    FinalizingStage = "Done"
)

// FinalizingStages lists all finalizing stages, in the order the controller reports them.
var FinalizingStages = []FinalizingStage{
	FinalizingWaitingForOperators, FinalizingAddingRouterCA, FinalizingWaitingForCSVInit, FinalizingApplyingOLMManifests,
	FinalizingWaitingForCSV, FinalizingWaitingForOperatorSetup, FinalizingDone,
}
