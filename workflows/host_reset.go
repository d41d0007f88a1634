package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/wire"
)

// HostResetRequest resets one host of a cluster that exists already, unless another
// attempt than the named one was accepted meanwhile.
type HostResetRequest struct {
	activities.AddRequest
	Timeouts activities.Timeouts
}

// defaultReset is how long agents get to stop when no plan was frozen yet.
const defaultReset = 3 * time.Minute

// HostReset takes a host whose installation has ended back to discovery. It cannot be cancelled.
func HostReset(ctx workflow.Context, request HostResetRequest) error {
	if err := original(ctx, HostResetWorkflowID(request.InfraEnvID, request.HostID)); err != nil {
		return err
	}
	return resetHost(workflowDisconnected(ctx), request)
}

// resetHost stops the agent, if it may still run, and takes the host back to
// discovery. One that has left the live image waits for its user.
func resetHost(ctx workflow.Context, request HostResetRequest) error {
	var hosts *activities.Hosts
	var stop bool
	if err := record(ctx, "Begin reset", hosts.BeginHostReset, request.AddRequest, &stop); err != nil {
		return err
	}
	if stop {
		var steps *activities.Steps
		limit := cmp.Or(request.Timeouts.Reset, defaultReset)
		options := withStepOptions(ctx, limit, limit, label{text: string(wire.StepTypeStopInstallation), number: 1})
		step := activities.StepRequest{HostRef: request.HostRef, Type: string(wire.StepTypeStopInstallation)}
		_ = workflow.ExecuteActivity(options, steps.RunStep, step).Get(ctx, nil) // a host that does not answer is reset all the same
	}
	return record(ctx, "Finish reset", hosts.FinishHostReset, request.AddRequest, nil)
}
