package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"slipway/activities"
)

// The commands of installations and hosts, as users see them.
var (
	clusterCommands = []string{CommandCancel, CommandReset, CommandExtend, CommandPause, CommandResume}
	hostCommands    = []string{CommandRetry, CommandRetryStep, CommandEvict}
)

// refuseSignals writes down, beside the history, signals that a workflow does not take: a mistyped command would be ignored silently.
// In workflows that got such a signal under an earlier version, they are ignored as before.
func refuseSignals(about activities.HostRef, commands []string, internal ...string) func(workflow.Context) {
	takes := slices.Concat(commands, internal)
	return func(ctx workflow.Context) {
		var control *activities.Control
		for workflow.Await(ctx, func() bool { return len(unknown(ctx, takes)) > 0 }) == nil {
			for _, name := range unknown(ctx, takes) {
				for workflow.GetSignalChannel(ctx, name).ReceiveAsync(nil) {
					if workflow.GetVersion(ctx, "refuse-signals", workflow.DefaultVersion, 1) < 1 {
						continue
					}
					refusal := activities.RefusedSignal{HostRef: about, Name: name, Takes: commands}
					_ = record(ctx, "Refuse signal "+name, control.RefuseSignal, refusal, nil)
				}
			}
		}
	}
}

// unknown lists the names of signals that came and that a workflow does not take.
func unknown(ctx workflow.Context, takes []string) []string {
	names := slices.DeleteFunc(workflow.GetUnhandledSignalNames(ctx), func(name string) bool { return slices.Contains(takes, name) })
	slices.Sort(names)
	return names
}
