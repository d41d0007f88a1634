package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/workflows"
)

// Install accepts an installation. The cluster is preparing when it returns; the
// workflow is started at once, or by a sweep when that fails.
func (o *Orchestrator) Install(ctx context.Context, id uuid.UUID) error {
	attempt, err := o.Acceptance.Install(ctx, id)
	if err != nil {
		return err
	}
	if err := errors.Join(o.start(ctx, id, attempt), o.startControl(ctx, id)); err != nil {
		o.Log.Warn("workflow not started yet", "cluster_id", id, "error", err)
	}
	return nil
}

// startAccepted starts the missing workflows of accepted commands.
func (o *Orchestrator) startAccepted(ctx context.Context) error {
	return errors.Join(o.startAcceptedClusters(ctx), o.startAcceptedHosts(ctx))
}

func (o *Orchestrator) startAcceptedClusters(ctx context.Context) error {
	ids, err := o.Store.UnstartedInstallations(ctx)
	if err != nil {
		return err
	}
	var first error
	for _, id := range ids {
		c, err := o.Store.Cluster(ctx, id)
		if err == nil {
			err = o.start(ctx, id, c.InstallAttempt)
		}
		if err != nil && first == nil {
			first = err
		}
	}
	return first
}

// start starts the workflow of an attempt, once.
func (o *Orchestrator) start(ctx context.Context, id uuid.UUID, attempt int) error {
	return o.startInstallation(ctx, activities.InstallRequest{ClusterID: id, Attempt: attempt})
}

func (o *Orchestrator) startInstallation(ctx context.Context, request activities.InstallRequest) error {
	id, attempt := request.ClusterID, request.Attempt
	c, err := o.Store.Cluster(ctx, id)
	if err != nil {
		return err
	}
	hosts, err := o.Store.HostCounts(ctx, id)
	if err != nil {
		return err
	}
	err = o.startOnce(ctx, starting{
		id: workflows.ClusterWorkflowID(id), attempt: attempt, workflow: workflows.ClusterInstall,
		request:    workflows.ClusterRequest{InstallRequest: request},
		resource:   model.KubeKey{Namespace: c.KubeNamespace, Name: c.KubeName},
		attributes: ofCluster(c, workflows.AttributePhase.ValueSet("accepted")),
		summary:    fmt.Sprintf("%s: OpenShift %s on %d hosts, installation %d", c.Name, c.OpenShiftVersion, hosts[id].Total, attempt),
		details: fmt.Sprintf("Installs cluster %s. Where it stands: current details, the query `state`, or `slipway cluster show %s`. "+
			"Commands: the updates below, or `slipway cluster`.", c.Name, c.Name),
	})
	if err != nil {
		return err
	}
	return o.Store.WorkflowStarted(ctx, id, attempt)
}

// ofCluster makes the search attributes of a cluster's workflow.
func ofCluster(c *model.Cluster, more ...temporal.SearchAttributeUpdate) temporal.SearchAttributes {
	return temporal.NewSearchAttributes(append(more,
		workflows.AttributeClusterID.ValueSet(c.ID.String()), workflows.AttributeClusterName.ValueSet(c.Name))...)
}

// Cancel stops a running installation.
func (o *Orchestrator) Cancel(ctx context.Context, id uuid.UUID) error {
	c, err := o.Store.Cluster(ctx, id)
	if err != nil {
		return err
	}
	if !possible(lifecycle.CancelCluster, c) {
		return model.Conflictf("cluster %s cannot be cancelled: require a running installation, found status %s", c.Name, c.Status)
	}
	err = o.stop(ctx, c, workflows.CommandCancel)
	if errors.Is(err, model.ErrNotFound) {
		return model.Conflictf("cluster %s cannot be cancelled: its installation has ended (%s)", c.Name, c.Status)
	}
	return err
}

// Reset takes an installation back to discovery, whether it still runs or has ended.
func (o *Orchestrator) Reset(ctx context.Context, id uuid.UUID) error {
	c, err := o.Store.Cluster(ctx, id)
	if err != nil {
		return err
	}
	if !possible(lifecycle.ResetCluster, c) {
		return model.Conflictf("cluster %s cannot be reset: require an installation that runs, failed or was cancelled, "+
			"found status %s", c.Name, c.Status)
	}
	err = o.stop(ctx, c, workflows.CommandReset)
	if !errors.Is(err, model.ErrNotFound) {
		return err
	}
	_, err = o.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       workflows.ResetWorkflowID(id),
		TaskQueue:                workflows.TaskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		TypedSearchAttributes:    ofCluster(c),
		StaticSummary:            c.Name + ": reset",
	}, workflows.ClusterReset, workflows.ResetRequest{ClusterID: id, Attempt: c.InstallAttempt, Timeouts: o.Timeouts})
	if err != nil {
		return fmt.Errorf("start reset of cluster %s: %w", id, err)
	}
	return nil
}

// possible reports whether a command has a transition; the workflow carries it out.
func possible(event lifecycle.ClusterEvent, c *model.Cluster) bool {
	_, err := lifecycle.NextCluster(event, c.Status, lifecycle.ClusterFacts{})
	return err == nil
}

// stop commands the workflow of a cluster. An installation that was only accepted is started first: it would begin beside its own stop.
func (o *Orchestrator) stop(ctx context.Context, c *model.Cluster, name string) error {
	if !c.WorkflowStarted {
		if err := o.start(ctx, c.ID, c.InstallAttempt); err != nil {
			return fmt.Errorf("%w: %w", model.ErrUnavailable, err)
		}
	}
	err := o.command(ctx, workflows.ClusterWorkflowID(c.ID), name)
	if !errors.Is(err, model.ErrNotFound) || !c.InstallationRuns() {
		return err
	}
	// It was ended in Temporal: another workflow replaces it, and takes the command.
	if err := o.start(ctx, c.ID, c.InstallAttempt); err != nil {
		return fmt.Errorf("%w: %w", model.ErrUnavailable, err)
	}
	return o.command(ctx, workflows.ClusterWorkflowID(c.ID), name)
}

