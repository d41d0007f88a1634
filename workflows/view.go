package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
)

// Texts of workflows for people in Temporal's UI and command line: search attributes, current details, names of timers and commands.
// Current details and names are no commands: a replay does not compare them.

// Search attributes of all workflows; they are not encrypted.
var (
	AttributeClusterName = temporal.NewSearchAttributeKeyKeyword("ClusterName")
	AttributeHostName    = temporal.NewSearchAttributeKeyKeyword("HostName")
	AttributeState       = temporal.NewSearchAttributeKeyKeyword("State")
	AttributeWaitingFor  = temporal.NewSearchAttributeKeyKeyword("WaitingFor")
)

// attributeStatus is AttributeState in workflows that an earlier version began. Temporal has a status of its own, and lists show
// one of them.
var attributeStatus = temporal.NewSearchAttributeKeyKeyword("Status")

// State of a workflow that differs from its phase or state.
const (
	statusPaused    = "paused"
	statusInstalled = "installed"
	statusCancelled = "cancelled"
	statusReset     = "reset"
	statusFailed    = "failed"
	statusNotReady  = "not prepared"
	// statusSuperseded is the status of a run that was reset in Temporal's UI when its installation was over.
	statusSuperseded = "superseded"
)

// Waits of a workflow whose user has to decide.
const (
	waitsForHost    = "retry, retry-step or evict"
	waitsForCluster = "extend, cancel or reset"
)

// shown is the content of a workflow's search attributes.
type shown struct {
	// readable guards the commands that only people need: search attributes that change, validations, no timers without an end.
	readable bool
	// brief guards the changes that shorten histories: no news and no review that change nothing, one activity for each stage of
	// finalizing, and runs that continue as new.
	brief bool
	// ends guards that every end writes the state, and that every wait has a limit.
	ends               bool
	status, waitingFor string
}

// begin returns what a new workflow shows; its version says how much.
func begin(ctx workflow.Context) shown {
	version := workflow.GetVersion(ctx, "readable", workflow.DefaultVersion, 3)
	return shown{readable: version >= 1, brief: version >= 2, ends: version >= 3}
}

// attributes makes the updates that bring the search attributes up to date.
func (s *shown) attributes(status, waitingFor string) []temporal.SearchAttributeUpdate {
	var updates []temporal.SearchAttributeUpdate
	if !s.readable {
		return nil
	}
	if status != s.status {
		key := attributeStatus
		if s.ends {
			key = AttributeState
		}
		updates = append(updates, key.ValueSet(status))
	}
	switch waitingFor {
	case s.waitingFor:
	case "":
		updates = append(updates, AttributeWaitingFor.ValueUnset())
	default:
		updates = append(updates, AttributeWaitingFor.ValueSet(waitingFor))
	}
	s.status, s.waitingFor = status, waitingFor
	return updates
}

// show brings the search attributes and the current details of a workflow in step with it.
func (s *shown) show(ctx workflow.Context, status, waitingFor, details string) {
	workflow.SetCurrentDetails(ctx, details)
	if updates := s.attributes(status, waitingFor); len(updates) > 0 {
		_ = workflow.UpsertTypedSearchAttributes(ctx, updates...)
	}
}

// show says where the installation is.
func (w *clusterInstall) show(ctx workflow.Context) {
	status, waitingFor := w.status()
	w.shown.show(ctx, status, waitingFor, w.details())
}

// status returns what the installation does, and which commands it waits for.
func (w *clusterInstall) status() (status, waitingFor string) {
	status = string(w.phase)
	if w.paused {
		status, waitingFor = statusPaused, CommandResume
	}
	if w.waiting {
		return string(HostWaiting), waitsForCluster
	}
	if names := w.names(HostWaiting); len(names) > 0 {
		waitingFor = waitsForHost + " of " + strings.Join(names[:min(len(names), namesShown)], ", ")
	}
	return status, waitingFor
}

// namesShown is how many names an attribute lists; PostgreSQL keeps 255 bytes of one.
const namesShown = 3

// names lists the hosts in a state.
func (w *clusterInstall) names(state HostState) []string {
	var names []string
	for _, h := range w.plan.Hosts {
		if w.host(h.ID) == state {
			names = append(names, h.Name)
		}
	}
	return names
}

// details describe in sentences the present work and waits.
func (w *clusterInstall) details() string {
	lines := []string{fmt.Sprintf("**%s**: %d of %d hosts are installed.", w.phase, len(w.names(HostDone)), len(w.plan.Hosts))}
	if w.paused {
		lines = append(lines, "- paused: hosts finish their step and wait for the update `"+CommandResume+"`")
	}
	if w.waiting {
		lines = append(lines, "- stopped: "+w.stalled+". Updates: "+waitsForCluster)
	}
	for _, h := range w.plan.Hosts {
		if news := w.hosts[h.ID]; news.State == HostWaiting {
			lines = append(lines, fmt.Sprintf("- %s failed at %s. Updates of its workflow: %s", h.Name, news.Reason, waitsForHost))
		}
	}
	return strings.Join(lines, "\n")
}

