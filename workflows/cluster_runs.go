package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"slipway/activities"
)

// A cluster's history grows by some 20 events a host. The history of a cluster with many hosts is cut into runs: the workflow continues
// as new while its hosts are installed. Their workflows belong to all of its runs: they are found by their id, the end of a run does
// not end them, and they report by news.

// manyHosts is from how many hosts on a cluster's workflow has several runs; fewer stay far below the events that Temporal
// suggests for one (limit.historyCount.suggestContinueAsNew, 4,096).
const manyHosts = 100

// inRuns runs the installation, or its next part.
func (w *clusterInstall) inRuns(ctx, work workflow.Context) error {
	var err error
	ended := false
	workflow.Go(work, func(ctx workflow.Context) {
		err = w.run(ctx)
		ended = true
	})
	full := afterSignals(ctx, func() bool { return w.full(ctx) })
	if err := workflow.Await(workflowDisconnected(ctx), func() bool { return ended || full() }); err != nil {
		return err
	}
	if ended {
		return w.conclude(ctx, err)
	}
	next := ClusterRequest{
		InstallRequest: activities.InstallRequest{ClusterID: w.request.ClusterID, Attempt: w.request.Attempt, Paused: w.paused},
	}
	if !w.astray {
		next.Continued = &Continuation{
			Phase: w.phase, Hosts: w.hosts, GateOpen: w.gateOpen, Untold: w.untold,
			InstallationEnds: w.ends.InstallationEnds, FinalizingEnds: w.ends.FinalizingEnds,
		}
	}
	return workflow.NewContinueAsNewError(ctx, ClusterInstall, next)
}

// afterSignals reports whether a condition holds after all readers of signals have read them: a signal is given to its reader before
// that coroutine runs, and would be lost with a run that ends in between. Call it when those coroutines exist.
func afterSignals(ctx workflow.Context, holds func() bool) func() bool {
	held := false
	workflow.Go(ctx, func(ctx workflow.Context) {
		for workflow.Await(ctx, holds) == nil {
			held = true
			if workflow.Await(ctx, func() bool { return !holds() }) != nil {
				return
			}
			held = false
		}
	})
	return func() bool { return held && holds() }
}

// full reports whether the history is long, or Temporal's children are not the hosts' workflows any more, and the installation is at a
// point where another run can take it up: only the hosts' work and waits are under way, and every signal was read.
func (w *clusterInstall) full(ctx workflow.Context) bool {
	if !w.astray && (!w.many || !workflow.GetInfo(ctx).GetContinueAsNewSuggested()) {
		return false
	}
	under := w.phase == PhaseInstalling || w.phase == PhaseFinalizing
	if !under || w.busy > 0 || w.waiting || w.stop != stopNone || ctx.Err() != nil {
		return false
	}
	for _, name := range signalsOfCluster {
		if workflow.GetSignalChannel(ctx, name).Len() > 0 {
			return false
		}
	}
	return len(unknown(ctx, signalsOfCluster)) == 0 && workflow.AllHandlersFinished(ctx)
}

// signalsOfCluster lists the signals that the workflow of a cluster takes.
var signalsOfCluster = slices.Concat(clusterCommands, []string{SignalHostNews, SignalHostLost})

// working keeps the run from ending before the work is done.
func (w *clusterInstall) working(do func()) {
	w.busy++
	defer func() { w.busy-- }()
	do()
}

// record calls the function of the same name, and the run does not end meanwhile.
func (w *clusterInstall) record(ctx workflow.Context, summary string, activity, request, result any) (err error) {
	w.working(func() { err = record(ctx, summary, activity, request, result) })
	return err
}

// breathe lets the run end here if its history is long.
func (w *clusterInstall) breathe(ctx workflow.Context) error {
	return workflow.Await(ctx, func() bool { return !w.full(ctx) })
}

// adopt takes the installation up where the run before has left it. It is not cancelled: the end of the installation needs the hosts.
func (w *clusterInstall) adopt(ctx workflow.Context) error {
	var clusters *activities.Clusters
	if err := w.record(workflowDisconnected(ctx), "Read the plan", clusters.BeginPreparation, w.request, &w.plan); err != nil {
		return err
	}
	w.many, w.begun, w.gateOpen, w.untold = true, true, w.continued.GateOpen, w.continued.Untold
	return w.enter(ctx, w.phase)
}

// lastRun returns the state that the run before this one has left.
func (w *clusterInstall) lastRun() Continuation {
	if w.continued == nil {
		return Continuation{}
	}
	return *w.continued
}

// untilEnd returns how much of a limit is left, and when it ends; the run before this one may have begun it.
func untilEnd(ctx workflow.Context, ends time.Time, limit time.Duration) (time.Duration, time.Time) {
	now := workflow.Now(ctx)
	if ends.IsZero() {
		ends = now.Add(limit)
	}
	return max(ends.Sub(now), time.Second), ends
}

// endHosts cancels the workflows of hosts by their ids, and waits until they have ended: two minutes at most.
func (w *clusterInstall) endHosts(ctx workflow.Context, hosts []activities.HostPlan) {
	var control *activities.Control
	request := activities.HostWorkflows{IDs: make([]string, len(hosts))}
	for i, h := range hosts {
		request.IDs[i] = HostWorkflowID(h.InfraEnvID, h.ID)
	}
	options := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: hostsLeft, StartToCloseTimeout: hostsLeft, HeartbeatTimeout: 30 * time.Second, RetryPolicy: retryForever,
		Summary: "End the workflows of hosts",
	})
	w.working(func() { _ = workflow.ExecuteActivity(options, control.EndHosts, request).Get(ctx, nil) })
}

// signalAll signals hosts, as many at once as one workflow task should hold.
func (w *clusterInstall) signalAll(ctx workflow.Context, hosts []activities.HostPlan, signal string, value any) {
	for len(hosts) > 0 {
		batch := hosts[:min(len(hosts), batchOfHosts)]
		hosts = hosts[len(batch):]
		sent := make([]workflow.Future, 0, len(batch))
		for _, h := range batch {
			if w.awaitStart(ctx, h) == nil {
				sent = append(sent, workflow.SignalExternalWorkflow(ctx, HostWorkflowID(h.InfraEnvID, h.ID), "", signal, value))
			}
		}
		for _, f := range sent {
			_ = f.Get(ctx, nil) // a workflow that has ended needs no signal
		}
	}
}

// signalInParts signals hosts and notes who was signalled. The run of a cluster with many hosts may end between two parts, and the next
// run signals the rest: 1,000 hosts that answer at once filled a run with 15,000 events while they were signalled.
func (w *clusterInstall) signalInParts(
	ctx workflow.Context, hosts []activities.HostPlan, signal string, note func(signalled []activities.HostPlan),
) error {
	part := len(hosts)
	if w.many && workflow.GetVersion(ctx, "signals-in-parts", workflow.DefaultVersion, 1) >= 1 {
		part = batchOfHosts
	}
	for len(hosts) > 0 {
		next := hosts[:min(len(hosts), part)]
		hosts = hosts[len(next):]
		w.working(func() {
			w.signalAll(ctx, next, signal, nil)
			note(next)
		})
		if len(hosts) > 0 {
			if err := w.breathe(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// batchOfHosts is how many children, or signals to them, one workflow task begins.
const batchOfHosts = 100