// The commands that ClusterCommand and HostCommand take.
var (
	ClusterCommands = []string{workflows.CommandPause, workflows.CommandResume, workflows.CommandExtend}
	HostCommands    = []string{
		workflows.CommandRetry, workflows.CommandRetryStep, workflows.CommandEvict, workflows.CommandReclaim, CommandApprove,
	}
)

// CommandApprove lets the next machine that registers as a host take its place, though it does not prove to be the host.
const CommandApprove = "approve"

// HostCommand sends one of HostCommands to the workflow of a host, starts the workflow that reclaims it, or approves it. Another name is an
// ErrInvalid; a host that does not wait for a decision, or cannot be reclaimed, an ErrConflict.
func (o *Orchestrator) HostCommand(ctx context.Context, infraEnvID, hostID uuid.UUID, name string) error {
	if err := known(name, HostCommands); err != nil {
		return err
	}
	switch name {
	case workflows.CommandReclaim:
		return o.ReclaimHost(ctx, infraEnvID, hostID)
	case CommandApprove:
		return o.Acceptance.Approve(ctx, infraEnvID, hostID)
	}
	h, err := o.Store.Host(ctx, infraEnvID, hostID)
	if err != nil {
		return err
	}
	if !h.DecisionOpen {
		return model.Conflictf("host %s cannot take the command %s: require a host that failed in a running installation, found status %s",
			h.Hostname(), name, h.Status)
	}
	silence := o.Store.Now().Sub(h.CheckedInAt)
	if name != workflows.CommandEvict && !h.Stage.LeftLiveImage() && silence > o.Timeouts.Disconnect {
		return model.Conflictf("host %s cannot be retried yet: require a sign of it within %s, the last one was %s ago; "+
			"bring it back or evict it",
			h.Hostname(), o.Timeouts.Disconnect, silence.Round(time.Second))
	}
	err = o.decide(ctx, h, name)
	if errors.Is(err, model.ErrNotFound) {
		return model.Conflictf("host %s cannot take the command %s: the installation it belongs to has ended", h.Hostname(), name)
	}
	return err
}

// newsLimit is how long the workflow of a host may be behind its row: a workflow task that was lost is sent again after 10 s, the
// default of Temporal's WorkflowTaskTimeout.
const newsLimit = 15 * time.Second

// decide sends a decision about a failed host. A workflow that has yet to hear of the failure is asked again, while the row of this
// attempt waits for the decision.
func (o *Orchestrator) decide(ctx context.Context, h *model.Host, name string) error {
	id := workflows.HostWorkflowID(h.InfraEnvID, h.ID)
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := o.send(ctx, id, name)
		var refused *temporal.ApplicationError
		if !errors.As(err, &refused) || refused.Type() != workflows.RejectionEarly {
			return struct{}{}, backoff.Permanent(err)
		}
		now, readErr := o.Store.Host(ctx, h.InfraEnvID, h.ID)
		if readErr != nil || !now.DecisionOpen || now.Attempt != h.Attempt {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(200*time.Millisecond)), backoff.WithMaxElapsedTime(newsLimit))
	return answer(err, id, name)
}

// ClusterCommand sends one of ClusterCommands to the workflow of a cluster. Another name
// is an ErrInvalid; a cluster that is not being installed, an ErrConflict.
func (o *Orchestrator) ClusterCommand(ctx context.Context, id uuid.UUID, name string) error {
	if err := known(name, ClusterCommands); err != nil {
		return err
	}
	c, err := o.Store.Cluster(ctx, id)
	if err != nil {
		return err
	}
	err = o.command(ctx, workflows.ClusterWorkflowID(id), name)
	if errors.Is(err, model.ErrNotFound) {
		return model.Conflictf("cluster %s cannot take the command %s: require a running installation, found status %s", c.Name, name, c.Status)
	}
	return err
}

func known(name string, commands []string) error {
	if slices.Contains(commands, name) {
		return nil
	}
	return model.Invalidf("command: require one of %s, found %q", strings.Join(commands, ", "), name)
}

// endedMeanwhile is the type of the server's failure for an update whose workflow ended
// before it was done.
const endedMeanwhile = "AcceptedUpdateCompletedWorkflow"

// command sends an update and waits until its workflow has taken or refused it. It
// returns an ErrNotFound when no such workflow runs, an ErrConflict with the
// workflow's own words when it refuses.
func (o *Orchestrator) command(ctx context.Context, workflowID, name string) error {
	return answer(o.send(ctx, workflowID, name), workflowID, name)
}

// send does what command does; its errors are Temporal's.
func (o *Orchestrator) send(ctx context.Context, workflowID, name string) error {
	handle, err := o.Temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateName: name, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, nil)
}

// answer turns an error of Temporal into an error of package model.
func answer(err error, workflowID, name string) error {
	var notFound *serviceerror.NotFound
	var refused *temporal.ApplicationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &notFound), errors.As(err, &refused) && refused.Type() == endedMeanwhile:
		return model.NotFoundf("workflow %s does not run", workflowID)
	case errors.As(err, &refused):
		return model.Conflictf("%s", refused.Message())
	}
	return fmt.Errorf("%w: send %s to %s: %w", model.ErrUnavailable, name, workflowID, err)
}
