package workflows

import (
	"slices"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/model"
)

// install starts all hosts, opens the gate for workers when the control plane is up,
// and returns when enough hosts are installed for the cluster to be finalized.
func (w *clusterInstall) install(ctx workflow.Context) error {
	if err := w.signalInstall(ctx); err != nil {
		return err
	}
	if !w.gateOpen || len(w.untold) > 0 {
		workflow.Go(ctx, w.openGate)
	}
	var clusters *activities.Clusters
	behind := shortestBehind
	for reviewed := w.unreviewed(); ; {
		if err := workflow.Await(ctx, func() bool { return w.reviewable(reviewed) }); err != nil {
			return err
		}
		if err := w.awaitExtension(ctx); err != nil {
			return err
		}
		reviewed = w.outcomes()
		var review activities.Review
		if err := w.record(ctx, "Review installation", clusters.ReviewInstallation, w.request, &review); err != nil {
			return err
		}
		switch {
		case w.waiting:
			reviewed = never // it stalled meanwhile: review again when it continues
		case review.Status == model.ClusterFinalizing:
			return nil
		case review.Status == model.ClusterError:
			return temporal.NewNonRetryableApplicationError("too many hosts failed for the cluster to come up", activities.FailureRefused, nil)
		case w.allSettled() && workflow.GetVersion(ctx, "rows-behind", workflow.DefaultVersion, 1) >= 1:
			// The rows were restored from an older backup. Hosts report again where they are, and there is no news of it here.
			if _, err := within(ctx, behind, "Hosts are done, the database is behind", func() bool { return w.reviewable(reviewed) }); err != nil {
				return err
			}
			reviewed, behind = never, min(2*behind, longestBehind)
		}
	}
}

// How often a cluster is reviewed whose hosts are done by their workflows, and not by the database.
const (
	shortestBehind = 15 * time.Second
	longestBehind  = 10 * time.Minute
)

// allSettled reports whether every host is done or given up.
func (w *clusterInstall) allSettled() bool {
	return !slices.ContainsFunc(w.plan.Hosts, func(h activities.HostPlan) bool { return !w.settled(h.ID) })
}

// signalInstall signals every host that its preparation is over. A host knows already when an earlier run has signalled it.
func (w *clusterInstall) signalInstall(ctx workflow.Context) error {
	var prepared []activities.HostPlan
	for _, h := range w.plan.Hosts {
		if state := w.host(h.ID); state != HostGone && (w.continued == nil || state == HostPreparing || state == HostPrepared) {
			prepared = append(prepared, h)
		}
	}
	if !w.shown.brief {
		for _, h := range prepared {
			w.signalHost(ctx, h, SignalInstall, nil)
		}
		return nil
	}
	if err := w.breathe(ctx); err != nil {
		return err
	}
	return w.signalInParts(ctx, prepared, SignalInstall, func(signalled []activities.HostPlan) {
		for _, h := range signalled {
			if news := w.hosts[h.ID]; news.State == HostPrepared {
				news.State = HostRunning
				w.hosts[h.ID] = news
			}
		}
	})
}

// outcomes counts the hosts whose installation has an outcome, maybe a temporary one. A review can bring news only when a count has
// changed.
type outcomes struct{ done, waiting, gone int }

// never differs from all counts of hosts.
var never = outcomes{done: -1}

// unreviewed returns the outcomes that the first review is compared with: a new installation has none.
func (w *clusterInstall) unreviewed() outcomes {
	if w.shown.brief && w.continued == nil && !w.plan.Continues {
		return outcomes{}
	}
	return never
}

// reviewable reports whether a review can bring something new: a host failed or was given up, or was installed after the
// last host of the control plane. No cluster comes up before that one.
func (w *clusterInstall) reviewable(last outcomes) bool {
	now := w.outcomes()
	if !w.shown.brief || last == never || now.waiting != last.waiting || now.gone != last.gone {
		return now != last
	}
	return now != last && w.count(model.RoleMaster, HostRunning) == 0
}

func (w *clusterInstall) outcomes() outcomes {
	var n outcomes
	for _, h := range w.plan.Hosts {
		switch w.host(h.ID) {
		case HostDone:
			n.done++
		case HostWaiting:
			n.waiting++
		case HostGone:
			n.gone++
		case HostPreparing, HostPrepared, HostRunning:
		}
	}
	return n
}

