package workflows_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/workflows"
)

// heap counts the objects to remove, by activity; each takes ten at a time.
type heap struct {
	left  map[string]int
	log   []string
	after map[uuid.UUID]bool
	fails int // how often the next activity fails first
}

func (h *heap) take(name string) func(context.Context, activities.Batch) (activities.BatchDone, error) {
	return func(_ context.Context, b activities.Batch) (activities.BatchDone, error) {
		if h.fails > 0 {
			h.fails--
			return activities.BatchDone{}, fmt.Errorf("the database is away")
		}
		n := min(h.left[name], 10)
		h.left[name] -= n
		h.log = append(h.log, fmt.Sprintf("%s %s %d", name, b.OlderThan, n))
		h.after[b.After] = true
		return activities.BatchDone{Removed: n, Last: uuid.New(), More: n == 10}, nil
	}
}

func (h *heap) run(t *testing.T, workflow any) (workflows.HousekeepingReport, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	h.after = map[uuid.UUID]bool{}
	for _, name := range []string{
		"DeregisterIdleClusters", "DeregisterIdleInfraEnvs", "DeregisterIdleHosts", "PurgeClusters", "PurgeInfraEnvs",
		"PurgeHosts", "PurgeAudit",
	} {
		env.RegisterActivityWithOptions(h.take(name), activity.RegisterOptions{Name: name})
	}
	env.ExecuteWorkflow(workflow, workflows.HousekeepingRequest{OlderThan: 72 * time.Hour})
	require.True(t, env.IsWorkflowCompleted())
	var report workflows.HousekeepingReport
	if err := env.GetWorkflowError(); err != nil {
		return report, err
	}
	return report, env.GetWorkflowResult(&report)
}

func TestHousekeepingGoesOnUntilNothingIsLeft(t *testing.T) {
	t.Parallel()
	h := &heap{left: map[string]int{"DeregisterIdleClusters": 25}, fails: 2}
	report, err := h.run(t, workflows.DeregisterIdleClusters)
	require.NoError(t, err)
	require.Equal(t, workflows.HousekeepingReport{Clusters: 25}, report)
	require.Equal(t,
		[]string{"DeregisterIdleClusters 72h0m0s 10", "DeregisterIdleClusters 72h0m0s 10", "DeregisterIdleClusters 72h0m0s 5"},
		h.log)
	require.Len(t, h.after, 3, "each batch begins after the one before")
}

func TestClustersArePurgedBeforeWhatTheyHoldBack(t *testing.T) {
	t.Parallel()
	h := &heap{left: map[string]int{"PurgeClusters": 1, "PurgeHosts": 12, "PurgeInfraEnvs": 3}}
	report, err := h.run(t, workflows.PurgeDeleted)
	require.NoError(t, err)
	require.Equal(t, workflows.HousekeepingReport{Clusters: 1, Hosts: 12, InfraEnvs: 3}, report)
	require.Equal(t, []string{"PurgeClusters 72h0m0s 1", "PurgeHosts 72h0m0s 10", "PurgeHosts 72h0m0s 2", "PurgeInfraEnvs 72h0m0s 3"}, h.log)
}

func TestAuditIsPurgedInBatches(t *testing.T) {
	t.Parallel()
	h := &heap{left: map[string]int{"PurgeAudit": 12}}
	report, err := h.run(t, workflows.PurgeAudit)
	require.NoError(t, err)
	require.Equal(t, workflows.HousekeepingReport{AuditRows: 12}, report)
	require.Equal(t, []string{"PurgeAudit 72h0m0s 10", "PurgeAudit 72h0m0s 2"}, h.log)
}

func TestHousekeepingLeavesTheRestToItsNextRun(t *testing.T) {
	t.Parallel()
	h := &heap{left: map[string]int{"DeregisterIdleInfraEnvs": 100_000, "DeregisterIdleHosts": 3}}
	report, err := h.run(t, workflows.DeregisterIdleInfraEnvs)
	require.NoError(t, err)
	require.Equal(t, workflows.HousekeepingReport{InfraEnvs: 2000, Hosts: 3}, report)

	h = &heap{left: map[string]int{}, fails: 100}
	_, err = h.run(t, workflows.DeregisterIdleInfraEnvs)
	var failed *temporal.ActivityError
	require.ErrorAs(t, err, &failed)
}
