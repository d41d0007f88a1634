package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/wire"
)

// HostReclaim takes an installed host back to its InfraEnv: the host puts
// the discovery image beside its system, reboots into it and registers. A failure, or a
// host that does not come back, leaves it to its user; the host is out of its cluster
// either way.
func HostReclaim(ctx workflow.Context, request activities.ReclaimRequest) error {
	if err := original(ctx, ReclaimWorkflowID(request.InfraEnvID, request.HostID)); err != nil {
		return err
	}
	var hosts *activities.Hosts
	var plan activities.ReclaimPlan
	err := record(ctx, "Begin reclaim", hosts.BeginReclaim, request, &plan)
	if isFailure(err, activities.FailureRefused) {
		return nil // the command does not apply to the host any more
	}
	if err != nil {
		return err
	}
	w := &hostInstall{
		ref:     ofAttempt(request.HostRef, request.Attempt),
		request: HostInstallRequest{ClusterID: request.ClusterID, DayTwo: true, Timeouts: plan.Timeouts},
	}
	err = w.reclaim(ctx)
	if err == nil {
		return nil
	}
	after := workflowDisconnected(ctx)
	failure := activities.ReclaimFailure{ReclaimRequest: request, Reason: reason(err)}
	if ferr := record(after, "Leave host to its user", hosts.FailReclaim, failure, nil); ferr != nil {
		return ferr
	}
	return err
}

// reclaim carries out a host's way back.
func (w *hostInstall) reclaim(ctx workflow.Context) error {
	limit := w.request.Timeouts.Reclaim
	if err := w.runStep(ctx, wire.StepTypeDownloadBootArtifacts, "", limit); err != nil {
		return err
	}
	var hosts *activities.Hosts
	if err := record(ctx, "Show reboot", hosts.RebootForReclaim, w.ref, nil); err != nil {
		return err
	}
	// The reply to the reboot may be lost in it: the host's registration counts.
	inner, stop := workflow.WithCancel(ctx)
	defer stop()
	reboot := w.step(inner, wire.StepTypeRebootForReclaim, "", limit)
	options := withStepOptions(inner, limit, w.request.Timeouts.Heartbeat, w.label("Wait for the host in the pool"))
	back := workflow.ExecuteActivity(options, hosts.AwaitPool, w.ref)
	err := workflow.Await(ctx, func() bool { return back.IsReady() || reboot.IsReady() })
	if err == nil && !back.IsReady() {
		err = reboot.Get(ctx, nil)
	}
	if err != nil {
		return err
	}
	if err := back.Get(ctx, nil); !isTimeout(err) {
		return err
	}
	return temporal.NewNonRetryableApplicationError("the host did not register from the discovery image in time", activities.FailureStep, nil)
}
