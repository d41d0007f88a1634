package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
)

// continueHosts starts children for the hosts of an installation that another workflow began. A child of that workflow may still be
// ending, or was left behind: it is cancelled first. Its steps are taken over, not commanded again.
func (w *clusterInstall) continueHosts(ctx workflow.Context) error {
	if w.many {
		w.endHosts(ctx, w.plan.Hosts)
	}
	var failure error
	group := workflow.NewWaitGroup(ctx)
	for i, h := range w.plan.Hosts {
		if w.many && i > 0 && i%batchOfHosts == 0 {
			group.Wait(ctx)
		}
		w.hosts[h.ID] = HostNews{HostID: h.ID, State: HostRunning}
		request := w.hostRequest(h)
		request.Continues = true
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			if err := w.replaceHost(ctx, request); err != nil && failure == nil {
				failure = err
			}
		})
	}
	group.Wait(ctx)
	if failure != nil {
		return failure
	}
	if w.paused {
		w.hold(ctx, true)
	}
	w.begun = true
	for _, h := range w.plan.Hosts {
		workflow.Go(ctx, func(ctx workflow.Context) { w.watch(ctx, h) })
	}
	return nil
}

// How often, and for how long, a child is waited for that another workflow of the cluster left behind.
const (
	replaceEvery = 2 * time.Second
	replaceTries = 90
)

// replaceHost starts the child of a host, once the child of another workflow, or of another run of this one, has ended.
func (w *clusterInstall) replaceHost(ctx workflow.Context, request HostInstallRequest) error {
	for try := 1; ; try++ {
		w.startHost(ctx, request)
		err := w.children[request.Host.ID].GetChildWorkflowExecution().Get(ctx, nil)
		var running *temporal.ChildWorkflowExecutionAlreadyStartedError
		if !errors.As(err, &running) || try == replaceTries {
			return err
		}
		id := HostWorkflowID(request.Host.InfraEnvID, request.Host.ID)
		_ = workflow.RequestCancelExternalWorkflow(ctx, id, "").Get(ctx, nil)
		if err := timer(ctx, replaceEvery, "Its workflow before this one ends").Get(ctx, nil); err != nil {
			return err
		}
	}
}

// signalHost signals any run of a host's workflow, whichever run of this workflow began it: both may have been reset in Temporal's UI.
// A workflow that has ended needs no signal.
func (w *clusterInstall) signalHost(ctx workflow.Context, h activities.HostPlan, signal string, value any) {
	if w.awaitStart(ctx, h) != nil {
		return
	}
	_ = workflow.SignalExternalWorkflow(ctx, HostWorkflowID(h.InfraEnvID, h.ID), "", signal, value).Get(ctx, nil)
}

// awaitStart waits until the child of a host runs; a child that an earlier run of this workflow began runs already.
func (w *clusterInstall) awaitStart(ctx workflow.Context, h activities.HostPlan) error {
	child, ok := w.children[h.ID]
	if !ok && w.continued != nil {
		return nil
	}
	return child.GetChildWorkflowExecution().Get(ctx, nil)
}

// hasHost reports whether a host has a child.
func (w *clusterInstall) hasHost(id uuid.UUID) bool {
	_, ok := w.children[id]
	return ok || w.continued != nil
}

// How long hosts may take to end once they are cancelled, before they are cancelled by their id, and then at most.
const (
	hostsEnd  = 3 * time.Second
	hostsLeft = 2 * time.Minute
)

// awaitChildren lets cancelled hosts end before their rows are written: the cluster's clean-up has the last word. Children of an
// earlier run are cancelled by their id. A child that does not end is left behind: its commands are not handed out any more once the
// clean-up is done.
func (w *clusterInstall) awaitChildren(ctx workflow.Context) {
	if workflow.GetVersion(ctx, "bounded-end-of-hosts", workflow.DefaultVersion, 1) < 1 {
		for _, h := range w.plan.Hosts {
			if child, ok := w.children[h.ID]; ok {
				_ = child.Get(ctx, nil)
			}
		}
		return
	}
	if w.many {
		w.endHosts(ctx, w.runningHosts())
		return
	}
	if ended, err := within(ctx, hostsEnd, "Hosts end", func() bool { return len(w.runningHosts()) == 0 }); ended || err != nil {
		return
	}
	if w.shown.ends { // hosts that ended before a Reset of this run are found to have; Temporal does not announce that
		w.endHosts(ctx, w.runningHosts())
		return
	}
	for _, h := range w.runningHosts() {
		_ = workflow.RequestCancelExternalWorkflow(ctx, HostWorkflowID(h.InfraEnvID, h.ID), "").Get(ctx, nil)
	}
	_, _ = within(ctx, hostsLeft, "Hosts that were cancelled by their id end", func() bool { return len(w.runningHosts()) == 0 })
}

// runningHosts lists the hosts whose child has not ended.
func (w *clusterInstall) runningHosts() []activities.HostPlan {
	return slices.DeleteFunc(slices.Clone(w.plan.Hosts), func(h activities.HostPlan) bool {
		child, ok := w.children[h.ID]
		if !ok && w.continued != nil {
			return w.settled(h.ID)
		}
		return !ok || child.IsReady()
	})
}

