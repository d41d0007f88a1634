package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/model"
)

// How often a step is commanded again by itself after the agent was restarted in the
// middle of it. The v2 installer tries an image three times too; steps that write
// nothing may be repeated more often, and end with their stage's time.
const (
	maxDiskTries = 3
	maxTries     = 20
)

// hostStage is one stage of a host and how it is done.
type hostStage struct {
	stage       model.Stage
	steps       []string // fine steps, in order
	gate        bool     // wait for the control plane first
	afterReboot bool     // the machine has left the live image by now
	run         func(workflow.Context, *hostInstall, hostStage) error
}

// The stages by role for agents that take fine steps. The order is that of
// contract/states.md; the bootstrap host writes its disk early and pivots last.
var (
	fineBootstrap = []hostStage{
		{stage: model.StageStartingInstallation, steps: []string{"disk-clean", "bootstrap-start"}, run: runSteps},
		{stage: model.StageInstalling, steps: []string{"ignition-fetch"}, run: runSteps},
		{stage: model.StageWritingImageToDisk, steps: []string{"image-write"}, run: runSteps},
		{stage: model.StageWaitingForControlPlane, steps: []string{"control-plane-wait"}, run: runSteps},
		{stage: model.StageWaitingForBootkube, steps: []string{"bootkube-wait"}, run: runSteps},
		{stage: model.StageWaitingForController, steps: []string{"controller-wait"}, run: runSteps},
		{stage: model.StageRebooting, steps: []string{"reboot"}, run: runSteps},
		{stage: model.StageConfiguring, afterReboot: true, run: awaitBoot},
		{stage: model.StageJoined, afterReboot: true, run: awaitStage},
		{stage: model.StageDone, afterReboot: true, run: awaitStage},
	}
	fineMaster = []hostStage{
		{stage: model.StageStartingInstallation, steps: []string{"disk-clean"}, run: runSteps},
		{stage: model.StageInstalling, steps: []string{"ignition-fetch"}, run: runSteps},
		{stage: model.StageWritingImageToDisk, steps: []string{"image-write"}, run: runSteps},
		{stage: model.StageRebooting, steps: []string{"reboot"}, run: runSteps},
		{stage: model.StageConfiguring, afterReboot: true, run: awaitBoot},
		{stage: model.StageJoined, afterReboot: true, run: awaitStage},
		{stage: model.StageDone, afterReboot: true, run: awaitStage},
	}
	fineWorker = []hostStage{
		{stage: model.StageStartingInstallation, steps: []string{"disk-clean"}, run: runSteps},
		{stage: model.StageInstalling, steps: []string{"ignition-fetch"}, run: runSteps},
		{stage: model.StageWritingImageToDisk, steps: []string{"image-write"}, run: runSteps},
		{stage: model.StageWaitingForControlPlane, gate: true, run: runSteps},
		{stage: model.StageRebooting, steps: []string{"reboot"}, run: runSteps},
		{stage: model.StageConfiguring, afterReboot: true, run: awaitBoot},
		{stage: model.StageJoined, afterReboot: true, run: awaitStage},
		{stage: model.StageDone, afterReboot: true, run: awaitStage},
	}
	fineSingleNode = []hostStage{
		{stage: model.StageStartingInstallation, steps: []string{"disk-clean"}, run: runSteps},
		{stage: model.StageInstalling, steps: []string{"bootstrap-start"}, run: runSteps},
		{stage: model.StageWaitingForBootkube, steps: []string{"bootkube-wait", "ignition-fetch"}, run: runSteps},
		{stage: model.StageWritingImageToDisk, steps: []string{"image-write"}, run: runSteps},
		{stage: model.StageRebooting, steps: []string{"reboot"}, run: runSteps},
		{stage: model.StageJoined, afterReboot: true, run: awaitBoot},
		{stage: model.StageDone, afterReboot: true, run: awaitStage},
	}
	// A v2 agent takes one step for everything up to the reboot.
	installOnly = []hostStage{
		{stage: model.StageRebooting, run: runInstall},
		{stage: model.StageConfiguring, afterReboot: true, run: awaitBoot},
		{stage: model.StageJoined, afterReboot: true, run: awaitStage},
		{stage: model.StageDone, afterReboot: true, run: awaitStage},
	}
	installOnlySingleNode = []hostStage{
		{stage: model.StageRebooting, run: runInstall},
		{stage: model.StageJoined, afterReboot: true, run: awaitBoot},
		{stage: model.StageDone, afterReboot: true, run: awaitStage},
	}
)

func stagesOf(r HostInstallRequest) []hostStage {
	switch {
	case r.DayTwo && r.Host.Dialect == model.DialectInstall:
		return installOnlyDayTwo
	case r.DayTwo:
		return fineDayTwo
	case r.Host.Dialect == model.DialectInstall && r.SingleNode:
		return installOnlySingleNode
	case r.Host.Dialect == model.DialectInstall:
		return installOnly
	case r.SingleNode:
		return fineSingleNode
	case r.Host.Bootstrap:
		return fineBootstrap
	case r.Host.Role == model.RoleWorker:
		return fineWorker
	}
	return fineMaster
}

