package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
)

// HostReclaim takes an installed host back to its discovery environment: the host puts
// the discovery image beside its system, reboots into it and registers. A failure, or a
// host that does not come back, leaves it to its user; the host is out of its cluster
// either way.
func HostReclaim(ctx workflow.Context, request activities.ReclaimRequest) error {
	var hosts *activities.Hosts
	var plan activities.ReclaimPlan
	err := workflow.ExecuteActivity(record(ctx, "Begin reclaim"), hosts.BeginReclaim, request).Get(ctx, &plan)
	if isFailure(err, activities.FailureRefused) {
		return nil // the host is not what the command was about any more
	}
	if err != nil {
		return err
	}
	w := &hostInstall{ref: request.HostRef, request: HostInstallRequest{ClusterID: request.ClusterID, DayTwo: true, Timeouts: plan.Timeouts}}
	err = w.reclaim(ctx)
	if err == nil {
		return nil
	}
	clean := workflowDisconnected(ctx)
	failure := activities.ReclaimFailure{ReclaimRequest: request, Reason: reason(err)}
	if ferr := workflow.ExecuteActivity(record(clean, "Leave host to its user"), hosts.FailReclaim, failure).Get(clean, nil); ferr != nil {
		return ferr
	}
	return err
}

// reclaim is the story of a host on its way back.
func (w *hostInstall) reclaim(ctx workflow.Context) error {
	limit := w.request.Timeouts.Reclaim
	if err := w.runStep(ctx, "download-boot-artifacts", "", limit); err != nil {
		return err
	}
	var hosts *activities.Hosts
	if err := workflow.ExecuteActivity(record(ctx, "Show reboot"), hosts.RebootForReclaim, w.ref).Get(ctx, nil); err != nil {
		return err
	}
	// The reply to the reboot may be lost in it: the host's registration counts.
	inner, stop := workflow.WithCancel(ctx)
	defer stop()
	reboot := w.step(inner, "reboot-for-reclaim", "", limit)
	options := ask(inner, limit, w.request.Timeouts.Heartbeat, w.question("Wait for the host in the pool"))
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
