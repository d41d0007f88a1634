package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/workflows"
)

// tries is how often a workflow was started again that did not stay.
type tries struct {
	count int
	next  time.Time
}

// The wait before a workflow is started again that ended again: it doubles from the first to the longest.
const (
	firstWait   = 10 * time.Second
	longestWait = 10 * time.Minute
	// strayFor is how long a workflow may take to end after its installation is over: more than it gives its hosts.
	strayFor = 5 * time.Minute
	// strayAgainFor is how long one may run that began later: it ends by itself with the first row that it reads.
	strayAgainFor = 20 * time.Second
)

// stray is a workflow of an installation that has ended.
type stray struct {
	since time.Time // it was first found to run
	again bool      // the installation had no workflow before
}

// reconcile compares rows with Temporal's executions: an object with work under way in its row and no workflow was terminated or
// cancelled in Temporal, or lost with its tables. Another workflow is started for it.
func (o *Orchestrator) reconcile(ctx context.Context) error {
	rows, err := o.Store.WhatIsUnderWay(ctx)
	if err != nil || len(rows) == 0 {
		return err
	}
	open, err := o.openWorkflows(ctx)
	if err != nil {
		return err
	}
	var failures []error
	for _, u := range rows {
		id := o.workflowOf(u)
		if open.ids[id] || u.Task == store.TaskReset && open.ids[workflows.ClusterWorkflowID(u.ClusterID)] ||
			u.Task == store.TaskResetHost && open.ids[workflows.HostWorkflowID(u.Host.InfraEnvID, u.Host.HostID)] {
			delete(o.tries, id)
			continue
		}
		if u.Task == store.TaskDone && o.done[id] == u.Attempt {
			continue
		}
		failures = append(failures, o.replace(ctx, u, id))
	}
	return errors.Join(append(failures, o.endStray(ctx, rows, open))...)
}

// endStray cancels workflows of clusters, and of their hosts, that run although their installation is over. A Reset in Temporal's UI of
// a run that has ended waits for signals that are not sent any more. Clusters without rows are left alone: their tables may be lost.
func (o *Orchestrator) endStray(ctx context.Context, rows []store.UnderWay, open running) error {
	clusters := map[uuid.UUID]bool{} // whose installation is over
	for _, u := range rows {
		switch u.Task {
		case store.TaskControl:
			if _, working := clusters[u.ClusterID]; !working {
				clusters[u.ClusterID] = true
			}
		case store.TaskInstall, store.TaskInstallHost, store.TaskReset:
			clusters[u.ClusterID] = false
		case store.TaskDone, store.TaskAdd, store.TaskReclaim, store.TaskResetHost:
		}
	}
	var failures []error
	found, working := map[string]*stray{}, map[uuid.UUID]bool{}
	for id, cluster := range open.installing {
		working[cluster] = true
		if !clusters[cluster] {
			continue
		}
		s := o.stray[id]
		if s == nil {
			s = &stray{since: o.Store.Now(), again: o.over[cluster]}
		}
		found[id] = s
		limit := strayFor
		if s.again {
			limit = strayAgainFor
		}
		if o.Store.Now().Sub(s.since) >= limit {
			*s = stray{since: o.Store.Now()} // it is given the longer time to end
			failures = append(failures, o.cancelStray(ctx, cluster, id))
		}
	}
	o.stray = found
	clear(o.over)
	for cluster, ended := range clusters {
		o.over[cluster] = ended && !working[cluster]
	}
	return errors.Join(failures...)
}

// cancelStray cancels a workflow, unless another installation was accepted meanwhile.
func (o *Orchestrator) cancelStray(ctx context.Context, cluster uuid.UUID, id string) error {
	c, err := o.Store.Cluster(ctx, cluster)
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	if err != nil || !c.WorkflowStarted {
		return err
	}
	o.Log.Warn("a workflow runs although its installation is over; it is cancelled", "workflow", id)
	return o.CancelWorkflow(ctx, id)
}

// workflowOf returns the id of the workflow for a task that is under way.
func (o *Orchestrator) workflowOf(u store.UnderWay) string {
	switch u.Task {
	case store.TaskInstall:
		return workflows.ClusterWorkflowID(u.ClusterID)
	case store.TaskReset:
		return workflows.ResetWorkflowID(u.ClusterID)
	case store.TaskControl:
		return workflows.ControlWorkflowID(u.ClusterID)
	case store.TaskReclaim:
		return workflows.ReclaimWorkflowID(u.Host.InfraEnvID, u.Host.HostID)
	case store.TaskResetHost:
		return workflows.HostResetWorkflowID(u.Host.InfraEnvID, u.Host.HostID)
	case store.TaskInstallHost, store.TaskDone, store.TaskAdd:
	}
	return workflows.HostWorkflowID(u.Host.InfraEnvID, u.Host.HostID)
}

