package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"

	enumspb "go.temporal.io/api/enums/v1"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/service/orchestrator"
	"slipway/internal/testing/await"
	"slipway/worker"
	"slipway/workflows"
)

// rack stands in for the database and for hosts that are done as soon as they are asked: its activities answer as package activities
// answers an installation without failures. The workflows, and the server, are the real ones.
type rack struct {
	control *activities.Control // ends workflows for real
	plan    activities.Plan

	mu       sync.Mutex
	begun    bool
	writes   map[uuid.UUID]int
	done     int
	complete int
	gate     chan struct{} // closed when the hosts may be done
}

func newRack(hosts int) *rack {
	r := &rack{
		plan:   activities.Plan{ClusterID: uuid.New(), Name: "rack", Version: "4.20.5", Attempt: 1},
		writes: map[uuid.UUID]int{}, gate: make(chan struct{}),
	}
	r.plan.Timeouts = activities.Timeouts{Timeouts: lifecycle.DefaultTimeouts(), Decision: time.Hour, Heartbeat: 3 * time.Minute}
	for i := range hosts {
		role := model.RoleMaster
		if i >= 3 {
			role = model.RoleWorker
		}
		r.plan.Hosts = append(r.plan.Hosts, activities.HostPlan{
			ID: uuid.New(), InfraEnvID: uuid.New(), Name: fmt.Sprintf("host-%d", i), Role: role, Bootstrap: i == 0, AgentSteps: model.FineSteps,
		})
	}
	return r
}

func (r *rack) BeginPreparation(context.Context, activities.InstallRequest) (activities.Plan, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	plan := r.plan
	plan.Continues = r.begun
	return plan, nil
}

func (r *rack) ValidateCluster(context.Context, activities.InstallRequest) (activities.ValidationReport, error) {
	return activities.ValidationReport{}, nil
}

func (r *rack) ValidateHost(context.Context, activities.HostRef) (activities.ValidationReport, error) {
	return activities.ValidationReport{}, nil
}

func (r *rack) ResolveRelease(context.Context, activities.InstallRequest) error   { return nil }
func (r *rack) ExtractInstaller(context.Context, activities.InstallRequest) error { return nil }
func (r *rack) GenerateIgnition(context.Context, activities.InstallRequest) error { return nil }

func (r *rack) ConcludePreparation(_ context.Context, c activities.PreparationConclusion) (activities.PreparationOutcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = true
	return c.Outcome, nil
}

func (r *rack) BeginAttempt(context.Context, activities.AttemptRequest) error { return nil }
func (r *rack) ShowStage(context.Context, activities.StageRequest) error      { return nil }

func (r *rack) RunStep(_ context.Context, s activities.StepRequest) (activities.StepResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Type == "image-write" {
		r.writes[s.HostID]++
	}
	return activities.StepResult{StepID: s.Type}, nil
}

func (r *rack) AwaitStage(ctx context.Context, s activities.StageRequest) (activities.StepResult, error) {
	if s.Stage != model.StageDone {
		return activities.StepResult{}, nil
	}
	select {
	case <-r.gate:
	case <-activity.GetWorkerStopChannel(ctx):
		return activities.StepResult{}, context.Canceled
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	return activities.StepResult{}, nil
}

func (r *rack) ReviewInstallation(context.Context, activities.InstallRequest) (activities.Review, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done >= 5 {
		return activities.Review{Status: model.ClusterFinalizing}, nil
	}
	return activities.Review{Status: model.ClusterInstalling}, nil
}

func (r *rack) AwaitMilestone(context.Context, activities.MilestoneRequest) (activities.StepResult, error) {
	return activities.StepResult{}, nil
}

func (r *rack) FinalizingStage(context.Context, uuid.UUID) (activities.FinalizingStage, error) {
	return activities.FinalizingStage{Stage: model.FinalizingDone}, nil
}

func (r *rack) CompleteInstallation(context.Context, activities.InstallRequest) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.complete++
	return nil
}

func (r *rack) CancelInstallation(context.Context, activities.InstallRequest) error { return nil }

func (r *rack) EndHosts(ctx context.Context, h activities.HostWorkflows) (activities.HostWorkflows, error) {
	return r.control.EndHosts(ctx, h)
}

