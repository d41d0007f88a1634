package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// How often a step is commanded again by itself after the agent was restarted in the
// middle of it. The v2 installer tries an image three times too; steps that write
// nothing may be repeated more often, and end with their stage's time.
const (
	maxDiskTries = 3
	maxTries     = 20
)

// stagesOf lists the stages of a host that its workflow waits for. A host that is no
// worker is installed as a master.
func stagesOf(r HostInstallRequest) []steps.Stage {
	stages := steps.DayTwoStages()
	if !r.DayTwo {
		role := model.RoleMaster
		if r.Host.Role == model.RoleWorker {
			role = model.RoleWorker
		}
		stages = steps.Stages(role, r.Host.Bootstrap || r.SingleNode, r.SingleNode)
	}
	if r.Host.AgentSteps == model.InstallStep {
		stages = steps.InOneStep(stages)
	}
	return awaited(stages)
}

// awaited returns the stages that a workflow waits for.
func awaited(stages []steps.Stage) []steps.Stage {
	return slices.DeleteFunc(stages, func(s steps.Stage) bool { return s.Ends == steps.NotAwaited })
}

// pass takes the host through a stage.
func (w *hostInstall) pass(ctx workflow.Context, s steps.Stage) error {
	if s.Change != "" && workflow.GetVersion(ctx, s.Change, workflow.DefaultVersion, 1) < 1 {
		return nil
	}
	switch s.Ends {
	case steps.ByChecks:
		return w.passChecks(ctx)
	case steps.ByInstallStep:
		return w.runInstall(ctx)
	case steps.ByControlPlane:
		return w.passGate(ctx, s.Name)
	case steps.ByBoot:
		return w.awaitBoot(ctx, s.Name)
	case steps.ByReport:
		return w.awaitStage(ctx, s.Name)
	case steps.AtOnce:
		return w.showStage(ctx, s.Name)
	case steps.BySteps, steps.NotAwaited:
	}
	return w.runSteps(ctx, s)
}

// runSteps does a stage step by step, within the limit of the stage.
func (w *hostInstall) runSteps(ctx workflow.Context, s steps.Stage) error {
	for _, step := range s.Steps {
		if err := w.runStep(ctx, step, s.Name, w.limitOf(s.Name)); err != nil {
			return err
		}
	}
	return nil
}

// limitOf returns how long a stage may take.
func (w *hostInstall) limitOf(stage model.Stage) time.Duration {
	return w.request.Timeouts.Stage(stage, w.request.SingleNode)
}

// runStep runs one step, and again when the host does not know how far it came.
func (w *hostInstall) runStep(ctx workflow.Context, step wire.StepType, stage model.Stage, limit time.Duration) error {
	tries := maxTries
	if writesDisk(step) {
		tries = maxDiskTries
	}
	for try := 1; ; try++ {
		err := w.bounded(ctx, stage, limit, func(ctx workflow.Context, limit time.Duration) workflow.Future {
			return w.step(ctx, step, stage, limit)
		})
		if err == nil {
			return nil
		}
		again := isFailure(err, activities.FailureInterrupted) || w.neverSent(ctx, step, err)
		if !again || try == tries {
			return err
		}
	}
}

// neverSent reports, after a heartbeat time-out of a step that is asked only once, whether the step never left the service: then asking
// again cannot write a disk twice.
func (w *hostInstall) neverSent(ctx workflow.Context, step wire.StepType, err error) bool {
	if !isTimeout(err) || ctx.Err() != nil {
		return false
	}
	var a *activities.Steps
	var sent bool
	request := activities.StepRequest{HostRef: w.ref, Type: string(step)}
	if err := record(ctx, "Was "+string(step)+" sent", a.WasSent, request, &sent); err != nil {
		return false
	}
	return !sent
}

// step schedules a step on the host.
func (w *hostInstall) step(ctx workflow.Context, step wire.StepType, stage model.Stage, limit time.Duration) workflow.Future {
	what := w.label(string(step))
	options := withStepOptions(ctx, limit, w.request.Timeouts.Heartbeat, what)
	if writesDisk(step) && !w.forgives() {
		options = withStepOnceOptions(ctx, limit, w.request.Timeouts.Heartbeat, what)
	}
	var a *activities.Steps
	return workflow.ExecuteActivity(options, a.RunStep, activities.StepRequest{HostRef: w.ref, Type: string(step), Stage: stage})
}

// label names the next activity that waits for the host.
func (w *hostInstall) label(text string) label {
	w.labelled++
	return label{text: text, number: w.labelled}
}

// writesDisk reports whether a step changes a disk.
func writesDisk(step wire.StepType) bool {
	row, _ := steps.Of(step)
	return row.WritesDisk
}

// passGate shows the stage and waits until the control plane is up. The host is watched meanwhile: a lost host ends the wait.
func (w *hostInstall) passGate(ctx workflow.Context, stage model.Stage) error {
	if err := w.showStage(ctx, stage); err != nil {
		return err
	}
	return w.bounded(ctx, stage, w.limitOf(stage), w.gate)
}

// gate opens when the control plane is up, or the host is past it; a host that is lost meanwhile fails it.
func (w *hostInstall) gate(ctx workflow.Context, limit time.Duration) workflow.Future {
	opened, set := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		lost := w.awaiting(ctx, model.StageRebooting, limit)
		var failure error
		err := workflow.Await(ctx, func() bool {
			failure = failed(ctx, lost)
			return w.controlPlane || failure != nil || w.shown.ends && lost.IsReady()
		})
		if err == nil && !w.controlPlane { // without a failure it was rebooted before: its workflow was reset in Temporal
			err = failure
		}
		set.Set(nil, err)
	})
	return opened
}

// awaitStage waits for a report that the host reached a stage, within the limit of the
// stage before it.
func (w *hostInstall) awaitStage(ctx workflow.Context, stage model.Stage) error {
	before := model.StageConfiguring
	if stage == model.StageDone {
		before = model.StageJoined
	}
	return w.bounded(ctx, stage, w.limitOf(before), func(ctx workflow.Context, limit time.Duration) workflow.Future {
		return w.awaiting(ctx, stage, limit)
	})
}

// awaitBoot waits for the first sign of life from the disk. When it takes too long the
// user is asked to look at the boot order, and gets time for it.
func (w *hostInstall) awaitBoot(ctx workflow.Context, stage model.Stage) error {
	err := w.awaiting(ctx, stage, w.limitOf(model.StageRebooting)).Get(ctx, nil)
	if !isTimeout(err) {
		return err
	}
	var hosts *activities.Hosts
	if err := record(ctx, "Ask for the boot order", hosts.RebootTimedOut, w.ref, nil); err != nil {
		return err
	}
	return w.awaiting(ctx, stage, w.request.Timeouts.PendingUserAction).Get(ctx, nil)
}

func (w *hostInstall) awaiting(ctx workflow.Context, stage model.Stage, limit time.Duration) workflow.Future {
	var a *activities.Steps
	options := withStepOptions(ctx, limit, w.request.Timeouts.Heartbeat, w.label("Wait for "+string(stage)))
	return workflow.ExecuteActivity(options, a.AwaitStage, activities.StageRequest{HostRef: w.ref, Stage: stage})
}

// showStage shows a stage that no component reports.
func (w *hostInstall) showStage(ctx workflow.Context, stage model.Stage) error {
	var hosts *activities.Hosts
	show := activities.StageRequest{HostRef: w.ref, Stage: stage}
	return record(ctx, "Show stage", hosts.ShowStage, show, nil)
}