// openGate signals the workers that two masters, or all existing ones, are done. In a later run it signals those that do not know yet.
func (w *clusterInstall) openGate(ctx workflow.Context) {
	if !w.gateOpen {
		if err := w.awaitControlPlane(ctx); err != nil {
			return
		}
		w.gateOpen = true
		for _, h := range w.plan.Hosts {
			if h.Role == model.RoleWorker && w.host(h.ID) != HostGone {
				w.untold = append(w.untold, h.ID)
			}
		}
	}
	if !w.shown.brief {
		for _, h := range w.planned(w.untold) {
			w.signalHost(ctx, h, SignalControlPlane, nil)
		}
		return
	}
	_ = w.signalInParts(ctx, w.planned(w.untold), SignalControlPlane, func(signalled []activities.HostPlan) {
		w.untold = slices.DeleteFunc(w.untold, func(id uuid.UUID) bool {
			return slices.ContainsFunc(signalled, func(h activities.HostPlan) bool { return h.ID == id })
		})
	})
}

// awaitControlPlane waits until two masters, or all existing ones, are done.
func (w *clusterInstall) awaitControlPlane(ctx workflow.Context) error {
	masters := 0
	for _, h := range w.plan.Hosts {
		if h.Role == model.RoleMaster && !h.Bootstrap {
			masters++
		}
	}
	need := min(2, masters)
	return workflow.Await(ctx, func() bool { return w.count(model.RoleMaster, HostDone) >= need })
}

// planned returns what is planned for hosts, in the order of the plan.
func (w *clusterInstall) planned(ids []uuid.UUID) (hosts []activities.HostPlan) {
	for _, h := range w.plan.Hosts {
		if slices.Contains(ids, h.ID) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// finalize waits for operators, the ingress certificate and the controller's word,
// then for the hosts that are still installing, and completes the cluster.
func (w *clusterInstall) finalize(ctx workflow.Context) error {
	for _, m := range []model.Milestone{
		model.MilestoneOperatorsAvailable, model.MilestoneIngressCertificate, model.MilestoneCompletion,
	} {
		for {
			err := w.awaitMilestone(ctx, m)
			if err == nil {
				break
			}
			if temporal.IsCanceledError(err) || ctx.Err() != nil {
				return err
			}
			if err := w.stall(ctx, "finalizing stopped while waiting for "+string(m)+": "+reason(err)); err != nil {
				return err
			}
		}
	}
	if err := workflow.Await(ctx, func() bool { return !w.waiting && w.every(HostDone, HostWaiting, HostGone) }); err != nil {
		return err
	}
	var clusters *activities.Clusters
	if err := w.record(ctx, "Complete installation", clusters.CompleteInstallation, w.request, nil); err != nil {
		return err
	}
	w.phase = PhaseDone
	w.show(ctx)
	w.releaseWaiting(ctx)
	return nil
}

func (w *clusterInstall) awaitMilestone(ctx workflow.Context, m model.Milestone) error {
	var steps *activities.Steps
	w.labelled++
	what := label{text: "Wait for " + string(m), number: w.labelled}
	options := withStepOptions(ctx, endless, w.plan.Timeouts.Heartbeat, what) // finalizing has clocks of its own
	return workflow.ExecuteActivity(options, steps.AwaitMilestone, activities.MilestoneRequest{
		ClusterID: w.request.ClusterID, Milestone: m,
	}).Get(ctx, nil)
}

// releaseWaiting ends the workflows of hosts that failed while the cluster came up without them, and lets all write their last
// lines. Not every end is announced: the run that Temporal knows as the child may have been replaced by a reset of an older one.
// So it waits for news as well, and not for long; a cancellation ends it.
func (w *clusterInstall) releaseWaiting(ctx workflow.Context) {
	var waiting, left []workflow.ChildWorkflowFuture // not the children of an earlier run, which end by themselves
	for _, h := range w.plan.Hosts {
		child, ok := w.children[h.ID]
		switch w.host(h.ID) {
		case HostWaiting:
			w.signalHost(ctx, h, CommandEvict, nil)
			if ok {
				waiting = append(waiting, child)
			}
		case HostDone:
			if ok {
				left = append(left, child)
			}
		case HostPreparing, HostPrepared, HostRunning, HostGone:
		}
	}
	left = append(left, waiting...)
	released := func() bool {
		return !slices.ContainsFunc(left, func(c workflow.ChildWorkflowFuture) bool { return !c.IsReady() })
	}
	if !w.shown.ends { // an earlier version has set no timer
		_ = workflow.Await(ctx, released)
		return
	}
	given := func() bool { return released() || len(w.names(HostWaiting)) == 0 }
	if _, err := within(ctx, hostsLeft, "Hosts are given up", given); err != nil {
		return
	}
	_, _ = within(ctx, hostsEnd, "Hosts end", released)
}
