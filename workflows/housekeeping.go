package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"slipway/activities"
)

// Ids of the schedules that keep house. Each starts its workflow every so often, and
// never while the one before still runs.
const (
	ScheduleIdleClusters  = "housekeeping:idle-clusters"
	ScheduleIdleInfraEnvs = "housekeeping:idle-infra-envs"
	SchedulePurge         = "housekeeping:purge"
	ScheduleAudit         = "housekeeping:audit"
)

// HousekeepingRequest sets the age of old objects.
type HousekeepingRequest struct {
	OlderThan time.Duration
}

// HousekeepingReport counts the objects that a run removed.
type HousekeepingReport struct {
	Clusters  int
	InfraEnvs int
	Hosts     int
	AuditRows int
}

// maxBatches bounds a run and its history; the next one continues.
const maxBatches = 200

// DeregisterIdleClusters deletes clusters that were left alone for long.
func DeregisterIdleClusters(ctx workflow.Context, r HousekeepingRequest) (report HousekeepingReport, err error) {
	var h *activities.Housekeeping
	report.Clusters, err = inBatches(ctx, "delete idle clusters", h.DeregisterIdleClusters, r)
	return report, err
}

// DeregisterIdleInfraEnvs deletes InfraEnvs that were idle for long, and idle hosts in the other InfraEnvs.
func DeregisterIdleInfraEnvs(ctx workflow.Context, r HousekeepingRequest) (report HousekeepingReport, err error) {
	var h *activities.Housekeeping
	if report.InfraEnvs, err = inBatches(ctx, "delete idle InfraEnvs", h.DeregisterIdleInfraEnvs, r); err != nil {
		return report, err
	}
	report.Hosts, err = inBatches(ctx, "delete silent hosts", h.DeregisterIdleHosts, r)
	return report, err
}

// PurgeDeleted removes for good objects that were deleted long ago. Clusters come first: their hosts are removed with them, and
// InfraEnvs can be removed only without hosts.
func PurgeDeleted(ctx workflow.Context, r HousekeepingRequest) (report HousekeepingReport, err error) {
	var h *activities.Housekeeping
	if report.Clusters, err = inBatches(ctx, "remove deleted clusters", h.PurgeClusters, r); err != nil {
		return report, err
	}
	if report.Hosts, err = inBatches(ctx, "remove deleted hosts", h.PurgeHosts, r); err != nil {
		return report, err
	}
	report.InfraEnvs, err = inBatches(ctx, "remove deleted InfraEnvs", h.PurgeInfraEnvs, r)
	return report, err
}

// PurgeAudit removes old rows of the audit.
func PurgeAudit(ctx workflow.Context, r HousekeepingRequest) (report HousekeepingReport, err error) {
	var h *activities.Housekeeping
	report.AuditRows, err = inBatches(ctx, "remove old rows of the audit", h.PurgeAudit, r)
	return report, err
}

func inBatches(ctx workflow.Context, summary string, step any, r HousekeepingRequest) (removed int, err error) {
	ctx = withHousekeepingOptions(ctx, summary)
	next := activities.Batch{OlderThan: r.OlderThan}
	for range maxBatches {
		var done activities.BatchDone
		if err := workflow.ExecuteActivity(ctx, step, next).Get(ctx, &done); err != nil {
			return removed, err
		}
		removed += done.Removed
		if !done.More {
			return removed, nil
		}
		next.After = done.Last
	}
	return removed, nil
}
