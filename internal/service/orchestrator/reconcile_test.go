package orchestrator_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"slipway/internal/model"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/service/orchestrator"
	"slipway/internal/service/reports"
	"slipway/internal/testing/pgtest"
	"slipway/workflows"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
)

// executions stands for Temporal's workflows: the list lags behind questions about a single one.
type executions struct {
	client.Client
	cluster string // the search attribute of all
	listed  []string
	always  []string
	status  map[string]enumspb.WorkflowExecutionStatus
	started map[string]int
	signals []string
	paused  bool
	// cancelled are those whose cancellation was asked for.
	cancelled []string
}

func (e *executions) CancelWorkflow(_ context.Context, id, _ string) error {
	e.cancelled = append(e.cancelled, id)
	return nil
}

func (e *executions) ListWorkflow(
	context.Context, *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	list := &workflowservice.ListWorkflowExecutionsResponse{}
	attribute, err := converter.GetDefaultDataConverter().ToPayload(e.cluster)
	if err != nil {
		return nil, err
	}
	types := map[string]string{"cluster": "ClusterInstall", "control": "ClusterControl", "host": "HostInstall"}
	for _, id := range append(slices.Clone(e.listed), e.always...) {
		kind, _, _ := strings.Cut(id, ":")
		list.Executions = append(list.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Type: &commonpb.WorkflowType{Name: types[kind]},
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{"ClusterID": attribute}},
		})
	}
	return list, nil
}

func (e *executions) DescribeWorkflowExecution(
	_ context.Context, id, _ string,
) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	status, ok := e.status[id]
	if !ok {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Status: status}}, nil
}

func (e *executions) QueryWorkflowWithOptions(
	context.Context, *client.QueryWorkflowWithOptionsRequest,
) (*client.QueryWorkflowWithOptionsResponse, error) {
	return &client.QueryWorkflowWithOptionsResponse{QueryResult: result{workflows.ClusterState{Paused: e.paused}}}, nil
}

func (e *executions) ExecuteWorkflow(
	_ context.Context, o client.StartWorkflowOptions, _ any, _ ...any,
) (client.WorkflowRun, error) {
	e.started[o.ID]++
	return nil, nil
}

func (e *executions) SignalWorkflow(_ context.Context, id, _, name string, _ any) error {
	e.signals = append(e.signals, name+" "+id)
	return nil
}

// reconciling is an orchestrator with a cluster that is being installed, one host of it, and a clock.
type reconciling struct {
	*orchestrator.Orchestrator
	store    *store.Store
	temporal *executions
	now      time.Time
	cluster  uuid.UUID
	env      uuid.UUID
	host     uuid.UUID
}

func newReconciling(t *testing.T) *reconciling {
	t.Helper()
	b := &reconciling{
		temporal: &executions{status: map[string]enumspb.WorkflowExecutionStatus{}, started: map[string]int{}},
		now:      time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), cluster: uuid.New(), env: uuid.New(), host: uuid.New(),
	}
	sealer, err := encryption.New(make([]byte, encryption.KeySize))
	require.NoError(t, err)
	b.store, err = store.Open(t.Context(), store.Options{
		URL: pgtest.Migrated(t, store.Migrate), Sealer: sealer, Now: func() time.Time { return b.now },
	})
	require.NoError(t, err)
	t.Cleanup(b.store.Close)
	b.temporal.cluster = b.cluster.String()
	b.temporal.always = []string{"control:" + b.cluster.String()}
	b.Orchestrator = orchestrator.New(orchestrator.Options{
		Temporal: b.temporal, Store: b.store, Acceptance: orchestrator.Acceptance{Store: b.store}, Milestones: reports.Clusters{Store: b.store},
		Log: slog.New(slog.DiscardHandler), Converter: converter.GetDefaultDataConverter(),
	})
	c := &model.Cluster{
		ID: b.cluster, Kind: model.KindCluster, Name: "prod", Status: model.ClusterInstalling, PullSecret: "s",
		InstallAttempt: 3, WorkflowStarted: true,
	}
	require.NoError(t, b.store.CreateCluster(t.Context(), c, func(*store.Tx) {}))
	require.NoError(t, b.store.CreateInfraEnv(t.Context(), &model.InfraEnv{ID: b.env, ClusterID: &b.cluster, Name: "env"}, func(*store.Tx) {}))
	_, err = b.store.RegisterHost(t.Context(), b.env, b.host, func() *model.Host {
		return &model.Host{
			ClusterID: &b.cluster, Kind: model.KindHost, Status: model.HostInstallingInProgress, Role: model.RoleWorker,
			AgentSteps: model.FineSteps,
		}
	}, func(*model.Host, bool, *store.Tx) error { return nil })
	require.NoError(t, err)
	return b
}