// runSteps does a stage step by step, within the limit of the stage.
func runSteps(ctx workflow.Context, w *hostInstall, s hostStage) error {
	limit := w.request.Timeouts.Stage(s.stage, w.request.SingleNode)
	if s.gate {
		return w.passGate(ctx, s.stage, limit)
	}
	for _, step := range s.steps {
		if err := w.runStep(ctx, step, s.stage, limit); err != nil {
			return err
		}
	}
	return nil
}

// runStep runs one step, and again when the host does not know how far it came.
func (w *hostInstall) runStep(ctx workflow.Context, step string, stage model.Stage, limit time.Duration) error {
	tries := maxTries
	if writesDisk[step] {
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

// neverSent tells, after a heartbeat time-out of a step that is asked once only,
// whether the step never left the service: then asking again writes nothing twice.
func (w *hostInstall) neverSent(ctx workflow.Context, step string, err error) bool {
	if !isTimeout(err) || ctx.Err() != nil {
		return false
	}
	var steps *activities.Steps
	var sent bool
	request := activities.StepRequest{HostRef: w.ref, Type: step}
	if err := workflow.ExecuteActivity(record(ctx, "Was "+step+" sent"), steps.WasSent, request).Get(ctx, &sent); err != nil {
		return false
	}
	return !sent
}

// step schedules a step on the host.
func (w *hostInstall) step(ctx workflow.Context, step string, stage model.Stage, limit time.Duration) workflow.Future {
	what := w.question(step)
	options := ask(ctx, limit, w.request.Timeouts.Heartbeat, what)
	if writesDisk[step] && !w.forgives() {
		options = askOnce(ctx, limit, w.request.Timeouts.Heartbeat, what)
	}
	var steps *activities.Steps
	return workflow.ExecuteActivity(options, steps.RunStep, activities.StepRequest{HostRef: w.ref, Type: step, Stage: stage})
}

// question numbers what is asked of the host.
func (w *hostInstall) question(text string) question {
	w.asked++
	return question{text: text, number: w.asked}
}

// writesDisk lists the steps that change a disk.
var writesDisk = map[string]bool{
	"disk-clean": true, "image-write": true, "install": true, "installation-disk-speed-check": true,
}

// passGate shows the stage and waits until the control plane stands. The host is
// watched meanwhile: one that is lost ends the wait.
func (w *hostInstall) passGate(ctx workflow.Context, stage model.Stage, limit time.Duration) error {
	var hosts *activities.Hosts
	show := activities.StageRequest{HostRef: w.ref, Stage: stage}
	if err := workflow.ExecuteActivity(record(ctx, "Show stage"), hosts.ShowStage, show).Get(ctx, nil); err != nil {
		return err
	}
	return w.bounded(ctx, stage, limit, w.gate)
}

// gate is open when the control plane stands; a host that is lost meanwhile fails it.
func (w *hostInstall) gate(ctx workflow.Context, limit time.Duration) workflow.Future {
	opened, set := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		lost := w.awaiting(ctx, model.StageRebooting, limit)
		var failure error
		err := workflow.Await(ctx, func() bool {
			failure = failed(ctx, lost)
			return w.controlPlane || failure != nil
		})
		if err == nil && !w.controlPlane {
			err = failure
		}
		set.Set(nil, err)
	})
	return opened
}

// awaitStage waits for a report that the host reached a stage, within the limit of the
// stage before it.
func awaitStage(ctx workflow.Context, w *hostInstall, s hostStage) error {
	limit := w.request.Timeouts.Stage(model.StageConfiguring, w.request.SingleNode)
	if s.stage == model.StageDone {
		limit = w.request.Timeouts.Stage(model.StageJoined, w.request.SingleNode)
	}
	return w.bounded(ctx, s.stage, limit, func(ctx workflow.Context, limit time.Duration) workflow.Future {
		return w.awaiting(ctx, s.stage, limit)
	})
}

// awaitBoot waits for the first sign of life from the disk. When it takes too long the
// user is told to look at the boot order, and gets time for it.
func awaitBoot(ctx workflow.Context, w *hostInstall, s hostStage) error {
	limit := w.request.Timeouts.Stage(model.StageRebooting, w.request.SingleNode)
	err := w.awaiting(ctx, s.stage, limit).Get(ctx, nil)
	if !isTimeout(err) {
		return err
	}
	var hosts *activities.Hosts
	if err := workflow.ExecuteActivity(record(ctx, "Ask for the boot order"), hosts.RebootTimedOut, w.ref).Get(ctx, nil); err != nil {
		return err
	}
	return w.awaiting(ctx, s.stage, w.request.Timeouts.PendingUserAction).Get(ctx, nil)
}

func (w *hostInstall) awaiting(ctx workflow.Context, stage model.Stage, limit time.Duration) workflow.Future {
	var steps *activities.Steps
	options := ask(ctx, limit, w.request.Timeouts.Heartbeat, w.question("Wait for "+string(stage)))
	return workflow.ExecuteActivity(options, steps.AwaitStage, activities.StageRequest{HostRef: w.ref, Stage: stage})
}
