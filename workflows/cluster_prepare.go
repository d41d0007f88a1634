package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
)

// prepare freezes the plan, starts a child for each host, and generates Ignition while
// the hosts check their disks and images. It is false when the cluster went back to
// discovery; the reason is in the cluster's last preparation. An installation that is past
// its preparation gets children that continue where their hosts stand.
func (w *clusterInstall) prepare(ctx workflow.Context) (bool, error) {
	var clusters *activities.Clusters
	err := record(ctx, "Freeze the plan", clusters.BeginPreparation, w.request, &w.plan)
	if isFailure(err, activities.FailureRefused) {
		return false, nil // BeginPreparation has taken the cluster back itself
	}
	if err != nil {
		return false, err
	}
	w.many = w.shown.brief && len(w.plan.Hosts) >= manyHosts
	if w.plan.Continues {
		return true, w.continueHosts(ctx)
	}
	problem, err := w.validate(ctx)
	if err != nil {
		return false, err
	}
	if problem != "" {
		return w.concludePreparation(ctx, activities.PreparationOutcome{Reason: problem})
	}
	if err := w.lookAfterReset(ctx); err != nil {
		return false, err
	}
	problem, err = w.resolve(ctx)
	if err != nil {
		return false, err
	}
	if problem != "" {
		return w.concludePreparation(ctx, activities.PreparationOutcome{Reason: problem})
	}
	if err := w.startHosts(ctx); err != nil {
		return false, err
	}
	ignition := w.generate(ctx)
	prepared, err := w.shown.awaitAtMost(ctx, w.plan.Timeouts.PrepareCluster, "Preparation", func() bool {
		// Hosts that run have been prepared: this workflow was reset in Temporal's UI.
		prepared := w.every(HostPrepared, HostRunning, HostWaiting, HostDone, HostGone)
		return w.failedCheck() != "" || prepared && (ignition.done || ignition.err != nil)
	})
	if err != nil {
		return false, err
	}
	outcome := activities.PreparationOutcome{Ready: prepared && ignition.err == nil}
	switch {
	case w.failedCheck() != "":
		outcome = activities.PreparationOutcome{Reason: w.failedCheck()}
	case ignition.err != nil:
		outcome.Reason = reason(ignition.err)
	case !prepared:
		outcome.Reason = "the preparation took too long"
	}
	return w.concludePreparation(ctx, outcome)
}

// lookAfterReset fails when the installation is over. Temporal has the answers of before a Reset to a later point, which say that
// it runs; children would be started by them.
func (w *clusterInstall) lookAfterReset(ctx workflow.Context) error {
	if !wasReset(ctx) || workflow.GetVersion(ctx, "look-after-reset", workflow.DefaultVersion, 1) < 1 {
		return nil
	}
	var clusters *activities.Clusters
	return w.record(ctx, "Look whether the installation runs", clusters.LookAtInstallation, w.request, nil)
}

// resolve freezes the digest of the release, by which hosts are asked for it, and says why it cannot be used.
func (w *clusterInstall) resolve(ctx workflow.Context) (problem string, err error) {
	if workflow.GetVersion(ctx, "resolve-release", workflow.DefaultVersion, 1) < 1 {
		return "", nil
	}
	var files *activities.Files
	options := withInstallerOptions(ctx, w.plan.Timeouts, "Resolve the release")
	err = workflow.ExecuteActivity(options, files.ResolveRelease, w.request).Get(ctx, nil)
	if err == nil || temporal.IsCanceledError(err) || isFailure(err, activities.FailureSuperseded) {
		return "", err
	}
	return reason(err), nil
}

// failedCheck says which host has failed a check before its disk is written, and how; empty for none.
func (w *clusterInstall) failedCheck() string {
	for _, h := range w.plan.Hosts {
		if news := w.hosts[h.ID]; news.State == HostPrepared && news.Reason != "" {
			return h.Name + ": " + news.Reason
		}
	}
	return ""
}

// validate evaluates the validations of the cluster before any host is touched, and says which failed.
func (w *clusterInstall) validate(ctx workflow.Context) (problem string, err error) {
	if !w.shown.readable {
		return "", nil
	}
	var clusters *activities.Clusters
	var report activities.ValidationReport
	if err := record(ctx, "Validate the cluster", clusters.ValidateCluster, w.request, &report); err != nil {
		return "", err
	}
	return failures(report), nil
}

// concludePreparation lets the installation begin, or returns the cluster to discovery.
func (w *clusterInstall) concludePreparation(ctx workflow.Context, outcome activities.PreparationOutcome) (bool, error) {
	var clusters *activities.Clusters
	conclude := activities.PreparationConclusion{InstallRequest: w.request, Outcome: outcome}
	if err := record(ctx, "Conclude preparation", clusters.ConcludePreparation, conclude, &outcome); err != nil {
		return false, err
	}
	if !outcome.Ready {
		w.cancel() // ends the children; the cluster is back in discovery
		w.awaitChildren(workflowDisconnected(ctx))
		w.phase = PhaseDone
	}
	return outcome.Ready, nil
}

// generation is how far the installer files are.
type generation struct {
	done bool
	err  error
}

// generate makes install-config, manifests and Ignition in the background.
func (w *clusterInstall) generate(ctx workflow.Context) *generation {
	g := &generation{}
	workflow.Go(ctx, func(ctx workflow.Context) {
		var files *activities.Files
		options := withInstallerOptions(ctx, w.plan.Timeouts, "Extract the installer")
		if g.err = workflow.ExecuteActivity(options, files.ExtractInstaller, w.request).Get(ctx, nil); g.err != nil {
			return
		}
		options = withInstallerOptions(ctx, w.plan.Timeouts, "Generate Ignition")
		g.err = workflow.ExecuteActivity(options, files.GenerateIgnition, w.request).Get(ctx, nil)
		g.done = g.err == nil
	})
	return g
}

// workflowDisconnected returns a context that outlives the cancellation of ctx.
func workflowDisconnected(ctx workflow.Context) workflow.Context {
	clean, _ := workflow.NewDisconnectedContext(ctx)
	return clean
}
