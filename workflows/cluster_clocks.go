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

// installationClock is INSTALLATION_TIMEOUT: with soft time-outs the limit of the whole
// installation, else of one that waits for its user.
func (w *clusterInstall) installationClock(ctx workflow.Context) error {
	t := w.plan.Timeouts
	for left := max(t.Installation-w.plan.Age, time.Second); ; left = t.Installation {
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

// finalizingClock is FINALIZING_TIMEOUT, of finalizing as a whole.
func (w *clusterInstall) finalizingClock(ctx workflow.Context) error {
	t := w.plan.Timeouts
	for !t.Soft {
		if err := timer(ctx, t.Finalizing, "Finalizing as a whole").Get(ctx, nil); err != nil {
			return err
		}
		if err := w.stall(ctx, fmt.Sprintf("finalizing took more than %s", t.Finalizing)); err != nil {
			return err
		}
	}
	return nil
}

// stageClock is FINALIZING_STAGE_*, of each stage the controller reports.
func (w *clusterInstall) stageClock(ctx workflow.Context) error {
	var clusters *activities.Clusters
	for {
		var at activities.FinalizingStage
		err := record(ctx, "Look at the finalizing stage", clusters.FinalizingStage, w.request.ClusterID, &at)
		if err != nil || at.Stage == model.FinalizingDone {
			return err
		}
		limit := endless
		if at.Stage != "" {
			limit = w.plan.Timeouts.FinalizingStage(at.Stage, at.Operators)
		}
		if err := w.timeStage(ctx, at, limit); err != nil {
			return err
		}
	}
}

// timeStage waits until a stage is left, or until the rules stop the installation in it
// and it is extended.
func (w *clusterInstall) timeStage(ctx workflow.Context, at activities.FinalizingStage, limit time.Duration) error {
	inner, stop := workflow.WithCancel(ctx)
	defer stop()
	var steps *activities.Steps
	w.labelled++
	what := label{text: "Wait for the end of " + stageName(at.Stage), number: w.labelled}
	options := withStepOptions(inner, endless, w.plan.Timeouts.Heartbeat, what)
	request := activities.FinalizingRequest{ClusterID: w.request.ClusterID, Stage: at.Stage}
	left := workflow.ExecuteActivity(options, steps.AwaitFinalizingStage, request)
	if w.shown.readable && limit == endless {
		return left.Get(ctx, nil)
	}
	inTime, err := within(ctx, max(limit-at.Age, time.Second), "Finalizing: "+stageName(at.Stage), left.IsReady)
	if err != nil || inTime {
		return firstError(err, left, ctx)
	}
	var clusters *activities.Clusters
	var verdict activities.StageVerdict
	over := activities.FinalizingClock{ClusterID: w.request.ClusterID, Stage: at.Stage, Limit: limit, Soft: w.plan.Timeouts.Soft}
	if err := record(ctx, "Judge time-out", clusters.JudgeFinalizing, over, &verdict); err != nil {
		return err
	}
	if verdict.Failure == "" {
		return left.Get(ctx, nil) // it was reported, and continues
	}
	return w.stall(ctx, verdict.Failure)
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

// stall marks the cluster as failed and waits for a command: extend gives it its time
// once more; cancel and reset end the installation from outside. Nothing that is under
// way stops meanwhile, and nothing new begins.
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
