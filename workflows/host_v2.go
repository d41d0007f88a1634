package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/workflow"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// runInstall gives a v2 agent its one step and follows the stages it reports, each
// within its own limit, until the host reboots.
func (w *hostInstall) runInstall(ctx workflow.Context) error {
	inner, stop := workflow.WithCancel(ctx)
	defer stop()
	install := w.step(inner, wire.StepTypeInstall, "", endless) // ended by the limits of its stages
	before, limit := model.Stage(""), w.request.Timeouts.StepPickup
	for _, s := range awaited(steps.OfV2(steps.Stages(w.request.Host.Role, w.request.Host.Bootstrap, w.request.SingleNode))) {
		stage := s.Name
		w.stage = stage
		err := w.bounded(inner, before, limit, func(ctx workflow.Context, limit time.Duration) workflow.Future {
			return w.reached(ctx, install, stage, limit)
		})
		if err != nil {
			w.stage = cmp.Or(before, stage) // the one it was in
			return err
		}
		if stage == model.StageRebooting {
			return nil
		}
		before, limit = stage, w.limitOf(stage)
	}
	return nil
}

// failed returns the error of a future that has ended with one.
func failed(ctx workflow.Context, f workflow.Future) error {
	if !f.IsReady() {
		return nil
	}
	return f.Get(ctx, nil)
}

// reached returns a future that is ready when a stage was reported; a failed install step fails it.
func (w *hostInstall) reached(ctx workflow.Context, install workflow.Future, stage model.Stage, limit time.Duration) workflow.Future {
	out, set := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		reported := w.awaiting(ctx, stage, limit)
		var failure error
		err := workflow.Await(ctx, func() bool {
			failure = failed(ctx, install)
			return failure != nil || reported.IsReady()
		})
		if err == nil && failure == nil {
			err = reported.Get(ctx, nil)
		}
		if err == nil {
			err = failure
		}
		set.Set(nil, err)
	})
	return out
}
