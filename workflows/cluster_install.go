package workflows

import (
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/model"
)

// clusterInstall is the state of one running installation.
type clusterInstall struct {
	request   activities.InstallRequest
	continued *Continuation // from the run before this one
	plan      activities.Plan
	phase     Phase
	stop      clusterCommand
	cancel    workflow.CancelFunc
	paused    bool
	holding   workflow.Mutex // held by the command that pauses or resumes hosts
	extended  int
	labelled  int            // activities that waited for a milestone or a stage so far
	waiting   bool           // for a command after a time-out of the cluster
	deciding  workflow.Mutex // held by a wait
	expired   error          // the time is over and was not extended
	gateOpen  bool           // the control plane is up
	untold    []uuid.UUID    // workers that do not know that yet
	begun     bool           // every host has its child
	stalled   string         // why it waits
	shown     shown
	busy      int // how many things are under way that a run must not end in
	// astray is set when a host has no workflow, and Temporal takes its child for running: the next run finds its hosts anew.
	astray   bool
	missed   map[uuid.UUID]workflow.ChildWorkflowFuture // children that were announced as lost, and could not be replaced
	many     bool                                       // so many hosts that the workflow has several runs
	ends     Continuation                               // of it, when the clocks run out
	hosts    map[uuid.UUID]HostNews
	children map[uuid.UUID]workflow.ChildWorkflowFuture
}

// ClusterInstall installs one cluster: it prepares every host, runs a HostInstall for
// each, orders them, and finalizes. It ends when the cluster is installed, cancelled,
// reset, or could not be prepared.
func ClusterInstall(ctx workflow.Context, request ClusterRequest) error {
	if err := original(ctx, ClusterWorkflowID(request.ClusterID)); err != nil {
		return err
	}
	w := &clusterInstall{
		request: request.InstallRequest, continued: request.Continued, paused: request.Paused,
		hosts: map[uuid.UUID]HostNews{}, children: map[uuid.UUID]workflow.ChildWorkflowFuture{},
		missed:  map[uuid.UUID]workflow.ChildWorkflowFuture{},
		holding: workflow.NewMutex(ctx), deciding: workflow.NewMutex(ctx),
	}
	if w.continued != nil {
		w.hosts = w.continued.Hosts // news may be the first that this run hears
	}
	work, cancel := workflow.WithCancel(ctx)
	w.cancel = cancel
	if err := w.setup(ctx); err != nil {
		return err
	}
	workflow.Go(work, w.listenForLost)
	workflow.Go(ctx, refuseSignals(activities.HostRef{ClusterID: request.ClusterID}, clusterCommands, SignalHostNews, SignalHostLost))
	w.shown = begin(ctx)
	if w.shown.brief {
		return w.inRuns(ctx, work)
	}
	return w.conclude(ctx, w.run(work))
}

// run takes the installation through its phases.
func (w *clusterInstall) run(ctx workflow.Context) error {
	ready, err := w.prepared(ctx)
	if err != nil || !ready {
		return err
	}
	clocks, stop := workflow.WithCancel(ctx)
	defer stop()
	w.clock(clocks, w.installationClock)
	if w.plan.Stalled != "" {
		if err := w.stall(ctx, w.plan.Stalled); err != nil {
			return err
		}
	}
	if w.phase != PhaseFinalizing {
		if err := w.install(ctx); err != nil {
			return err
		}
		if err := w.enter(ctx, PhaseFinalizing); err != nil {
			return err
		}
	} else if len(w.untold) > 0 {
		workflow.Go(ctx, w.openGate) // the run before has begun
	}
	w.clock(clocks, w.finalizingClock)
	w.clock(clocks, w.stageClock)
	return w.finalize(ctx)
}

// prepared ends when the hosts are prepared, and the installation begins. In a later run they are.
func (w *clusterInstall) prepared(ctx workflow.Context) (bool, error) {
	if w.continued != nil {
		w.phase = w.continued.Phase
		return true, w.adopt(ctx)
	}
	if err := w.enter(ctx, PhasePreparing); err != nil {
		return false, err
	}
	ready, err := w.prepare(ctx)
	if err != nil || !ready {
		return false, err
	}
	return true, w.enter(ctx, PhaseInstalling)
}

