package workflows

import (
	"cmp"
	"slices"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/cluster/steps"
	"slipway/internal/model"
)

// hostInstall is the state of one host's installation.
type hostInstall struct {
	request      HostInstallRequest
	ref          activities.HostRef
	state        HostState
	stage        model.Stage
	attempt      int
	labelled     int // activities that waited for the host so far
	reason       string
	installing   bool // the cluster's preparation is over
	controlPlane bool // two masters are done
	held         bool
	decision     decision
	asking       bool // its row says that it waits for a decision
	shown        shown
}

// decision is a user's choice for a failed host.
type decision string

const (
	decideNone      decision = ""
	decideRetry     decision = CommandRetry
	decideRetryStep decision = CommandRetryStep
	decideEvict     decision = CommandEvict
	// decideContinue is no command: the host is ahead of its workflow.
	decideContinue decision = "continue"
)

// HostInstall installs one host: it checks disk and images, waits for its cluster,
// runs the stages of its role, and on a failure waits for a decision. Its parent is
// the ClusterInstall that started it.
func HostInstall(ctx workflow.Context, request HostInstallRequest) error {
	id := HostWorkflowID(request.Host.InfraEnvID, request.Host.ID)
	if err := childOf(ctx, id, ClusterWorkflowID(request.ClusterID)); err != nil {
		return err
	}
	w := &hostInstall{
		request: request, state: HostPreparing,
		ref: activities.HostRef{
			ClusterID: request.ClusterID, InfraEnvID: request.Host.InfraEnvID, HostID: request.Host.ID, ClusterAttempt: request.Attempt,
		},
	}
	if err := w.setup(ctx); err != nil {
		return err
	}
	workflow.Go(ctx, refuseSignals(w.ref, hostCommands, SignalInstall, SignalControlPlane, SignalHold))
	w.shown = begin(ctx)
	w.show(ctx)
	err := w.run(ctx)
	if isFailure(err, activities.FailureSuperseded) {
		err = w.superseded(ctx, err)
	}
	w.ended(ctx, err)
	return err
}