func (b *reconciling) look(t *testing.T, after time.Duration) {
	t.Helper()
	b.now = b.now.Add(after)
	require.NoError(t, b.Reconcile(t.Context()))
}

func (b *reconciling) setCluster(t *testing.T, change func(*model.Cluster)) {
	t.Helper()
	_, err := b.store.UpdateCluster(t.Context(), b.cluster, func(c *model.Cluster, _ *store.Tx) error { change(c); return nil })
	require.NoError(t, err)
}

func (b *reconciling) setHost(t *testing.T, change func(*model.Host)) {
	t.Helper()
	_, err := b.store.UpdateHost(t.Context(), b.env, b.host, func(h *model.Host, _ *store.Tx) error { change(h); return nil })
	require.NoError(t, err)
}

func TestLostWorkflowOfAClusterIsStartedAgain(t *testing.T) {
	t.Parallel()
	const terminated = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	for name, tt := range map[string]struct {
		status enumspb.WorkflowExecutionStatus // of its execution; zero for none
		change func(*model.Cluster)
		starts int
	}{
		"terminated":            {terminated, nil, 1},
		"cancelled":             {enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, nil, 1},
		"failed":                {enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, nil, 1},
		"lost with its tables":  {0, nil, 1},
		"listed too late":       {enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil, 0},
		"waits for its user":    {terminated, func(c *model.Cluster) { c.Status, c.DecisionOpen = "error", true }, 1},
		"in its preparation":    {terminated, func(c *model.Cluster) { c.Status = "preparing-for-installation" }, 1},
		"accepted a moment ago": {0, func(c *model.Cluster) { c.WorkflowStarted = false }, 0},
		"failed for good":       {terminated, func(c *model.Cluster) { c.Status = "error" }, 0},
		"installed":             {enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, func(c *model.Cluster) { c.Status = "installed" }, 0},
		"cancelled by its user": {enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, func(c *model.Cluster) { c.Status = "cancelled" }, 0},
		"ready to be installed": {0, func(c *model.Cluster) { c.Status = "ready" }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newReconciling(t)
			id := "cluster:" + b.cluster.String()
			if tt.status != 0 {
				b.temporal.status[id] = tt.status
			}
			b.setHost(t, func(h *model.Host) { h.Status = model.HostInstalled })
			if tt.change != nil {
				b.setCluster(t, tt.change)
			}
			b.look(t, 0)
			require.Equal(t, tt.starts, b.temporal.started[id])
			list, err := b.store.Events(t.Context(), store.EventFilter{ClusterID: b.cluster, Limit: 50})
			require.NoError(t, err)
			n := 0
			for _, e := range list.Events {
				if e.Name == "installation_continued" {
					n++
				}
			}
			require.Equal(t, tt.starts, n)
		})
	}
}

func TestWorkflowThatEndsAgainAndAgainIsStartedLessAndLessOften(t *testing.T) {
	t.Parallel()
	b := newReconciling(t)
	id := "cluster:" + b.cluster.String()
	b.temporal.status[id] = enumspb.WORKFLOW_EXECUTION_STATUS_FAILED
	b.setHost(t, func(h *model.Host) { h.Status = model.HostInstalled })
	for range 360 {
		b.look(t, 10*time.Second)
	}
	require.Equal(t, 11, b.temporal.started[id], "in an hour: after 10, 20, 40, ... 600 seconds")
	b.temporal.listed = []string{id}
	b.look(t, 10*time.Second)
	b.temporal.listed = nil
	b.look(t, 10*time.Second)
	require.Equal(t, 12, b.temporal.started[id], "it ran meanwhile")
}

