package steps

import (
	"slices"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// Stage is a stage of a host's installation, with its steps and its end.
type Stage struct {
	// Name is visible to users; empty before the first stage.
	Name model.Stage
	Ends Ending
	// Steps are the steps of the Slipway agent, in order, where Ends is BySteps.
	Steps []wire.StepType
	// Change names the change of workflows that brings the stage: installations that passed its place before do without it. Stages of the
	// v2 API have none; agents of other implementations report no others.
	Change string
}

// Ending says how a stage ends.
type Ending int

const (
	// BySteps stages end when their last step is done.
	BySteps Ending = iota
	// ByChecks ends when the checks before an installation are done and passed.
	ByChecks
	// ByInstallStep ends when a foreign agent reports the stage; its one install step covers all stages up to this one.
	ByInstallStep
	// ByControlPlane stages end when the control plane of the cluster is up.
	ByControlPlane
	// ByBoot stages end with the first sign of life from the disk; a host that does not
	// boot from it in time asks its user for the boot order.
	ByBoot
	// ByReport stages end when the host, another one or the controller reports the stage.
	ByReport
	// AtOnce stages end when they are shown: no component reports them.
	AtOnce
	// NotAwaited stages are reported by some hosts only: no workflow waits for them.
	NotAwaited
)

// AfterReboot reports whether the host has left the live image in this stage.
func (s Stage) AfterReboot() bool { return s.Name.AfterReboot() }

func run(name model.Stage, steps ...wire.StepType) Stage { return Stage{Name: name, Steps: steps} }

// The stages as most roles pass them.
var (
	starting     = run(model.StageStartingInstallation, DiskClean)
	installing   = run(model.StageInstalling, IgnitionFetch)
	writing      = run(model.StageWritingImageToDisk, ImageWrite)
	copying      = Stage{Name: model.StageCopyingRegistryData, Ends: NotAwaited} // only with a registry on the installation medium
	controlPlane = Stage{Name: model.StageWaitingForControlPlane, Ends: ByControlPlane}
	rebooting    = run(model.StageRebooting, Reboot)
	ignition     = Stage{Name: model.StageWaitingForIgnition, Ends: NotAwaited} // hidden by the first boot of most workers
	configuring  = Stage{Name: model.StageConfiguring, Ends: ByBoot}
	joined       = Stage{Name: model.StageJoined, Ends: ByReport}
	done         = Stage{Name: model.StageDone, Ends: ByReport}
)

// The stages of each role, in order (docs/reference/step-catalogue.md, "Stages").
// The bootstrap host writes its disk early and reboots last.
var (
	bootstrapStages = []Stage{
		run(model.StageStartingInstallation, DiskClean, BootstrapStart),
		installing, writing, copying,
		run(model.StageWaitingForControlPlane, ControlPlaneWait),
		run(model.StageWaitingForBootkube, BootkubeWait),
		run(model.StageWaitingForController, ControllerWait),
		rebooting, configuring, joined, done,
	}
	masterStages     = []Stage{starting, installing, writing, copying, rebooting, configuring, joined, done}
	workerStages     = []Stage{starting, installing, writing, controlPlane, rebooting, ignition, configuring, joined, done}
	singleNodeStages = []Stage{
		starting,
		run(model.StageInstalling, BootstrapStart),
		run(model.StageWaitingForBootkube, BootkubeWait, IgnitionFetch),
		writing, copying, rebooting,
		{Name: model.StageJoined, Ends: ByBoot},
		done,
	}
	// dayTwoStages are the stages of a host that joins an existing cluster. No controller there reports to this service: the host is done
	// when it reboots into its disk.
	dayTwoStages = []Stage{{Ends: ByChecks}, starting, installing, writing, rebooting, {Name: model.StageDone, Ends: AtOnce}}
)

// Stages returns the stages a host with a role passes, with their steps, in order.
func Stages(role model.Role, bootstrap, singleNode bool) []Stage {
	switch {
	case bootstrap && singleNode:
		return slices.Clone(singleNodeStages)
	case bootstrap:
		return slices.Clone(bootstrapStages)
	case role == model.RoleMaster || role == model.RoleArbiter:
		return slices.Clone(masterStages)
	case role == model.RoleWorker:
		return slices.Clone(workerStages)
	}
	return nil
}

// DayTwoStages returns the stages of a host that joins an existing cluster.
func DayTwoStages() []Stage { return slices.Clone(dayTwoStages) }

// OfV2 returns the stages that agents of other implementations report.
func OfV2(stages []Stage) []Stage {
	return slices.DeleteFunc(slices.Clone(stages), func(s Stage) bool { return s.Change != "" })
}

// Changes returns the names of the changes of workflows that bring stages.
func Changes() []string {
	var out []string
	for _, s := range slices.Concat(bootstrapStages, masterStages, workerStages, singleNodeStages, dayTwoStages) {
		if s.Change != "" && !slices.Contains(out, s.Change) {
			out = append(out, s.Change)
		}
	}
	return out
}

// InOneStep returns the stages as an agent that takes one install step passes them: its work up to the reboot is one stage.
func InOneStep(stages []Stage) []Stage {
	var out []Stage
	for _, s := range stages {
		switch {
		case s.Name == model.StageRebooting:
			out = append(out, Stage{Name: s.Name, Ends: ByInstallStep})
		case s.Ends == ByChecks || s.AfterReboot():
			out = append(out, s)
		}
	}
	return out
}

// StagesFor returns the names of the stages a host with a role passes, in order.
func StagesFor(role model.Role, bootstrap, singleNode bool) []model.Stage {
	return names(Stages(role, bootstrap, singleNode))
}

// ShownStages lists the stages that clients see of a host: the stages of its role, up to the reboot for a host that joins an existing
// cluster, whose later stages are unknown.
func ShownStages(role model.Role, bootstrap, singleNode, dayTwo bool) []model.Stage {
	list := StagesFor(role, bootstrap, singleNode)
	if i := slices.Index(list, model.StageRebooting); dayTwo && i >= 0 {
		return list[:i+1]
	}
	return list
}

func names(stages []Stage) []model.Stage {
	var out []model.Stage
	for _, s := range stages {
		out = append(out, s.Name)
	}
	return out
}

// AllStages returns the names of the stages of any role, in the order of a bootstrap host.
func AllStages() []model.Stage {
	out := names(bootstrapStages)
	for _, list := range [][]Stage{masterStages, workerStages, singleNodeStages} {
		at := 0
		for _, s := range list {
			if i := slices.Index(out, s.Name); i >= 0 {
				at = i + 1
				continue
			}
			out = slices.Insert(out, at, s.Name)
			at++
		}
	}
	return out
}

// Reportable reports whether a host may report a stage: a stage of a role, or its failure.
func Reportable(stage model.Stage) bool {
	return stage == model.StageFailed || slices.Contains(AllStages(), stage)
}