func (w *clusterInstall) enter(ctx workflow.Context, phase Phase) error {
	w.phase = phase
	status, waitingFor := w.status()
	workflow.SetCurrentDetails(ctx, w.details())
	updates := append(w.shown.attributes(status, waitingFor), AttributePhase.ValueSet(string(phase)))
	return workflow.UpsertTypedSearchAttributes(ctx, updates...)
}

// conclude ends what run left behind, and shows how the installation ended.
func (w *clusterInstall) conclude(ctx workflow.Context, err error) error {
	after, done := workflow.NewDisconnectedContext(ctx)
	defer done()
	status, err := w.settle(ctx, after, err)
	w.ended(after, status, err)
	return err
}

// settle writes the end of the installation to its rows, unless they have it. Commands win over the error of the cancellation they
// caused.
func (w *clusterInstall) settle(ctx, after workflow.Context, err error) (status string, _ error) {
	cancelled := temporal.IsCanceledError(err) || ctx.Err() != nil
	var clusters *activities.Clusters
	switch {
	case isFailure(err, activities.FailureSuperseded):
		return statusSuperseded, err // the rows are about another installation
	case w.shown.ends && err == nil && w.phase == PhaseDone:
		return w.finished(), nil // a cancellation that comes now has nothing to stop
	case w.stop == stopReset:
		w.leave(after, PhaseResetting)
		w.awaitChildren(after)
		return w.reset(after)
	case w.expired != nil && w.stop == stopNone:
		w.awaitChildren(after)
		w.markFailed(after, w.expired)
		return statusFailed, w.expired
	case w.stop == stopCancel || cancelled:
		w.leave(after, PhaseCancelling)
		w.awaitChildren(after)
		if cerr := record(after, "Cancel installation", clusters.CancelInstallation, w.request, nil); cerr != nil {
			return statusFailed, cerr
		}
		if w.stop == stopReset { // the command came while the installation was being cancelled
			w.leave(after, PhaseResetting)
			return w.reset(after)
		}
		return statusCancelled, temporal.NewCanceledError("installation cancelled")
	case err != nil:
		if w.many {
			w.awaitChildren(after) // they outlive a run of their parent
		}
		w.markFailed(after, err)
		return statusFailed, err
	}
	return w.finished(), nil
}

// finished returns how an installation ended that was not stopped.
func (w *clusterInstall) finished() string {
	if w.count(model.RoleMaster, HostDone) > 0 {
		return statusInstalled
	}
	return statusNotReady
}

func (w *clusterInstall) markFailed(ctx workflow.Context, why error) {
	var clusters *activities.Clusters
	failure := activities.ClusterFailure{ClusterID: w.request.ClusterID, Attempt: w.request.Attempt, Reason: reason(why)}
	_ = record(ctx, "Mark cluster as failed", clusters.FailInstallation, failure, nil)
}

// leave enters a phase that ends the installation.
func (w *clusterInstall) leave(ctx workflow.Context, phase Phase) {
	if w.phase = phase; w.shown.readable {
		_ = w.enter(ctx, phase)
	}
}

func (w *clusterInstall) reset(ctx workflow.Context) (status string, _ error) {
	err := resetCluster(ctx, ResetRequest{ClusterID: w.request.ClusterID, Attempt: w.request.Attempt, Timeouts: w.plan.Timeouts})
	switch {
	case isFailure(err, activities.FailureSuperseded):
		return statusSuperseded, err
	case err != nil:
		return statusFailed, err
	}
	return statusReset, nil
}

// host returns the state of a host that the cluster's workflow knows.
func (w *clusterInstall) host(id uuid.UUID) HostState { return w.hosts[id].State }

// count counts the hosts of a role in a state.
func (w *clusterInstall) count(role model.Role, state HostState) int {
	n := 0
	for _, h := range w.plan.Hosts {
		if h.Role == role && w.host(h.ID) == state {
			n++
		}
	}
	return n
}

// every reports whether all hosts are in one of the states.
func (w *clusterInstall) every(states ...HostState) bool {
	for _, h := range w.plan.Hosts {
		found := false
		for _, s := range states {
			found = found || w.host(h.ID) == s
		}
		if !found {
			return false
		}
	}
	return true
}

// reason returns the innermost sentence of an error, for people.
func reason(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return "time ran out"
	}
	return err.Error()
}

func isTimeout(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout)
}

func isFailure(err error, kind string) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.Type() == kind
}
