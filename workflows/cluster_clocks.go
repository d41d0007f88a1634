package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/model"
)

// clock runs beside an installation and stops it when its time is over and was not
// extended.
func (w *clusterInstall) clock(ctx workflow.Context, run func(workflow.Context) error) {
	workflow.Go(ctx, func(ctx workflow.Context) {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			w.expired = err
			w.cancel()
		}
	})
}

// installationClock measures INSTALLATION_TIMEOUT: with soft time-outs the limit of the whole installation, else of an installation
// that waits for its user.
func (w *clusterInstall) installationClock(ctx workflow.Context) error {
	t := w.plan.Timeouts
	var left time.Duration
	left, w.ends.InstallationEnds = untilEnd(ctx, w.lastRun().InstallationEnds, t.Installation-w.plan.Age)
	for ; ; left, w.ends.InstallationEnds = untilEnd(ctx, time.Time{}, t.Installation) {
		if err := timer(ctx, left, "The whole installation").Get(ctx, nil); err != nil {
			return err
		}
		if !t.Soft {
			var clusters *activities.Clusters
			w.labelled++
			options := withStepOptions(ctx, endless, t.Heartbeat, label{text: "Wait for a cluster that waits for its user", number: w.labelled})
			if err := workflow.ExecuteActivity(options, clusters.AwaitUserNeeded, w.request).Get(ctx, nil); err != nil {
				return err
			}
		}
		if err := w.stall(ctx, fmt.Sprintf("the installation took more than %s", t.Installation)); err != nil {
			return err
		}
	}
}

// finalizingClock measures FINALIZING_TIMEOUT, of finalizing as a whole.
func (w *clusterInstall) finalizingClock(ctx workflow.Context) error {
	t := w.plan.Timeouts
	var left time.Duration
	left, w.ends.FinalizingEnds = untilEnd(ctx, w.lastRun().FinalizingEnds, t.Finalizing)
	for ; !t.Soft; left, w.ends.FinalizingEnds = untilEnd(ctx, time.Time{}, t.Finalizing) {
		if err := timer(ctx, left, "Finalizing as a whole").Get(ctx, nil); err != nil {
			return err
		}
		if err := w.stall(ctx, fmt.Sprintf("finalizing took more than %s", t.Finalizing)); err != nil {
			return err
		}
	}
	return nil
}

// stageClock measures FINALIZING_STAGE_*, of each stage the controller reports. Each stage is one activity, which has its limit and
// returns the next stage.
func (w *clusterInstall) stageClock(ctx workflow.Context) error {
	at, err := w.finalizingStage(ctx)
	for err == nil && at.Stage != model.FinalizingDone {
		limit := endless
		if at.Stage != "" {
			limit = w.plan.Timeouts.FinalizingStage(at.Stage, at.Operators)
		}
		if w.shown.brief {
			at, err = w.nextStage(ctx, at, limit)
			continue
		}
		if err = w.timeStage(ctx, at, limit); err == nil {
			at, err = w.finalizingStage(ctx)
		}
	}
	return err
}

func (w *clusterInstall) finalizingStage(ctx workflow.Context) (at activities.FinalizingStage, err error) {
	var clusters *activities.Clusters
	err = record(ctx, "Look at the finalizing stage", clusters.FinalizingStage, w.request.ClusterID, &at)
	return at, err
}

// nextStage waits until a stage is left, or until the rules stop the installation in it and it is extended, and returns where
// the cluster is then.
func (w *clusterInstall) nextStage(
	ctx workflow.Context, at activities.FinalizingStage, limit time.Duration,
) (activities.FinalizingStage, error) {
	var left activities.FinalizingLeft
	err := w.awaitEndOf(ctx, at.Stage, max(limit-at.Age, time.Second)).Get(ctx, &left)
	// Its time is over. A try that fails just before that is the last one, and its failure the result.
	if err != nil && ctx.Err() == nil && !isFailure(err, activities.FailureRefused) {
		var failure string
		if failure, err = w.judgeStage(ctx, at.Stage, limit); err != nil {
			return at, err
		}
		if failure != "" {
			if err := w.stall(ctx, failure); err != nil {
				return at, err
			}
			return w.finalizingStage(ctx)
		}
		err = w.awaitEndOf(ctx, at.Stage, endless).Get(ctx, &left) // it was reported, and continues
	}
	if err != nil {
		return at, err
	}
	if left.Next == nil {
		return w.finalizingStage(ctx)
	}
	return *left.Next, nil
}

