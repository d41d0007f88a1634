package workflows

import (
	"errors"
	"slices"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
)

// startHosts starts one child for each host and waits until all run.
func (w *clusterInstall) startHosts(ctx workflow.Context) error {
	for _, h := range w.plan.Hosts {
		w.hosts[h.ID] = HostNews{HostID: h.ID, State: HostPreparing}
		w.startHost(ctx, w.hostRequest(h))
	}
	if w.paused && workflow.GetVersion(ctx, "hold-hosts-from-the-start", workflow.DefaultVersion, 1) >= 1 {
		w.hold(ctx, true) // the command came before the workflows of the hosts began
	}
	for _, h := range w.plan.Hosts {
		if err := w.children[h.ID].GetChildWorkflowExecution().Get(ctx, nil); err != nil {
			return err
		}
	}
	for _, h := range w.plan.Hosts {
		workflow.Go(ctx, func(ctx workflow.Context) { w.watch(ctx, h) })
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
	options := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            HostWorkflowID(h.InfraEnvID, h.ID),
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WaitForCancellation:   true,
		StaticSummary:         string(h.Role) + " " + h.Name,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			AttributeClusterID.ValueSet(w.request.ClusterID.String()), AttributeHostID.ValueSet(h.ID.String())),
	})
	w.children[h.ID] = workflow.ExecuteChildWorkflow(options, HostInstall, request)
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
		request := w.hostRequest(h)
		if w.phase != PhasePreparing {
			request.Lost, request.ControlPlane = whyLost(err), w.gateOpen
		}
		w.startHost(ctx, request)
		if w.paused {
			_ = w.children[h.ID].SignalChildWorkflow(ctx, SignalHold, true).Get(ctx, nil)
		}
	}
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

// continueLost takes the place of a child that was lost: it looks where the host stands, and asks what to do with it.
func (w *hostInstall) continueLost(ctx workflow.Context) error {
	var hosts *activities.Hosts
	var stands activities.HostStanding
	if err := record(ctx, "Look where the host stands", hosts.Standing, w.ref, &stands); err != nil {
		return err
	}
	if stands.Installed {
		return w.notifyCluster(ctx, HostDone, "")
	}
	w.installing, w.controlPlane, w.attempt = true, w.request.ControlPlane, stands.Attempt
	at := w.stageAt(stands.Stage)
	failure := temporal.NewNonRetryableApplicationError(w.request.Lost, activities.FailureStep, nil)
	from, err := w.decide(ctx, at, failure)
	if err != nil {
		return err
	}
	return w.attempts(ctx, from)
}

// stageAt is the place of a stage among those that the workflow passes; that of the one before for a stage it does not
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
