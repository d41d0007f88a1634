package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
)

// hostAdd is a host's installation that has no cluster's workflow above it.
type hostAdd struct {
	hostInstall
	accepted activities.AddRequest
	reset    bool // it was commanded to return to discovery
	cancel   workflow.CancelFunc
}

// HostAdd installs one host into a cluster that exists already: it checks disk and
// images, runs the stages, and on a failure waits for a decision. It ends when the host
// is part of the cluster, was given up, cancelled or reset.
func HostAdd(ctx workflow.Context, request activities.AddRequest) error {
	if err := original(ctx, HostWorkflowID(request.InfraEnvID, request.HostID)); err != nil {
		return err
	}
	w := &hostAdd{hostInstall: hostInstall{state: HostPreparing, ref: ofAttempt(request.HostRef, request.Attempt)}, accepted: request}
	work, cancel := workflow.WithCancel(ctx)
	w.cancel = cancel
	if err := w.setup(ctx); err != nil {
		return err
	}
	if err := command(ctx, CommandReset, w.checkReset, w.stop); err != nil {
		return err
	}
	workflow.Go(ctx, refuseSignals(w.ref, append([]string{CommandReset}, hostCommands...), SignalInstall, SignalControlPlane, SignalHold))
	w.shown = begin(ctx)
	w.show(ctx)
	err := w.conclude(ctx, w.run(work))
	if w.reset && err == nil {
		w.state = statusReset
	}
	w.ended(workflowDisconnected(ctx), err)
	return err
}

// ofAttempt binds a workflow's work on a single host to the attempt that began it.
func ofAttempt(ref activities.HostRef, attempt int) activities.HostRef {
	ref.HostAttempt = attempt
	return ref
}

// run freezes the plan and runs the stages by it.
func (w *hostAdd) run(ctx workflow.Context) error {
	var hosts *activities.Hosts
	var plan activities.AddPlan
	err := record(ctx, "Freeze the plan", hosts.BeginAddition, w.accepted, &plan)
	if isFailure(err, activities.FailureRefused) && !w.shown.ends {
		return nil // the command does not apply to the host any more
	}
	if err != nil {
		return err
	}
	w.request = HostInstallRequest{ClusterID: w.ref.ClusterID, DayTwo: true, Host: plan.Host, Timeouts: plan.Timeouts}
	if w.request.Lost = w.accepted.Lost; w.request.Lost != "" {
		return w.continues(ctx)
	}
	return w.attempts(ctx, 0)
}

// conclude ends what run left behind; a reset has the last word.
func (w *hostAdd) conclude(ctx workflow.Context, err error) error {
	cancelled := temporal.IsCanceledError(err) || ctx.Err() != nil
	after := workflowDisconnected(ctx)
	switch {
	case w.reset:
		return resetHost(after, HostResetRequest{AddRequest: w.accepted, Timeouts: w.request.Timeouts})
	case cancelled:
		var hosts *activities.Hosts
		if cerr := record(after, "Cancel installation", hosts.CancelHost, w.accepted, nil); cerr != nil {
			return cerr
		}
		return temporal.NewCanceledError("installation cancelled")
	}
	return err
}

func (w *hostAdd) stop(workflow.Context) {
	w.reset = true
	w.cancel()
}

func (w *hostAdd) checkReset() error {
	if w.reset {
		return reject("the host is being reset already")
	}
	if w.state == HostDone {
		return reject("the host is part of its cluster")
	}
	return nil
}

// passChecks prepares a host without its cluster: its Ignition is made while disk and images are checked, and no disk is written before
// all checks passed.
func (w *hostInstall) passChecks(ctx workflow.Context) error {
	if err := w.validate(ctx); err != nil {
		return err
	}
	var files *activities.Files
	ignition := workflow.ExecuteActivity(withRecordOptions(ctx, "Generate Ignition"), files.GenerateHostIgnition, w.ref)
	problem, err := w.check(ctx)
	if err != nil {
		return err
	}
	if problem != "" {
		return temporal.NewNonRetryableApplicationError(problem, activities.FailureRefused, nil)
	}
	if err := ignition.Get(ctx, nil); err != nil {
		return err
	}
	var hosts *activities.Hosts
	return record(ctx, "Judge checks", hosts.JudgeChecks, w.ref, nil)
}
