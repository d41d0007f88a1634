package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/workflows"
)

// InstallHost accepts the installation of a host that joins an existing cluster. The
// host is installing when it returns; the workflow is started at once, or by a sweep
// when that fails. An ErrConflict says why the host cannot be installed.
func (o *Orchestrator) InstallHost(ctx context.Context, infraEnvID, hostID uuid.UUID) error {
	if _, err := o.Acceptance.InstallHost(ctx, infraEnvID, hostID); err != nil {
		return err
	}
	o.startSoon(ctx, infraEnvID, hostID)
	return nil
}

// ReclaimHost takes a host out of its cluster and back to its InfraEnv; an installed host by a workflow, which is started as in
// InstallHost.
func (o *Orchestrator) ReclaimHost(ctx context.Context, infraEnvID, hostID uuid.UUID) error {
	attempt, err := o.Acceptance.Reclaim(ctx, infraEnvID, hostID)
	if err != nil {
		return err
	}
	o.ReleaseHost(ctx, infraEnvID, hostID)
	if attempt > 0 {
		o.startSoon(ctx, infraEnvID, hostID)
	}
	return nil
}

// ResetHost takes a host of an existing cluster back to discovery, whether it is being
// installed or not. A failed host of a running installation is installed again, alone.
func (o *Orchestrator) ResetHost(ctx context.Context, infraEnvID, hostID uuid.UUID) error {
	h, err := o.Store.Host(ctx, infraEnvID, hostID)
	if err != nil {
		return err
	}
	if !h.DayTwo() {
		return o.HostCommand(ctx, infraEnvID, hostID, workflows.CommandRetry)
	}
	if err := o.Acceptance.CheckHostReset(h); err != nil {
		return err
	}
	if h.PendingWorkflow != model.WorkflowNone { // else two workflows would have the host
		if err := o.startHost(ctx, infraEnvID, hostID); err != nil {
			return fmt.Errorf("%w: %w", model.ErrUnavailable, err)
		}
	}
	err = o.command(ctx, workflows.HostWorkflowID(infraEnvID, hostID), workflows.CommandReset)
	if !errors.Is(err, model.ErrNotFound) {
		return err
	}
	ref := activities.HostRef{ClusterID: *h.ClusterID, InfraEnvID: infraEnvID, HostID: hostID}
	_, err = o.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       workflows.HostResetWorkflowID(infraEnvID, hostID),
		TaskQueue:                workflows.TaskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		TypedSearchAttributes:    ofHost(ref, h.Hostname()),
		StaticSummary:            h.Hostname() + ": reset",
	}, workflows.HostReset, workflows.HostResetRequest{
		AddRequest: activities.AddRequest{HostRef: ref, Attempt: h.WorkflowAttempt}, Timeouts: o.Timeouts,
	})
	if err != nil {
		return fmt.Errorf("start reset of host %s: %w", hostID, err)
	}
	return nil
}

func (o *Orchestrator) startSoon(ctx context.Context, infraEnvID, hostID uuid.UUID) {
	if err := o.startHost(ctx, infraEnvID, hostID); err != nil {
		o.Log.Warn("workflow not started yet", "host_id", hostID, "error", err)
	}
}

// startAcceptedHosts starts the missing workflows of accepted single hosts.
func (o *Orchestrator) startAcceptedHosts(ctx context.Context) error {
	hosts, err := o.Store.UnstartedHostWorkflows(ctx)
	if err != nil {
		return err
	}
	var first error
	for _, h := range hosts {
		if err := o.startHost(ctx, h.InfraEnvID, h.HostID); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// startHost starts the workflow that was accepted for a host; none is fine.
func (o *Orchestrator) startHost(ctx context.Context, infraEnvID, hostID uuid.UUID) error {
	h, err := o.Store.Host(ctx, infraEnvID, hostID)
	if err != nil {
		return err
	}
	s := starting{attempt: h.WorkflowAttempt}
	ref := activities.HostRef{InfraEnvID: infraEnvID, HostID: hostID}
	switch {
	case h.PendingWorkflow == model.WorkflowAdd && h.ClusterID != nil:
		s.summary = h.Hostname() + ": joins an existing cluster"
		ref.ClusterID = *h.ClusterID
		s.id, s.workflow = workflows.HostWorkflowID(infraEnvID, hostID), workflows.HostAdd
		s.request = activities.AddRequest{HostRef: ref, Attempt: s.attempt}
	case h.PendingWorkflow == model.WorkflowReclaim && h.FormerClusterID != nil:
		s.summary = h.Hostname() + ": returns to its InfraEnv"
		ref.ClusterID = *h.FormerClusterID
		s.id, s.workflow = workflows.ReclaimWorkflowID(infraEnvID, hostID), workflows.HostReclaim
		s.request = activities.ReclaimRequest{HostRef: ref, Attempt: s.attempt}
	}
	if s.workflow != nil {
		s.attributes = ofHost(ref, h.Hostname())
		if s.resource, err = o.Store.KubeKey(ctx, uuid.Nil, infraEnvID, hostID); err != nil {
			return err
		}
		err = o.startOnce(ctx, s)
		if errors.Is(err, errOlderRuns) {
			// It waits for a decision about a host that left, and came back, without one.
			return errors.Join(err, o.release(ctx, s.id))
		}
		if err != nil {
			return err
		}
	}
	return o.Store.HostWorkflowStarted(ctx, infraEnvID, hostID, s.attempt)
}

func ofHost(ref activities.HostRef, name string) temporal.SearchAttributes {
	return temporal.NewSearchAttributes(
		workflows.AttributeClusterID.ValueSet(ref.ClusterID.String()), workflows.AttributeHostID.ValueSet(ref.HostID.String()),
		workflows.AttributeHostName.ValueSet(name))
}