// ended shows how a workflow ended; its details stay as at its last moment.
func (w *clusterInstall) ended(ctx workflow.Context, status string, err error) {
	updates := w.shown.attributes(status, "")
	if w.shown.ends {
		updates = append(updates, AttributePhase.ValueSet(string(PhaseDone)))
	}
	if len(updates) > 0 {
		_ = workflow.UpsertTypedSearchAttributes(ctx, updates...)
	}
	details := fmt.Sprintf("**%s**: %d of %d hosts are installed.", status, len(w.names(HostDone)), len(w.plan.Hosts))
	if err != nil && !temporal.IsCanceledError(err) {
		details = "**" + status + "**: " + reason(err)
	}
	workflow.SetCurrentDetails(ctx, details)
}

// ended shows how the workflow of a host ended: it does not wait any more.
func (w *hostInstall) ended(ctx workflow.Context, err error) {
	if !w.shown.ends {
		return
	}
	status, details := string(w.state), ""
	switch {
	case err == nil:
	case temporal.IsCanceledError(err) || ctx.Err() != nil:
		status = statusCancelled
	case isFailure(err, activities.FailureSuperseded):
		status, details = statusSuperseded, ": "+reason(err)
	case w.state != HostGone:
		status, details = statusFailed, ": "+reason(err)
	default:
		details = ": " + w.reason
	}
	w.shown.show(ctx, status, "", "**"+status+"**"+details)
}

// show says where the host is.
func (w *hostInstall) show(ctx workflow.Context) {
	waitingFor, details := "", "**"+string(w.state)+"**"
	switch w.state {
	case HostPreparing:
		details = "**preparing**: disk and images are checked"
	case HostPrepared:
		details = "**prepared**: it waits until all hosts of its cluster are"
	case HostRunning:
		details = fmt.Sprintf("**running**: %s, attempt %d", w.stage, w.attempt)
		if w.held {
			details += ". The cluster is paused: nothing follows before it is resumed"
		}
	case HostWaiting:
		waitingFor = waitsForHost
		details = fmt.Sprintf("**failed** at %s.\nUpdates: `retry` (from the start), `retry-step` (this stage), `evict` (give it up). "+
			"Without one of them it is given up after %s.", w.reason, w.request.Timeouts.Decision)
	case HostDone:
		details = "**installed**"
	case HostGone:
		details = "**given up**: " + w.reason
	}
	w.shown.show(ctx, string(w.state), waitingFor, details)
}

// descriptions are the sentences beside commands and queries in Temporal's UI.
var descriptions = map[string]string{
	CommandCancel:      "Stop the installation; hosts keep what was written to their disks",
	CommandReset:       "Stop, and go back to discovery: it can be installed again",
	CommandExtend:      "Give the phase whose time ran out its time once more",
	CommandPause:       "Hosts finish their step and wait",
	CommandResume:      "Paused hosts continue",
	CommandRetry:       "Install the failed host again, from the start",
	CommandRetryStep:   "Do only the failed stage of the host again",
	CommandEvict:       "Give the failed host up; the cluster comes up without it if it can",
	SignalHostNews:     "Internal: a host reached a state",
	SignalHostLost:     "Internal: a host has no workflow any more",
	SignalInstall:      "Internal: the preparation is over",
	SignalControlPlane: "Internal: the control plane is up",
	SignalHold:         "Internal: pause or resume",
	QueryState:         "Where it stands, as JSON",
}

// signals returns the channel of a signal, with its description.
func signals(ctx workflow.Context, name string) workflow.ReceiveChannel {
	return workflow.GetSignalChannelWithOptions(ctx, name, workflow.SignalChannelOptions{Description: descriptions[name]})
}

// timer starts a timer with a name.
func timer(ctx workflow.Context, limit time.Duration, what string) workflow.Future {
	return workflow.NewTimerWithOptions(ctx, limit, workflow.TimerOptions{Summary: what + ": at most " + limit.String()})
}

// awaitAtMost waits until something holds, at most for limit. In workflows that an earlier version began the timer stays.
func (s *shown) awaitAtMost(ctx workflow.Context, limit time.Duration, what string, holds func() bool) (bool, error) {
	if s.readable {
		return within(ctx, limit, what, holds)
	}
	return workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout: limit, TimerOptions: workflow.TimerOptions{Summary: what + ": at most " + limit.String()},
	}, holds)
}

// failures joins the sentences of validations that failed.
func failures(r activities.ValidationReport) string {
	var texts []string
	for _, f := range r.Failed {
		texts = append(texts, f.ID+": "+f.Message)
	}
	slices.Sort(texts)
	return strings.Join(texts, "; ")
}
