package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// setup registers every handler before anything blocks.
func (w *hostInstall) setup(ctx workflow.Context) error {
	err := workflow.SetQueryHandlerWithOptions(ctx, QueryState, func() (HostView, error) {
		return HostView{State: w.state, Stage: w.stage, Attempt: w.attempt, Reason: w.reason}, nil
	}, workflow.QueryHandlerOptions{Description: descriptions[QueryState]})
	if err != nil {
		return err
	}
	for _, d := range []decision{decideRetry, decideRetryStep, decideEvict} {
		if err := command(ctx, string(d), w.checkDecision, func(workflow.Context) { w.decision = d }); err != nil {
			return err
		}
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		for signals(ctx, SignalInstall).Receive(ctx, nil) {
			w.installing = true
		}
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		for signals(ctx, SignalControlPlane).Receive(ctx, nil) {
			w.controlPlane = true
		}
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		for signals(ctx, SignalHold).Receive(ctx, &w.held) {
			w.show(ctx)
		}
	})
	return nil
}

// checkDecision refuses a command unless the host waits for one. The SDK asks before the workflow has seen the events that came with the
// command, so a failure that the host's row shows can be among them.
func (w *hostInstall) checkDecision() error {
	if w.state != HostWaiting && !w.asking {
		return temporal.NewApplicationError("the host does not wait for a decision: it is "+string(w.state), RejectionEarly)
	}
	if w.decision != decideNone {
		return reject("the host does not wait for a decision: it is to " + string(w.decision))
	}
	return nil
}