// TestTemporalInstallsManyHostsInSeveralRuns has a server that suggests another run after 200 events, where it would after 4,096.
func TestTemporalInstallsManyHostsInSeveralRuns(t *testing.T) {
	t.Parallel()
	r := newRack(120)
	c := r.start(t)
	await.True(t, func() bool { return len(runsOf(t, c, r)) >= 2 }, "one run only")
	close(r.gate)
	require.NoError(t, c.GetWorkflow(t.Context(), workflows.ClusterWorkflowID(r.plan.ClusterID), "").Get(t.Context(), nil))

	runs := runsOf(t, c, r)
	for i, run := range runs {
		t.Logf("run %d: %d events, %d bytes, %s", i+1, run.events, run.bytes, run.status)
	}
	require.GreaterOrEqual(t, len(runs), 3)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, runs[len(runs)-1].status)
	require.Equal(t, 1, r.complete)
	require.Len(t, r.writes, 120)
	for _, h := range r.plan.Hosts {
		require.Equal(t, 1, r.writes[h.ID], "%s", h.Name)
		require.NoError(t, c.GetWorkflow(t.Context(), workflows.HostWorkflowID(h.InfraEnvID, h.ID), "").Get(t.Context(), nil), h.Name)
	}
}

// A cancel reaches the workflows of hosts that another run began.
func TestTemporalCancelsManyHostsInALaterRun(t *testing.T) {
	t.Parallel()
	r := newRack(120)
	c := r.start(t)
	await.True(t, func() bool { return len(runsOf(t, c, r)) >= 2 }, "one run only")
	require.NoError(t, c.SignalWorkflow(t.Context(), workflows.ClusterWorkflowID(r.plan.ClusterID), "", workflows.CommandCancel, nil))
	err := c.GetWorkflow(t.Context(), workflows.ClusterWorkflowID(r.plan.ClusterID), "").Get(t.Context(), nil)
	require.True(t, temporal.IsCanceledError(err), "%v", err)
	for _, h := range r.plan.Hosts {
		err := c.GetWorkflow(t.Context(), workflows.HostWorkflowID(h.InfraEnvID, h.ID), "").Get(t.Context(), nil)
		require.True(t, temporal.IsCanceledError(err), "%s: %v", h.Name, err)
	}
	require.Zero(t, r.complete)
}

// start begins the installation of the rack on a server of its own.
func (r *rack) start(t *testing.T) client.Client {
	t.Helper()
	c := devServer(t, "--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=200",
		"--search-attribute", "ClusterID=Keyword", "--search-attribute", "HostID=Keyword", "--search-attribute", "Phase=Keyword",
		"--search-attribute", "ClusterName=Keyword", "--search-attribute", "HostName=Keyword", "--search-attribute", "State=Keyword",
		"--search-attribute", "WaitingFor=Keyword")
	r.control = &activities.Control{Workflows: orchestrator.New(orchestrator.Options{
		Temporal: c, Converter: converter.GetDefaultDataConverter(), Log: slog.New(slog.DiscardHandler),
	})}
	w := sdk.New(c, workflows.TaskQueue, sdk.Options{})
	worker.RegisterWorkflows(w)
	w.RegisterActivity(r)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: workflows.ClusterWorkflowID(r.plan.ClusterID), TaskQueue: workflows.TaskQueue,
	}, workflows.ClusterInstall, workflows.ClusterRequest{InstallRequest: activities.InstallRequest{ClusterID: r.plan.ClusterID, Attempt: 1}})
	require.NoError(t, err)
	return c
}

// run is one run of a workflow.
type run struct {
	events, bytes int64
	status        enumspb.WorkflowExecutionStatus
}

// runsOf lists the runs of the cluster's workflow, the first one first.
func runsOf(t *testing.T, c client.Client, r *rack) []run {
	t.Helper()
	var runs []run
	id := workflows.ClusterWorkflowID(r.plan.ClusterID)
	list, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: fmt.Sprintf("WorkflowId = '%s'", id)})
	require.NoError(t, err)
	for _, e := range list.GetExecutions() {
		info, err := c.DescribeWorkflowExecution(t.Context(), id, e.GetExecution().GetRunId())
		require.NoError(t, err)
		d := info.GetWorkflowExecutionInfo()
		runs = append([]run{{d.GetHistoryLength(), d.GetHistorySizeBytes(), d.GetStatus()}}, runs...)
	}
	return runs
}
