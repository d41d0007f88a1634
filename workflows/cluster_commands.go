package workflows

import (
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
)

// Types of the errors of validators; the caller's answer is 409.
const (
	RejectionConflict = "Conflict"
	// RejectionEarly is worth asking again in a moment: the workflow has yet to hear of what its caller has read.
	RejectionEarly = "Early"
)

func reject(reason string) error { return temporal.NewApplicationError(reason, RejectionConflict) }

// setup registers every handler before anything blocks.
func (w *clusterInstall) setup(ctx workflow.Context) error {
	if err := workflow.SetQueryHandlerWithOptions(ctx, QueryState, func() (ClusterState, error) {
		return ClusterState{Phase: w.phase, Paused: w.paused, TimedOut: w.waiting, Hosts: w.hosts}, nil
	}, workflow.QueryHandlerOptions{Description: descriptions[QueryState]}); err != nil {
		return err
	}
	for _, c := range []struct {
		name  string
		check func() error
		do    func(workflow.Context)
	}{
		{CommandCancel, w.checkStop, func(workflow.Context) { w.stopFor(stopCancel) }},
		{CommandReset, w.checkReset, func(workflow.Context) { w.stopFor(stopReset) }},
		{CommandPause, w.checkPause, func(ctx workflow.Context) { w.hold(ctx, true) }},
		{CommandResume, w.checkResume, func(ctx workflow.Context) { w.hold(ctx, false) }},
		{CommandExtend, w.checkExtend, func(workflow.Context) { w.extended++ }},
	} {
		if err := command(ctx, c.name, c.check, c.do); err != nil {
			return err
		}
	}
	workflow.Go(ctx, w.listen)
	return nil
}

// command registers an update with its validator, and a signal of the same name that
// is ignored where the update would be refused.
func command(ctx workflow.Context, name string, check func() error, do func(workflow.Context)) error {
	err := workflow.SetUpdateHandlerWithOptions(ctx, name, func(ctx workflow.Context) error {
		do(ctx)
		return nil
	}, workflow.UpdateHandlerOptions{
		Validator: func(workflow.Context) error { return check() }, Description: descriptions[name],
	})
	if err != nil {
		return err
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		commands := signals(ctx, name)
		for {
			if !commands.Receive(ctx, nil) {
				return
			}
			if check() == nil {
				do(ctx)
			}
		}
	})
	return nil
}

// listen takes news from hosts until the workflow ends.
func (w *clusterInstall) listen(ctx workflow.Context) {
	news := signals(ctx, SignalHostNews)
	for {
		var n HostNews
		if !news.Receive(ctx, &n) {
			return
		}
		if n.Attempt != 0 && n.Attempt != w.request.Attempt {
			continue // a host of an earlier installation
		}
		w.hosts[n.HostID] = n
		w.show(ctx)
	}
}

func (w *clusterInstall) stopFor(c clusterCommand) {
	w.stop = c
	w.cancel()
}

func (w *clusterInstall) checkStop() error {
	if w.stop != stopNone {
		return reject("the installation is being stopped already (" + string(w.stop) + ")")
	}
	if w.phase == PhaseDone {
		return reject("the installation has ended")
	}
	return nil
}

// checkReset also lets a reset follow a cancel that still runs.
func (w *clusterInstall) checkReset() error {
	if w.stop == stopCancel {
		return nil
	}
	return w.checkStop()
}

func (w *clusterInstall) checkPause() error {
	if w.paused {
		return reject("the installation is paused already")
	}
	return w.checkStop()
}

func (w *clusterInstall) checkResume() error {
	if !w.paused {
		return reject("the installation is not paused")
	}
	return nil
}

func (w *clusterInstall) checkExtend() error {
	if !w.waiting {
		return reject("no phase of the installation has timed out")
	}
	return nil
}

// hold signals every host to wait before its next stage, or to continue. A command that
// comes while hosts are still being signalled waits, so that the last one wins.
func (w *clusterInstall) hold(ctx workflow.Context, on bool) {
	w.paused = on
	w.show(ctx)
	w.working(func() { w.signalHold(ctx) })
}

// signalHold signals hosts whether the installation is paused when it is their turn.
func (w *clusterInstall) signalHold(ctx workflow.Context) {
	if err := w.holding.Lock(ctx); err != nil {
		return
	}
	defer w.holding.Unlock()
	under := slices.DeleteFunc(slices.Clone(w.plan.Hosts), func(h activities.HostPlan) bool {
		return !w.hasHost(h.ID) || w.host(h.ID) == HostDone
	})
	if w.shown.brief {
		w.signalAll(ctx, under, SignalHold, w.paused)
		return
	}
	for _, h := range under {
		w.signalHost(ctx, h, SignalHold, w.paused)
	}
}