func (w *clusterInstall) awaitEndOf(ctx workflow.Context, stage model.FinalizingStage, limit time.Duration) workflow.Future {
	var steps *activities.Steps
	w.labelled++
	what := label{text: "Wait for the end of " + stageName(stage), number: w.labelled}
	options := withStepOptions(ctx, limit, w.plan.Timeouts.Heartbeat, what)
	request := activities.FinalizingRequest{ClusterID: w.request.ClusterID, Stage: stage}
	return workflow.ExecuteActivity(options, steps.AwaitFinalizingStage, request)
}

// judgeStage returns the failure of the installation, if any, when a stage takes longer than it may.
func (w *clusterInstall) judgeStage(ctx workflow.Context, stage model.FinalizingStage, limit time.Duration) (string, error) {
	var clusters *activities.Clusters
	var verdict activities.StageVerdict
	over := activities.FinalizingClock{
		ClusterID: w.request.ClusterID, Attempt: w.request.Attempt, Stage: stage, Limit: limit, Soft: w.plan.Timeouts.Soft,
	}
	err := w.record(ctx, "Judge time-out", clusters.JudgeFinalizing, over, &verdict)
	return verdict.Failure, err
}

// timeStage waits until a stage is left, or until the rules stop the installation in it
// and it is extended.
func (w *clusterInstall) timeStage(ctx workflow.Context, at activities.FinalizingStage, limit time.Duration) error {
	inner, stop := workflow.WithCancel(ctx)
	defer stop()
	left := w.awaitEndOf(inner, at.Stage, endless)
	if w.shown.readable && limit == endless {
		return left.Get(ctx, nil)
	}
	inTime, err := within(ctx, max(limit-at.Age, time.Second), "Finalizing: "+stageName(at.Stage), left.IsReady)
	if err != nil || inTime {
		return firstError(err, left, ctx)
	}
	failure, err := w.judgeStage(ctx, at.Stage, limit)
	if err != nil {
		return err
	}
	if failure == "" {
		return left.Get(ctx, nil) // it was reported, and continues
	}
	return w.stall(ctx, failure)
}

func firstError(err error, f workflow.Future, ctx workflow.Context) error {
	if err != nil {
		return err
	}
	return f.Get(ctx, nil)
}

func stageName(s model.FinalizingStage) string {
	if s == "" {
		return "nothing reported yet"
	}
	return string(s)
}

// stall marks the cluster as failed and waits for a command: extend gives it its time once more; cancel and reset end the installation
// from outside. Work under way continues meanwhile, and no new work begins.
func (w *clusterInstall) stall(ctx workflow.Context, why string) error {
	if err := w.deciding.Lock(ctx); err != nil {
		return err
	}
	defer w.deciding.Unlock()
	before := w.extended
	w.waiting, w.stalled = true, why
	defer func() {
		w.waiting = false
		w.show(ctx)
	}()
	var clusters *activities.Clusters
	failure := activities.ClusterFailure{ClusterID: w.request.ClusterID, Attempt: w.request.Attempt, Reason: why, Waiting: true}
	if err := record(ctx, "Mark cluster as failed", clusters.FailInstallation, failure, nil); err != nil {
		return err
	}
	w.show(ctx)
	extended, err := w.shown.awaitAtMost(ctx, w.plan.Timeouts.Decision, "Waiting for "+waitsForCluster, func() bool {
		return w.extended > before
	})
	if err != nil {
		return err
	}
	if !extended {
		return temporal.NewNonRetryableApplicationError(why, activities.FailureRefused, nil)
	}
	return record(ctx, "Resume installation", clusters.ResumeInstallation, w.request, nil)
}

// awaitExtension waits while the cluster is stalled.
func (w *clusterInstall) awaitExtension(ctx workflow.Context) error {
	return workflow.Await(ctx, func() bool { return !w.waiting })
}
