package orchestrator_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/orchestrator"
	"slipway/internal/testing/await"
)

// ExecuteWorkflow remembers what was started.
func (a *answeringTemporal) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	if a.err != nil {
		return nil, a.err
	}
	if _, ok := a.running[o.ID]; ok {
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("it runs", "", "")
	}
	a.started = append(a.started, o.ID)
	return nil, nil
}

// DescribeWorkflowExecution returns the attempt of a workflow that runs.
func (a *answeringTemporal) DescribeWorkflowExecution(
	_ context.Context, id, _ string,
) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	attempt, err := converter.GetDefaultDataConverter().ToPayload(a.running[id])
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{"attempt": attempt}},
	}}, err
}

// CancelWorkflow remembers what was cancelled.
func (a *answeringTemporal) CancelWorkflow(_ context.Context, id, _ string) error {
	if a.err != nil {
		return a.err
	}
	a.cancelled = append(a.cancelled, id)
	return nil
}

// accepting takes every command, as the database side would.
type accepting struct {
	orchestrator.Accepts
	b       bench
	refused error
}

func (a accepting) accept(ctx context.Context, env, id uuid.UUID, w model.HostWorkflow) (int, error) {
	if a.refused != nil {
		return 0, a.refused
	}
	h, err := a.b.store.UpdateHost(ctx, env, id, func(h *model.Host, _ *store.Tx) error {
		h.WorkflowAttempt++
		h.PendingWorkflow, h.FormerClusterID = w, h.ClusterID
		return nil
	})
	return h.WorkflowAttempt, err
}

func (a accepting) InstallHost(ctx context.Context, env, id uuid.UUID) (int, error) {
	return a.accept(ctx, env, id, model.WorkflowAdd)
}

func (a accepting) Reclaim(ctx context.Context, env, id uuid.UUID) (int, error) {
	return a.accept(ctx, env, id, model.WorkflowReclaim)
}

func (a accepting) CheckHostReset(*model.Host) error { return a.refused }

func newDayTwo(t *testing.T) bench {
	t.Helper()
	b := newBench(t)
	b.Acceptance = accepting{b: b}
	_, err := b.store.UpdateHost(t.Context(), b.env, b.host, func(h *model.Host, _ *store.Tx) error {
		h.Kind = model.KindAddToExistingClusterHost
		return nil
	})
	require.NoError(t, err)
	return b
}

func (b bench) unstarted(t *testing.T) int {
	t.Helper()
	list, err := b.store.UnstartedHostWorkflows(t.Context())
	require.NoError(t, err)
	return len(list)
}

func TestAcceptedHostsHaveTheirWorkflowStarted(t *testing.T) {
	t.Parallel()
	b := newDayTwo(t)
	id := b.env.String() + ":" + b.host.String()
	require.NoError(t, b.InstallHost(t.Context(), b.env, b.host))
	require.NoError(t, b.HostCommand(t.Context(), b.env, b.host, "reclaim"))
	require.Equal(t, []string{"host:" + id, "reclaim:" + id}, b.temporal.started)
	require.Equal(t, []string{"host:" + id}, b.temporal.cancelled, "what waits for a decision about the host")
	require.Zero(t, b.unstarted(t))

	b.temporal.err = serviceerror.NewUnavailable("away")
	require.NoError(t, b.InstallHost(t.Context(), b.env, b.host), "what was accepted is started later")
	require.Equal(t, 1, b.unstarted(t))
	b.temporal.err = nil
	b.temporal.started = nil
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	b.Signals = store.NewSignals(b.store, b.Log)
	go func() { defer close(done); b.Run(ctx) }()
	await.True(t, func() bool { return b.unstarted(t) == 0 })
	cancel()
	<-done
	require.Contains(t, b.temporal.started, "host:"+id)
}

func TestRefusedHostsHaveNothingStarted(t *testing.T) {
	t.Parallel()
	b := newDayTwo(t)
	b.Acceptance = accepting{b: b, refused: model.Conflictf("not now")}
	for _, do := range []func(context.Context, uuid.UUID, uuid.UUID) error{b.InstallHost, b.ReclaimHost, b.ResetHost} {
		require.ErrorIs(t, do(t.Context(), b.env, b.host), model.ErrConflict)
	}
	require.Empty(t, b.temporal.started)
	require.Empty(t, b.temporal.commands)
}