// running are the workflows that run.
type running struct {
	ids map[string]bool
	// installing maps the workflows that install a cluster, its own and its hosts', to the cluster.
	installing map[string]uuid.UUID
}

// openWorkflows lists all workflows that run.
func (o *Orchestrator) openWorkflows(ctx context.Context) (running, error) {
	open := running{ids: map[string]bool{}, installing: map[string]uuid.UUID{}}
	var page []byte
	for {
		list, err := o.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: "ExecutionStatus = 'Running'", PageSize: 1000, NextPageToken: page,
		})
		if err != nil {
			return running{}, fmt.Errorf("list running workflows: %w", err)
		}
		for _, e := range list.GetExecutions() {
			id := e.GetExecution().GetWorkflowId()
			open.ids[id] = true
			if cluster, ok := installs(e); ok {
				open.installing[id] = cluster
			}
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return open, nil
		}
	}
}

// installs returns the cluster whose installation a workflow is part of.
func installs(e *workflowpb.WorkflowExecutionInfo) (cluster uuid.UUID, ok bool) {
	switch e.GetType().GetName() {
	case workflows.TypeClusterInstall, workflows.TypeHostInstall:
	default:
		return uuid.Nil, false
	}
	attribute := e.GetSearchAttributes().GetIndexedFields()[workflows.AttributeClusterID.GetName()]
	var id string
	if attribute == nil || converter.GetDefaultDataConverter().FromPayload(attribute, &id) != nil {
		return uuid.Nil, false
	}
	cluster, err := uuid.Parse(id)
	return cluster, err == nil
}

// replace starts another workflow in the place of a lost one. The list of workflows lags behind: the workflow itself shows whether it
// is lost, and after that the row shows whether work is left.
func (o *Orchestrator) replace(ctx context.Context, u store.UnderWay, id string) error {
	if t := o.tries[id]; t != nil && o.Store.Now().Before(t.next) {
		return nil
	}
	how, err := o.ended(ctx, id)
	if err != nil || how == "" {
		return err
	}
	if u.Task == store.TaskDone && how == completed {
		o.done[id] = u.Attempt
		return nil
	}
	rows, err := o.Store.WhatIsUnderWay(ctx)
	if err != nil || !slices.Contains(rows, u) {
		return err
	}
	o.Log.Warn("a workflow is lost; another one takes its place", "workflow", id, "task", u.Task, "reason", how)
	t := o.tries[id]
	if t == nil {
		t = &tries{}
		o.tries[id] = t
	}
	t.next = o.Store.Now().Add(min(firstWait<<min(t.count, 10), longestWait))
	t.count++
	return o.restart(ctx, u, how)
}

// completed is how a workflow ends that has said everything.
const completed = "its workflow has ended"

// ended says how the newest run of a workflow ended; empty while it runs.
func (o *Orchestrator) ended(ctx context.Context, id string) (string, error) {
	description, err := o.Temporal.DescribeWorkflowExecution(ctx, id, "")
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		return "Temporal does not know its workflow", nil
	case err != nil:
		return "", fmt.Errorf("look at workflow %s: %w", id, err)
	}
	switch status := description.GetWorkflowExecutionInfo().GetStatus(); status {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return "", nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return "its workflow was terminated in Temporal", nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		return "its workflow was cancelled in Temporal", nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:
		return "its workflow failed", nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return completed, nil
	default:
		return "its workflow has ended: " + status.String(), nil
	}
}

