package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"slipway/workflows"
)

// Housekeeping sets the age at which objects are removed, and how often the service looks for them.
type Housekeeping struct {
	Inactive time.Duration // without a sign of life: clusters, InfraEnvs
	Deleted  time.Duration // since it was deleted: removed for good
	Audit    time.Duration // since its row was written

	EveryInactive  time.Duration
	EveryPurge     time.Duration
	EveryInfraEnvs time.Duration
}

// runTime bounds one run of housekeeping: the next one of its schedule continues.
const runTime = time.Hour

// catchUp is how late a run may begin that was missed while no worker ran.
const catchUp = time.Minute

// KeepHouse puts the schedules of housekeeping in place. Existing schedules get new intervals and limits where they differ; a schedule
// that an operator paused stays paused.
func (o *Orchestrator) KeepHouse(ctx context.Context, h Housekeeping) error {
	for _, s := range []struct {
		id       string
		workflow any
		after    time.Duration
		every    time.Duration
	}{
		{workflows.ScheduleIdleClusters, workflows.DeregisterIdleClusters, h.Inactive, h.EveryInactive},
		{workflows.ScheduleIdleInfraEnvs, workflows.DeregisterIdleInfraEnvs, h.Inactive, h.EveryInfraEnvs},
		{workflows.SchedulePurge, workflows.PurgeDeleted, h.Deleted, h.EveryPurge},
		{workflows.ScheduleAudit, workflows.PurgeAudit, h.Audit, h.EveryPurge},
	} {
		action := &client.ScheduleWorkflowAction{
			ID: s.id, Workflow: s.workflow, Args: []any{workflows.HousekeepingRequest{OlderThan: s.after}},
			TaskQueue: workflows.TaskQueue, WorkflowRunTimeout: runTime,
		}
		spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: s.every}}}
		if err := o.putSchedule(ctx, s.id, spec, action); err != nil {
			return fmt.Errorf("put schedule %s in place: %w", s.id, err)
		}
	}
	return nil
}

func (o *Orchestrator) putSchedule(ctx context.Context, id string, spec client.ScheduleSpec, action client.ScheduleAction) error {
	_, err := o.Temporal.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: id, Spec: spec, Action: action, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: catchUp,
	})
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return err
	}
	return o.Temporal.ScheduleClient().GetHandle(ctx, id).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			schedule := in.Description.Schedule
			schedule.Spec, schedule.Action = &spec, action
			schedule.Policy = &client.SchedulePolicies{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: catchUp}
			return &client.ScheduleUpdate{Schedule: &schedule}, nil
		},
	})
}

// Running reports whether a workflow installs or resets a cluster now.
func (o *Orchestrator) Running(ctx context.Context, clusterID uuid.UUID) (bool, error) {
	for _, id := range []string{workflows.ClusterWorkflowID(clusterID), workflows.ResetWorkflowID(clusterID)} {
		description, err := o.Temporal.DescribeWorkflowExecution(ctx, id, "")
		var none *serviceerror.NotFound
		if errors.As(err, &none) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("ask for workflow %s: %w", id, err)
		}
		if description.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			return true, nil
		}
	}
	return false, nil
}

// StartedBefore counts the workflows of the namespace that started before a time, running or ended.
func (o *Orchestrator) StartedBefore(ctx context.Context, at time.Time) (int64, error) {
	counted, err := o.Temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Query: fmt.Sprintf("StartTime < '%s'", at.UTC().Format(time.RFC3339Nano)),
	})
	if err != nil {
		return 0, fmt.Errorf("count the workflows that started before %s: %w", at.UTC().Format(time.RFC3339), err)
	}
	return counted.GetCount(), nil
}