func TestLostHostIsAnnouncedToItsCluster(t *testing.T) {
	t.Parallel()
	b := newReconciling(t)
	b.temporal.listed = []string{"cluster:" + b.cluster.String()}
	b.look(t, 0)
	require.Equal(t, []string{"host-lost cluster:" + b.cluster.String()}, b.temporal.signals)
	b.setHost(t, func(h *model.Host) { h.Status = model.HostInstalled })
	b.temporal.status["host:"+b.env.String()+":"+b.host.String()] = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	b.look(t, time.Hour)
	require.Len(t, b.temporal.signals, 1, "it has ended its work")
	require.Empty(t, b.temporal.started)
}

// A reset in Temporal's UI makes a run that is refused, and the host is done without it: only this look reports it to the cluster.
func TestInstalledHostWhoseWorkflowWasRefusedIsAnnouncedToItsCluster(t *testing.T) {
	t.Parallel()
	b := newReconciling(t)
	b.temporal.listed = []string{"cluster:" + b.cluster.String()}
	b.setHost(t, func(h *model.Host) { h.Status = model.HostInstalled })
	workflow := "host:" + b.env.String() + ":" + b.host.String()
	b.temporal.status[workflow] = enumspb.WORKFLOW_EXECUTION_STATUS_FAILED
	b.look(t, 0)
	require.Equal(t, []string{"host-lost cluster:" + b.cluster.String()}, b.temporal.signals)
	b.temporal.status[workflow] = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED // the child that takes its place
	b.look(t, time.Hour)
	b.temporal.status[workflow] = enumspb.WORKFLOW_EXECUTION_STATUS_FAILED
	b.look(t, time.Hour)
	require.Len(t, b.temporal.signals, 1, "a workflow that has said everything is not looked at again")
	b.setCluster(t, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	b.look(t, time.Hour)
	require.Len(t, b.temporal.signals, 1)
}

// A run that was reset after its end, to a task after its children began, gets no more signals.
func TestWorkflowOfAnInstallationThatIsOverIsCancelled(t *testing.T) {
	t.Parallel()
	b := newReconciling(t)
	id := "cluster:" + b.cluster.String()
	b.temporal.listed = []string{id, "control:" + b.cluster.String()}
	b.look(t, 0)
	b.look(t, time.Hour)
	require.Empty(t, b.temporal.cancelled, "it installs")
	b.setHost(t, func(h *model.Host) { h.Status = model.HostInstalled })
	b.setCluster(t, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	b.look(t, 0)
	b.look(t, 4*time.Minute)
	require.Empty(t, b.temporal.cancelled, "it may be about to end")
	b.look(t, 2*time.Minute)
	require.Equal(t, []string{id}, b.temporal.cancelled)
	b.temporal.listed = []string{"control:" + b.cluster.String()}
	b.look(t, time.Hour)
	require.Len(t, b.temporal.cancelled, 1)

	b.temporal.listed = append(b.temporal.listed, id) // a Reset of a run that had ended
	b.look(t, 10*time.Second)
	b.look(t, 10*time.Second)
	require.Len(t, b.temporal.cancelled, 1, "it reads its row first")
	b.look(t, 10*time.Second)
	require.Len(t, b.temporal.cancelled, 2, "it has nothing to wait for")
	b.look(t, 4*time.Minute)
	require.Len(t, b.temporal.cancelled, 2, "it lets its hosts end")

	b.temporal.listed = b.temporal.listed[:1]
	b.look(t, 10*time.Second)
	b.temporal.listed = append(b.temporal.listed, id)
	b.setCluster(t, func(c *model.Cluster) { c.Status, c.WorkflowStarted = "preparing-for-installation", false })
	b.look(t, 0)
	b.look(t, time.Hour)
	require.Len(t, b.temporal.cancelled, 2, "another installation was accepted, and its row does not say yet that it began")

	b.setCluster(t, func(c *model.Cluster) { c.Status, c.WorkflowStarted = model.ClusterInstalled, true })
	host := "host:" + b.env.String() + ":" + b.host.String()
	b.temporal.listed = nil
	b.look(t, 0)
	b.temporal.listed = []string{host}
	b.look(t, 10*time.Second)
	b.look(t, 30*time.Second)
	require.Equal(t, []string{id, id, host}, b.temporal.cancelled, "a host waits for the command to install")
	b.setHost(t, func(h *model.Host) { h.Status = model.HostInstallingInProgress })
	b.setCluster(t, func(c *model.Cluster) { c.Status = model.ClusterInstalling })
	b.look(t, time.Hour)
	require.Len(t, b.temporal.cancelled, 3)
}

func TestLostWorkflowOfAHostAloneIsStartedAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change   func(*model.Host, uuid.UUID)
		workflow string
	}{
		"joins a cluster": {func(h *model.Host, _ uuid.UUID) { h.Kind, h.WorkflowAttempt = model.KindAddToExistingClusterHost, 2 }, "host:"},
		"is reclaimed": {func(h *model.Host, c uuid.UUID) {
			h.Status, h.ClusterID, h.FormerClusterID, h.WorkflowAttempt = model.HostReclaiming, nil, &c, 2
		}, "reclaim:"},
		"is reset": {func(h *model.Host, _ uuid.UUID) {
			h.Kind, h.Status, h.WorkflowAttempt = model.KindAddToExistingClusterHost, model.HostResetting, 2
		}, "reset:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newReconciling(t)
			b.setCluster(t, func(c *model.Cluster) { c.Status = model.ClusterAddingHosts })
			b.setHost(t, func(h *model.Host) { tt.change(h, b.cluster) })
			b.look(t, 0)
			require.Equal(t, map[string]int{tt.workflow + b.env.String() + ":" + b.host.String(): 1}, b.temporal.started)
			b.setHost(t, func(h *model.Host) { h.PendingWorkflow = model.WorkflowAdd })
			b.look(t, time.Hour)
			require.Len(t, b.temporal.started, 1, "another one was accepted, and is started by itself")
		})
	}
}