// restart gives a task to another workflow.
func (o *Orchestrator) restart(ctx context.Context, u store.UnderWay, how string) error {
	ref := activities.HostRef{ClusterID: u.ClusterID, InfraEnvID: u.Host.InfraEnvID, HostID: u.Host.HostID}
	s := starting{id: o.workflowOf(u), attempt: u.Attempt, summary: string(u.Task) + ": continues (" + how + ")"}
	if err := o.attribute(ctx, u, ref, &s); err != nil {
		return err
	}
	switch u.Task {
	case store.TaskInstall:
		return o.continueInstallation(ctx, u, how)
	case store.TaskInstallHost, store.TaskDone:
		return o.announceLoss(ctx, u, how)
	case store.TaskControl:
		return o.startControl(ctx, u.ClusterID)
	case store.TaskReset:
		s.workflow, s.request = workflows.ClusterReset, workflows.ResetRequest{ClusterID: u.ClusterID, Attempt: u.Attempt, Timeouts: o.Timeouts}
	case store.TaskAdd:
		s.workflow, s.request = workflows.HostAdd, activities.AddRequest{HostRef: ref, Attempt: u.Attempt, Lost: how}
	case store.TaskReclaim:
		s.workflow, s.request = workflows.HostReclaim, activities.ReclaimRequest{HostRef: ref, Attempt: u.Attempt}
	case store.TaskResetHost:
		s.workflow = workflows.HostReset
		s.request = workflows.HostResetRequest{AddRequest: activities.AddRequest{HostRef: ref, Attempt: u.Attempt}, Timeouts: o.Timeouts}
	}
	return o.startOnce(ctx, s)
}

// startControl starts the workflow that takes commands for a cluster, unless it runs.
func (o *Orchestrator) startControl(ctx context.Context, id uuid.UUID) error {
	c, err := o.Store.Cluster(ctx, id)
	if err != nil {
		return err
	}
	return o.startOnce(ctx, starting{
		id: workflows.ControlWorkflowID(id), workflow: workflows.ClusterControl,
		request: workflows.ControlRequest{ClusterID: id, Name: c.Name}, attributes: ofCluster(c), summary: c.Name + ": takes commands",
	})
}

// attribute names what a workflow is about.
func (o *Orchestrator) attribute(ctx context.Context, u store.UnderWay, ref activities.HostRef, s *starting) error {
	if u.Host.HostID == uuid.Nil {
		c, err := o.Store.Cluster(ctx, u.ClusterID)
		if err != nil {
			return err
		}
		s.attributes = ofCluster(c)
		return nil
	}
	h, err := o.Store.Host(ctx, ref.InfraEnvID, ref.HostID)
	if err != nil {
		return err
	}
	s.attributes = ofHost(ref, h.Hostname())
	return nil
}

// continueInstallation starts the workflow of an installation again; a paused one stays paused.
func (o *Orchestrator) continueInstallation(ctx context.Context, u store.UnderWay, how string) error {
	paused := o.wasPaused(ctx, workflows.ClusterWorkflowID(u.ClusterID))
	underWay, err := o.Acceptance.Continue(ctx, u.ClusterID, u.Attempt, how)
	if err != nil || !underWay {
		return err
	}
	return o.startInstallation(ctx, activities.InstallRequest{ClusterID: u.ClusterID, Attempt: u.Attempt, Paused: paused})
}

// wasPaused asks the last run of a cluster's workflow whether it was paused. When its history is lost it is not known.
func (o *Orchestrator) wasPaused(ctx context.Context, id string) bool {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	response, err := o.Temporal.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: id, QueryType: workflows.QueryState,
	})
	if err != nil || response.QueryResult == nil {
		return false
	}
	var state workflows.ClusterState
	return response.QueryResult.Get(&state) == nil && state.Paused
}

// announceLoss leaves a host to the workflow of its cluster. While that is lost too it finds the host itself when it is back.
func (o *Orchestrator) announceLoss(ctx context.Context, u store.UnderWay, how string) error {
	lost := workflows.HostNews{HostID: u.Host.HostID, Reason: how, Attempt: u.Attempt}
	err := o.Temporal.SignalWorkflow(ctx, workflows.ClusterWorkflowID(u.ClusterID), "", workflows.SignalHostLost, lost)
	var none *serviceerror.NotFound
	if err == nil || errors.As(err, &none) {
		return nil
	}
	return fmt.Errorf("announce a lost host to its cluster: %w: %w", model.ErrUnavailable, err)
}

// CancelWorkflow asks a workflow to end; a workflow that does not run has ended.
func (o *Orchestrator) CancelWorkflow(ctx context.Context, id string) error {
	err := o.Temporal.CancelWorkflow(ctx, id, "")
	var none *serviceerror.NotFound
	if err == nil || errors.As(err, &none) {
		return nil
	}
	return fmt.Errorf("cancel workflow %s: %w: %w", id, model.ErrUnavailable, err)
}

// WorkflowRuns reports whether a workflow runs.
func (o *Orchestrator) WorkflowRuns(ctx context.Context, id string) (bool, error) {
	how, err := o.ended(ctx, id)
	return how == "", err
}
