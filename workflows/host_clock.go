package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/model"
)

// bounded waits for work of a stage. When the stage takes longer than it may, the rules decide: it fails, it is reported and continues
// (soft time-outs), or it gets its time once more because another host waits for its user. Work outside of stages ends with its limit.
func (w *hostInstall) bounded(
	ctx workflow.Context, stage model.Stage, limit time.Duration, begin func(workflow.Context, time.Duration) workflow.Future,
) error {
	if stage == "" {
		return begin(ctx, limit).Get(ctx, nil)
	}
	inner, stop := workflow.WithCancel(ctx)
	defer stop()
	ended := begin(inner, endless)
	for {
		if w.shown.readable && limit == endless {
			return ended.Get(ctx, nil)
		}
		inTime, err := within(ctx, limit, string(stage), ended.IsReady)
		if err != nil {
			return err
		}
		if inTime {
			return ended.Get(ctx, nil)
		}
		var hosts *activities.Hosts
		var verdict activities.StageVerdict
		clock := activities.StageClock{HostRef: w.ref, Limit: limit, Soft: w.request.Timeouts.Soft}
		if err := record(ctx, "Judge time-out", hosts.JudgeStage, clock, &verdict); err != nil {
			return err
		}
		switch {
		case verdict.Failure != "":
			return temporal.NewNonRetryableApplicationError(verdict.Failure, activities.FailureStep, nil)
		case !verdict.Again:
			limit = endless // it was reported; only the clock of the whole installation is left
		}
	}
}

// within waits until something holds, at most for limit, and cancels its timer.
func within(ctx workflow.Context, limit time.Duration, what string, holds func() bool) (bool, error) {
	timing, stop := workflow.WithCancel(ctx)
	defer stop()
	over := timer(timing, limit, what)
	err := workflow.Await(ctx, func() bool { return holds() || over.IsReady() })
	return holds(), err
}

// forgives reports whether a host may fall silent in the middle of a step that writes: our agent is asked again under the same step id,
// which it runs once only. A host that stays silent fails by the rules of hosts; a service that was away is no silence of the host.
func (w *hostInstall) forgives() bool { return w.request.Host.AgentSteps == model.FineSteps }