// run carries out a host's installation.
func (w *hostInstall) run(ctx workflow.Context) error {
	if w.request.Lost != "" || w.request.Continues {
		return w.continues(ctx)
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	if err := workflow.Await(ctx, func() bool { return w.installing }); err != nil {
		return err
	}
	return w.attempts(ctx, 0)
}

// attempts runs the stages from a given stage until all are done or the host is given up.
func (w *hostInstall) attempts(ctx workflow.Context, from int) error {
	for {
		at, err := w.attemptFrom(ctx, from)
		if err == nil {
			return w.notifyCluster(ctx, HostDone, "")
		}
		if temporal.IsCanceledError(err) || ctx.Err() != nil || isFailure(err, activities.FailureSuperseded) {
			return err
		}
		if from, err = w.decide(ctx, at, err); err != nil {
			return err
		}
		if from == len(stagesOf(w.request)) {
			return w.notifyCluster(ctx, HostDone, "")
		}
	}
}

// superseded ends a workflow that was refused. Its host may have been done before the refusal: then the cluster, whose workflow
// may have been reset as well, hears of it.
func (w *hostInstall) superseded(ctx workflow.Context, err error) error {
	if !w.shown.readable {
		return err
	}
	var hosts *activities.Hosts
	var stands activities.HostStanding
	if serr := record(ctx, "Look where the host stands", hosts.Standing, w.ref, &stands); serr == nil && stands.Installed {
		if nerr := w.notifyCluster(ctx, HostDone, ""); nerr != nil {
			return nerr
		}
	}
	return err
}

// prepare checks the installation disk and the images; a failure shows in the host's validations, and the cluster decides about it.
func (w *hostInstall) prepare(ctx workflow.Context) error {
	if err := w.validate(ctx); err != nil {
		return err
	}
	problem, err := w.check(ctx)
	if err != nil {
		return err
	}
	return w.notifyCluster(ctx, HostPrepared, problem)
}

// validate lists the state of the host's validations before its disk is touched. Failures hold the preparation up by the host's status;
// the list is for people.
func (w *hostInstall) validate(ctx workflow.Context) error {
	if !w.shown.readable {
		return nil
	}
	var hosts *activities.Hosts
	return record(ctx, "Validate the host", hosts.ValidateHost, w.ref, &activities.ValidationReport{})
}

// check asks for the speed of the installation disk and for the images; the results are in the host's facts. It returns the problem at
// once when one of them holds the host up; only a cancellation is an error.
func (w *hostInstall) check(ctx workflow.Context) (problem string, err error) {
	checks, stop := workflow.WithCancel(ctx)
	open, failed := len(steps.Checks()), false
	for _, step := range steps.Checks() {
		workflow.Go(checks, func(ctx workflow.Context) {
			failed = w.runStep(ctx, step.Type, "", w.request.Timeouts.PrepareHost) != nil || failed
			open--
		})
	}
	for open > 0 {
		if err := workflow.Await(ctx, func() bool { return open == 0 || failed }); err != nil {
			return "", err
		}
		if !failed {
			continue
		}
		failed = false
		if problem, err = w.judgeChecks(ctx); problem != "" || err != nil {
			stop() // the other results change nothing
			return problem, err
		}
	}
	return "", ctx.Err()
}

// judgeChecks says whether a check that has just failed holds the host up: users and operators may ignore it.
func (w *hostInstall) judgeChecks(ctx workflow.Context) (problem string, err error) {
	if workflow.GetVersion(ctx, "failed-checks", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return "", nil // it is judged when all have ended
	}
	var hosts *activities.Hosts
	err = record(ctx, "Judge checks", hosts.JudgeChecks, w.ref, nil)
	if isFailure(err, activities.FailureRefused) {
		return reason(err), nil
	}
	return "", err
}

// attemptFrom runs the stages of the host from a given stage, and returns the stage it failed in.
func (w *hostInstall) attemptFrom(ctx workflow.Context, from int) (int, error) {
	w.attempt++
	if err := w.begins(ctx); err != nil {
		return from, err
	}
	var hosts *activities.Hosts
	begin := activities.AttemptRequest{HostRef: w.ref, Attempt: w.attempt, FromStart: from == 0}
	if err := record(ctx, "Begin attempt", hosts.BeginAttempt, begin, nil); err != nil {
		return from, err
	}
	stages := stagesOf(w.request)
	for at := from; at < len(stages); at++ {
		if err := workflow.Await(ctx, func() bool { return !w.held }); err != nil {
			return at, err
		}
		w.stage = stages[at].Name
		w.show(ctx)
		if err := w.pass(ctx, stages[at]); err != nil {
			return at, err
		}
	}
	return len(stages), nil
}

// begins says that the host is being installed. After the preparation its cluster knows: it has asked for it.
func (w *hostInstall) begins(ctx workflow.Context) error {
	if w.shown.brief && w.state == HostPrepared {
		w.state = HostRunning
		return nil
	}
	return w.notifyCluster(ctx, HostRunning, "")
}

// namesStage reports whether the reason of a failure begins with the stage it happened in, as the service has it: the news of that
// stage may be slower than the news of the failure.
func namesStage(reason string) bool {
	stage, _, _ := strings.Cut(reason, ": ")
	return slices.Contains(steps.AllStages(), model.Stage(stage))
}

// decide marks the host as failed and waits for a command. It returns the stage to
// continue from, or the failure when the host is given up.
func (w *hostInstall) decide(ctx workflow.Context, at int, cause error) (int, error) {
	stage := stagesOf(w.request)[at]
	left := stage.AfterReboot()
	name := stage.Name
	if stage.Ends == steps.ByInstallStep {
		name = cmp.Or(w.stage, name) // one step covers all stages up to the reboot
	}
	if w.reason = reason(cause); stage.Ends != steps.ByInstallStep || !namesStage(w.reason) {
		w.reason = cmp.Or(string(name), "Preparation") + ": " + w.reason
	}
	w.decision, w.asking = decideNone, w.shown.brief
	defer func() { w.asking = false }()
	var hosts *activities.Hosts
	failure := activities.HostFailure{HostRef: w.ref, Reason: w.reason, LeftLiveImage: left}
	if err := record(ctx, "Mark host as failed", hosts.FailHost, failure, nil); err != nil {
		return 0, err
	}
	if err := w.notifyCluster(ctx, HostWaiting, w.reason); err != nil {
		return 0, err
	}
	stop := w.watchProgress(ctx)
	decided, err := w.shown.awaitAtMost(ctx, w.request.Timeouts.Decision, "Waiting for "+waitsForHost, func() bool {
		return w.decision != decideNone
	})
	stop()
	if err != nil {
		return 0, err
	}
	if !decided || w.decision == decideEvict {
		if err := record(ctx, "Give host up", hosts.GiveUpHost, failure, nil); err != nil {
			return 0, err
		}
		_ = w.notifyCluster(ctx, HostGone, w.reason)
		return 0, temporal.NewNonRetryableApplicationError(w.reason, activities.FailureStep, nil)
	}
	switch w.decision {
	case decideRetryStep:
		return at, nil
	case decideContinue:
		return w.continueAhead(ctx, at)
	case decideNone, decideRetry, decideEvict:
	}
	return 0, w.rediscover(ctx, left)
}

// watchProgress decides for a host that reports from its disk while its workflow waits for a decision: it continues.
func (w *hostInstall) watchProgress(ctx workflow.Context) (stop func()) {
	if workflow.GetVersion(ctx, "hosts-ahead", workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return func() {}
	}
	watching, stop := workflow.WithCancel(ctx)
	var hosts *activities.Hosts
	options := withStepOptions(watching, endless, w.request.Timeouts.Heartbeat, w.label("Wait for the host on its disk"))
	reported := workflow.ExecuteActivity(options, hosts.AwaitProgress, w.ref)
	workflow.Go(watching, func(ctx workflow.Context) {
		if err := reported.Get(ctx, nil); err == nil && w.decision == decideNone {
			w.decision = decideContinue
		}
	})
	return stop
}

// continueAhead returns the stage that a host continues from which is ahead of its workflow: the failed one, whose steps are skipped, or
// the end of the installation.
func (w *hostInstall) continueAhead(ctx workflow.Context, at int) (int, error) {
	var hosts *activities.Hosts
	var stands activities.HostStanding
	if err := record(ctx, "Look where the host stands", hosts.Standing, w.ref, &stands); err != nil {
		return 0, err
	}
	if stands.Installed {
		return len(stagesOf(w.request)), nil
	}
	return at, nil
}

// rediscover waits until a host that has left the live image is booted into it again.
func (w *hostInstall) rediscover(ctx workflow.Context, left bool) error {
	var hosts *activities.Hosts
	request := activities.RetryRequest{HostRef: w.ref, LeftLiveImage: left}
	if err := record(ctx, "Retry host", hosts.RetryHost, request, nil); err != nil {
		return err
	}
	if !left {
		return nil
	}
	return w.awaitLiveImage(ctx)
}

// awaitLiveImage waits until the host runs the live image and can be installed.
func (w *hostInstall) awaitLiveImage(ctx workflow.Context) error {
	var hosts *activities.Hosts
	limit := cmp.Or(w.request.Timeouts.Decision, endless) // a user has asked for the boot
	options := withStepOptions(ctx, limit, w.request.Timeouts.Heartbeat, w.label("Wait for the host in the live image"))
	return workflow.ExecuteActivity(options, hosts.AwaitRediscovery, w.ref).Get(ctx, nil)
}

// notifyCluster sends news to the cluster's workflow.
func (w *hostInstall) notifyCluster(ctx workflow.Context, state HostState, why string) error {
	w.state = state
	w.show(ctx)
	parent := workflow.GetInfo(ctx).ParentWorkflowExecution
	if parent == nil {
		return nil
	}
	news := HostNews{HostID: w.request.Host.ID, State: state, Reason: why, Attempt: w.request.Attempt}
	// To any run: a cluster's workflow that was reset in Temporal's UI continues in another run.
	err := workflow.SignalExternalWorkflow(ctx, parent.ID, "", SignalHostNews, news).Get(ctx, nil)
	if temporal.IsCanceledError(err) || ctx.Err() != nil {
		return err
	}
	return nil // a parent that has ended needs no news
}
