package workflows

import (
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
)

// ControlRequest names the cluster that commands are taken for.
type ControlRequest struct {
	ClusterID uuid.UUID
	Name      string // of the cluster
}

// ControlWorkflowID returns the id of the workflow that takes commands for a cluster.
func ControlWorkflowID(cluster uuid.UUID) string { return "control:" + cluster.String() }

// controlCommands are the commands of ClusterControl; it refuses others by name.
var controlCommands = []string{
	CommandCancel, CommandReset, CommandExtend, CommandPause, CommandResume, CommandRetry, CommandRetryStep, CommandEvict,
}

// clusterControl is the state of one run of ClusterControl.
type clusterControl struct {
	request ControlRequest
	active  int  // commands that are being carried out
	gone    bool // the cluster was deleted
	over    bool // another run takes the next command
	// reset is set in a run that a Reset in Temporal began: it gets the commands of the runs before it.
	reset bool
}

// ClusterControl takes commands for a cluster as signals and updates, from its first installation until it is deleted: while an
// installation runs, and when none does. Signals with other names are refused visibly. Each command ends a run, and the next run takes
// the next one: Temporal gives a workflow that is reset its signals and updates again, and this one would carry out outdated commands.
func ClusterControl(ctx workflow.Context, request ControlRequest) error {
	if err := original(ctx, ControlWorkflowID(request.ClusterID)); err != nil {
		return err
	}
	w := &clusterControl{request: request, reset: wasReset(ctx)}
	if w.reset {
		// After those commands nothing is left to do. A run of before this change replays tasks in which it did not end.
		w.over = workflow.GetVersion(ctx, "end-after-reset", workflow.DefaultVersion, 1) >= 1
	}
	workflow.SetCurrentDetails(ctx, "Takes commands for cluster "+request.Name+
		", as updates or signals. The input of `retry`, `retry-step` and `evict` is the name of the host, as a JSON string.")
	for _, name := range controlCommands {
		err := workflow.SetUpdateHandlerWithOptions(ctx, name, func(ctx workflow.Context, input activities.CommandInput) error {
			if err := w.command(ctx, name, input); err != nil {
				return reject(reason(err))
			}
			return nil
		}, workflow.UpdateHandlerOptions{Description: descriptions[name]})
		if err != nil {
			return err
		}
		workflow.Go(ctx, func(ctx workflow.Context) {
			commands := signals(ctx, name)
			for {
				var input activities.CommandInput
				if !commands.Receive(ctx, &input) {
					return
				}
				_ = w.command(ctx, name, input) // a refusal is in the history and in the events of the cluster
			}
		})
	}
	workflow.Go(ctx, w.refuseOthers)
	full := afterSignals(ctx, func() bool {
		over := w.over || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
		return over && w.active == 0 && len(unknown(ctx, controlCommands)) == 0 && workflow.AllHandlersFinished(ctx)
	})
	err := workflow.Await(ctx, func() bool { return w.gone || full() })
	if err != nil || w.gone {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, ClusterControl, request)
}

// command carries a command out, or returns why it is refused.
func (w *clusterControl) command(ctx workflow.Context, name string, input activities.CommandInput) error {
	w.active++
	defer func() { w.active-- }()
	var control *activities.Control
	var done activities.Controlled
	command := activities.ControlCommand{ClusterID: w.request.ClusterID, Name: name, Input: input, Again: w.reset}
	err := record(ctx, "Command "+name+" "+input.Host, control.CommandCluster, command, &done)
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) && refused.HasDetails() {
		_ = refused.Details(&done) // refusals of earlier versions have no details
	}
	w.gone, w.over = w.gone || done.Gone, w.over || done.EndsRun
	return err
}

// refuseOthers takes signals whose names are no commands: their refusal is in the history and in the events of the cluster.
func (w *clusterControl) refuseOthers(ctx workflow.Context) {
	for workflow.Await(ctx, func() bool { return len(unknown(ctx, controlCommands)) > 0 }) == nil {
		for _, name := range unknown(ctx, controlCommands) {
			var input activities.CommandInput
			for workflow.GetSignalChannel(ctx, name).ReceiveAsync(&input) {
				_ = w.command(ctx, name, input)
			}
		}
	}
}