// startHosts starts one child for each host and waits until all run.
func (w *clusterInstall) startHosts(ctx workflow.Context) error {
	for i, h := range w.plan.Hosts {
		w.hosts[h.ID] = HostNews{HostID: h.ID, State: HostPreparing}
		w.startHost(ctx, w.hostRequest(h))
		if w.many && i%batchOfHosts == batchOfHosts-1 {
			_ = w.awaitStart(ctx, h) // the first failure is found below
		}
	}
	if w.paused && workflow.GetVersion(ctx, "hold-hosts-from-the-start", workflow.DefaultVersion, 1) >= 1 {
		w.hold(ctx, true) // the command came before the workflows of the hosts began
	}
	if err := w.awaitStarts(ctx); err != nil {
		return err
	}
	w.begun = true
	for _, h := range w.plan.Hosts {
		workflow.Go(ctx, func(ctx workflow.Context) { w.watch(ctx, h) })
	}
	return nil
}

// awaitStarts waits until every host has its child. A child that an earlier installation left behind is ended first.
func (w *clusterInstall) awaitStarts(ctx workflow.Context) error {
	var left []activities.HostPlan
	for _, h := range w.plan.Hosts {
		err := w.awaitStart(ctx, h)
		var running *temporal.ChildWorkflowExecutionAlreadyStartedError
		switch {
		case w.shown.brief && errors.As(err, &running):
			left = append(left, h)
		case err != nil:
			return err
		}
	}
	if len(left) == 0 {
		return nil
	}
	w.endHosts(ctx, left)
	for _, h := range left {
		if err := w.replaceHost(ctx, w.hostRequest(h)); err != nil { // a run that was reset may have begun some
			return err
		}
	}
	return nil
}

func (w *clusterInstall) hostRequest(h activities.HostPlan) HostInstallRequest {
	return HostInstallRequest{
		ClusterID: w.request.ClusterID, Attempt: w.request.Attempt, SingleNode: w.plan.SingleNode, Host: h, Timeouts: w.plan.Timeouts,
	}
}

// startHost starts the child of a host.
func (w *clusterInstall) startHost(ctx workflow.Context, request HostInstallRequest) {
	h := request.Host
	closing := enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL
	if w.many {
		closing = enumspb.PARENT_CLOSE_POLICY_ABANDON // else a run that continues as new would cancel them
		ctx = workflowDisconnected(ctx)
	}
	options := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            HostWorkflowID(h.InfraEnvID, h.ID),
		ParentClosePolicy:     closing,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WaitForCancellation:   true,
		StaticSummary:         string(h.Role) + " " + h.Name + " of " + w.plan.Name,
		StaticDetails: fmt.Sprintf("Installs host %s (%s) of cluster %s, OpenShift %s. Its history: `slipway host show %s`",
			h.Name, h.Role, w.plan.Name, w.plan.Version, h.Name),
		TypedSearchAttributes: temporal.NewSearchAttributes(w.hostAttributes(h)...),
	})
	w.children[h.ID] = workflow.ExecuteChildWorkflow(options, HostInstall, request)
}

// hostAttributes returns the search attributes that a child begins with.
func (w *clusterInstall) hostAttributes(h activities.HostPlan) []temporal.SearchAttributeUpdate {
	updates := []temporal.SearchAttributeUpdate{
		AttributeClusterID.ValueSet(w.request.ClusterID.String()), AttributeHostID.ValueSet(h.ID.String()),
	}
	if w.shown.readable {
		updates = append(updates, AttributeClusterName.ValueSet(w.plan.Name), AttributeHostName.ValueSet(h.Name))
	}
	return updates
}

// watch looks whether the child of a host ends without its word: it was terminated or cancelled in Temporal's UI, or
// failed for good. Another child takes its place. Before the installation it checks the host again; in it, it asks what
// to do with the host, as after any failure.
func (w *clusterInstall) watch(ctx workflow.Context, h activities.HostPlan) {
	for {
		err := w.children[h.ID].Get(ctx, nil)
		if ctx.Err() != nil || w.phase == PhaseDone || w.settled(h.ID) || !lost(err) {
			return
		}
		if workflow.GetVersion(ctx, "replace-lost-hosts", workflow.DefaultVersion, 1) < 1 {
			return // it was lost under a version that did not notice
		}
		if isFailure(err, activities.FailureRefused) { // the host was deleted, or its row was lost
			w.hosts[h.ID] = HostNews{HostID: h.ID, State: HostGone, Reason: reason(err), Attempt: w.request.Attempt}
			return
		}
		replaced := false
		w.working(func() { replaced = w.replaceLost(ctx, h, whyLost(err)) })
		if !replaced {
			return
		}
	}
}