func TestResetGoesToTheWorkflowThatRunsOrToOneOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newDayTwo(t)
	id := b.env.String() + ":" + b.host.String()
	require.NoError(t, b.ResetHost(t.Context(), b.env, b.host))
	require.Equal(t, []string{"reset host:" + id}, b.temporal.commands)
	require.Empty(t, b.temporal.started)

	b.temporal.gone = serviceerror.NewNotFound("workflow execution already completed")
	require.NoError(t, b.ResetHost(t.Context(), b.env, b.host))
	require.Equal(t, []string{"reset:" + id}, b.temporal.started)
}

func TestResetOfADayOneHostTriesItAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.ErrorIs(t, b.ResetHost(t.Context(), b.env, b.host), model.ErrConflict, "it does not wait for a decision")
	b.openDecision(t)
	require.NoError(t, b.ResetHost(t.Context(), b.env, b.host))
	require.Equal(t, []string{"retry host:" + b.env.String() + ":" + b.host.String()}, b.temporal.commands)
	require.True(t, errors.Is(b.ResetHost(t.Context(), b.env, uuid.New()), model.ErrNotFound))
}

func TestResetOfAHostGoesToTheWorkflowThatWasOnlyAccepted(t *testing.T) {
	t.Parallel()
	b := newDayTwo(t)
	id := b.env.String() + ":" + b.host.String()
	b.temporal.err = serviceerror.NewUnavailable("away")
	require.NoError(t, b.InstallHost(t.Context(), b.env, b.host))
	require.ErrorIs(t, b.ResetHost(t.Context(), b.env, b.host), model.ErrUnavailable)
	b.temporal.err = nil
	require.NoError(t, b.ResetHost(t.Context(), b.env, b.host))
	require.Equal(t, []string{"host:" + id}, b.temporal.started, "two workflows would have the host")
	require.Equal(t, []string{"reset host:" + id}, b.temporal.commands)
}

func TestStopOfAClusterGoesToTheWorkflowThatWasOnlyAccepted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.store.UpdateCluster(t.Context(), b.cluster, func(c *model.Cluster, _ *store.Tx) error {
		c.Status, c.WorkflowStarted = model.ClusterPreparingForInstallation, false
		return nil
	})
	require.NoError(t, err)
	b.temporal.err = serviceerror.NewUnavailable("away")
	require.ErrorIs(t, b.Reset(t.Context(), b.cluster), model.ErrUnavailable)
	b.temporal.err = nil
	require.NoError(t, b.Reset(t.Context(), b.cluster))
	require.NoError(t, b.Cancel(t.Context(), b.cluster))
	id := "cluster:" + b.cluster.String()
	require.Equal(t, []string{id}, b.temporal.started, "two workflows would have the cluster")
	require.Equal(t, []string{"reset " + id, "cancel " + id}, b.temporal.commands)
}

func TestWorkflowOfAnOlderAttemptMakesRoom(t *testing.T) {
	t.Parallel()
	b := newDayTwo(t)
	id := "host:" + b.env.String() + ":" + b.host.String()
	b.temporal.running = map[string]int{id: 7}
	require.NoError(t, b.InstallHost(t.Context(), b.env, b.host), "what was accepted is started later")
	require.Equal(t, 1, b.unstarted(t))
	require.Equal(t, []string{id}, b.temporal.cancelled, "it receives no command any more")
}

func TestReleasedWorkflowsAreCancelled(t *testing.T) {
	t.Parallel()
	b := newDayTwo(t)
	b.ReleaseHost(t.Context(), b.env, b.host)
	b.ReleaseCluster(t.Context(), b.cluster)
	require.Equal(t, []string{
		"host:" + b.env.String() + ":" + b.host.String(), "cluster:" + b.cluster.String(), "control:" + b.cluster.String(),
	}, b.temporal.cancelled)
	b.temporal.err = serviceerror.NewUnavailable("away")
	b.ReleaseHost(t.Context(), b.env, b.host) // they end by themselves
}