func TestDayTwoHostThatBootsTheImageAgainHasLostNoWorkflow(t *testing.T) {
	t.Parallel()
	b := newReconciling(t)
	id := "host:" + b.env.String() + ":" + b.host.String()
	b.setCluster(t, func(c *model.Cluster) { c.Status = model.ClusterAddingHosts })
	b.setHost(t, func(h *model.Host) {
		h.Kind, h.Status, h.Stage = model.KindAddToExistingClusterHost, model.HostInstallingPendingUserAction, model.StageDone
		h.WorkflowAttempt, h.StatusInfo = 1, "check the boot order"
	})
	b.temporal.status[id] = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	b.look(t, 0)
	b.look(t, time.Hour)
	require.Empty(t, b.temporal.started)
	h, err := b.store.Host(t.Context(), b.env, b.host)
	require.NoError(t, err)
	require.Equal(t, model.HostInstallingPendingUserAction, h.Status)
	require.Equal(t, "check the boot order", h.StatusInfo)

	b.setHost(t, func(h *model.Host) { h.Stage = model.StageRebooting })
	b.temporal.status[id] = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	b.look(t, time.Hour)
	require.Equal(t, map[string]int{id: 1}, b.temporal.started, "before it has joined its workflow is needed")
}

func TestClusterThatWasInstalledTakesCommandsUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	b := newReconciling(t)
	id := "control:" + b.cluster.String()
	b.setCluster(t, func(c *model.Cluster) { c.Status = model.ClusterInstalled })
	b.setHost(t, func(h *model.Host) { h.Status = model.HostInstalled })
	b.look(t, 0)
	require.Empty(t, b.temporal.started)
	b.temporal.always, b.temporal.status[id] = nil, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	b.look(t, 10*time.Second)
	require.Equal(t, map[string]int{id: 1}, b.temporal.started)
	b.setCluster(t, func(c *model.Cluster) { c.InstallAttempt = 0 })
	b.look(t, time.Hour)
	require.Equal(t, map[string]int{id: 1}, b.temporal.started, "a cluster that was never installed needs none")
}