// replaceLost starts another child for a host and reports whether it could: another run of the lost one may exist, begun by a
// reset in Temporal's UI.
func (w *clusterInstall) replaceLost(ctx workflow.Context, h activities.HostPlan, why string) bool {
	request := w.hostRequest(h)
	if w.phase != PhasePreparing {
		request.Lost, request.ControlPlane = why, w.gateOpen
	}
	before, ok := w.children[h.ID]
	w.startHost(ctx, request)
	if err := w.children[h.ID].GetChildWorkflowExecution().Get(ctx, nil); err != nil {
		if delete(w.children, h.ID); ok {
			w.children[h.ID] = before
		}
		return false
	}
	if w.paused {
		w.signalHost(ctx, h, SignalHold, true)
	}
	return true
}

// listenForLost replaces children that the service has found missing: a child that was reset in Temporal's UI, and ended
// there later, is not announced to this workflow.
func (w *clusterInstall) listenForLost(ctx workflow.Context) {
	losses := signals(ctx, SignalHostLost)
	for {
		var n HostNews
		if !losses.Receive(ctx, &n) {
			return
		}
		if err := workflow.Await(ctx, func() bool { return w.begun }); err != nil {
			return // a child that is being started is not replaced
		}
		at := slices.IndexFunc(w.plan.Hosts, func(h activities.HostPlan) bool { return h.ID == n.HostID })
		if at < 0 || n.Attempt != w.request.Attempt || ctx.Err() != nil || w.phase == PhaseDone || w.settled(n.HostID) {
			continue
		}
		h := w.plan.Hosts[at]
		w.working(func() {
			switch {
			case !w.hasHost(h.ID):
			case w.replaceLost(ctx, h, n.Reason):
				workflow.Go(ctx, func(ctx workflow.Context) { w.watch(ctx, h) })
			default:
				w.miss(h.ID)
			}
		})
	}
}

// miss remembers a child that is lost and that Temporal takes for running: the run that this workflow knows was replaced by a
// reset of an older one, which ended. At the second time, when it was not just a loss that was replaced meanwhile, another run of
// this workflow begins, and finds its hosts as after any reset.
func (w *clusterInstall) miss(id uuid.UUID) {
	child := w.children[id]
	w.astray = w.astray || w.shown.brief && w.missed[id] != nil && w.missed[id] == child
	w.missed[id] = child
}

// settled reports whether a host has said its last word.
func (w *clusterInstall) settled(id uuid.UUID) bool {
	state := w.host(id)
	return state == HostDone || state == HostGone
}

// lost reports whether a child has ended in a way that another one can take its place: not when its attempt is over, and not when
// another run of it exists, begun by a reset in Temporal's UI.
func lost(err error) bool {
	var running *temporal.ChildWorkflowExecutionAlreadyStartedError
	return !isFailure(err, activities.FailureSuperseded) && !errors.As(err, &running)
}

func whyLost(err error) string {
	var terminated *temporal.TerminatedError
	switch {
	case err == nil:
		return "its workflow ended without a result"
	case errors.As(err, &terminated):
		return "its workflow was terminated in Temporal"
	case temporal.IsCanceledError(err):
		return "its workflow was cancelled in Temporal"
	}
	return "its workflow failed: " + reason(err)
}

// continues takes the installation up where the host stands: the workflow of the cluster was ended, or reset, in Temporal. A child
// that was lost alone asks what to do with its host.
func (w *hostInstall) continues(ctx workflow.Context) error {
	var hosts *activities.Hosts
	var stands activities.HostStanding
	if err := record(ctx, "Look where the host stands", hosts.Standing, w.ref, &stands); err != nil {
		return err
	}
	if stands.Installed {
		return w.notifyCluster(ctx, HostDone, "")
	}
	w.installing, w.controlPlane, w.attempt = true, w.request.ControlPlane, stands.Attempt
	from := w.stageAt(stands.Stage)
	var err error
	switch why := cmp.Or(w.request.Lost, stands.Failed); {
	case why != "":
		from, err = w.decide(ctx, from, temporal.NewNonRetryableApplicationError(why, activities.FailureStep, nil))
	case stands.GivenUp:
		_ = w.notifyCluster(ctx, HostGone, "")
		return temporal.NewNonRetryableApplicationError("the host was given up", activities.FailureStep, nil)
	case stands.Elsewhere:
		from, err = 0, w.awaitLiveImage(ctx)
	case stands.Attempt == 0:
		from = 0
	default:
		w.attempt-- // the current attempt is not begun again
	}
	if err != nil {
		return err
	}
	return w.attempts(ctx, from)
}

// stageAt returns the place of a stage among the stages that the workflow passes; the place of the stage before for a stage it does not
// wait for, and the first for none.
func (w *hostInstall) stageAt(stage model.Stage) int {
	at, passed := 0, steps.StagesFor(w.request.Host.Role, w.request.Host.Bootstrap || w.request.SingleNode, w.request.SingleNode)
	for i, s := range stagesOf(w.request) {
		if s.Name == "" || slices.Index(passed, s.Name) <= slices.Index(passed, stage) {
			at = i
		}
	}
	return at
}
