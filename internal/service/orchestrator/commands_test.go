package orchestrator_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/service/orchestrator"
	"slipway/internal/testing/kepttexts"
	"slipway/internal/testing/pgtest"
	"slipway/internal/wire"
	"slipway/workflows"
)

// answeringTemporal remembers commands and answers each, and each query, in the same way.
type answeringTemporal struct {
	client.Client
	commands []string
	started  []string
	err      error
	gone     error                   // what updates answer instead
	answers  func(asked int) error   // to the nth update; nil: err and gone
	state    *workflows.ClusterState // nil: the workflow has ended
	// running are workflows of older attempts; cancelled ones have yet to end.
	running   map[string]int
	cancelled []string
}

// ListWorkflow does not answer what compares rows with executions, which runs at any time.
func (*answeringTemporal) ListWorkflow(
	context.Context, *workflowservice.ListWorkflowExecutionsRequest,
) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return nil, errors.New("not answered")
}

func (a *answeringTemporal) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	a.commands = append(a.commands, o.UpdateName+" "+o.WorkflowID)
	if a.answers != nil {
		return handle{err: a.answers(len(a.commands))}, nil
	}
	return handle{err: errors.Join(a.err, a.gone)}, nil
}

func (a *answeringTemporal) QueryWorkflowWithOptions(
	_ context.Context, _ *client.QueryWorkflowWithOptionsRequest,
) (*client.QueryWorkflowWithOptionsResponse, error) {
	switch {
	case a.err != nil:
		return nil, a.err
	case a.state == nil:
		return &client.QueryWorkflowWithOptionsResponse{QueryRejected: &querypb.QueryRejected{}}, nil
	}
	return &client.QueryWorkflowWithOptionsResponse{QueryResult: result{a.state}}, nil
}

type handle struct {
	client.WorkflowUpdateHandle
	err error
}

func (h handle) Get(context.Context, any) error { return h.err }

// result reads back as it would from a payload.
type result struct{ value any }

func (r result) HasValue() bool { return true }

func (r result) Get(into any) error {
	text, err := json.Marshal(r.value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// bench is an orchestrator with a cluster that is being installed and one host of it.
type bench struct {
	*orchestrator.Orchestrator
	temporal *answeringTemporal
	store    *store.Store
	cluster  uuid.UUID
	env      uuid.UUID
	host     uuid.UUID
}

func newBench(t *testing.T) bench {
	t.Helper()
	url := pgtest.Migrated(t, store.Migrate)
	sealer, err := encryption.New(make([]byte, encryption.KeySize))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{
		URL: url, Sealer: sealer, Now: time.Now, Rendering: kepttexts.Rendering, CompareSnapshots: true,
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	kepttexts.CheckAtEnd(t, s)
	b := bench{temporal: &answeringTemporal{}, store: s, cluster: uuid.New(), env: uuid.New(), host: uuid.New()}
	b.Orchestrator = orchestrator.New(orchestrator.Options{
		Temporal: b.temporal, Store: s, Log: slog.New(slog.DiscardHandler), Timeouts: activities.Timeouts{Timeouts: lifecycle.DefaultTimeouts()},
		Converter: converter.GetDefaultDataConverter(),
	})
	c := &model.Cluster{ID: b.cluster, Kind: model.KindCluster, Name: "prod", Status: model.ClusterInstalling, PullSecret: "s"}
	require.NoError(t, s.CreateCluster(t.Context(), c, func(*store.Tx) {}))
	require.NoError(t, s.CreateInfraEnv(t.Context(), &model.InfraEnv{ID: b.env, ClusterID: &b.cluster, Name: "env"}, func(*store.Tx) {}))
	_, err = s.RegisterHost(t.Context(), b.env, b.host, func() *model.Host {
		return &model.Host{
			ClusterID: &b.cluster, Kind: model.KindHost, Status: model.HostError, Role: model.RoleWorker,
			AgentSteps: model.FineSteps,
		}
	}, func(h *model.Host, _ bool, tx *store.Tx) error { tx.CheckIn(h); return nil })
	require.NoError(t, err)
	return b
}

func (b bench) openDecision(t *testing.T) {
	t.Helper()
	_, err := b.store.UpdateHost(t.Context(), b.env, b.host, func(h *model.Host, _ *store.Tx) error {
		h.DecisionOpen = true
		return nil
	})
	require.NoError(t, err)
}

func TestCommandsGoToTheWorkflowTheyAreFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.openDecision(t)
	var want []string
	for _, name := range orchestrator.ClusterCommands {
		require.NoError(t, b.ClusterCommand(t.Context(), b.cluster, name))
		want = append(want, name+" cluster:"+b.cluster.String())
	}
	for _, name := range orchestrator.HostCommands {
		if name == workflows.CommandReclaim || name == orchestrator.CommandApprove {
			continue // reclaim has a workflow of its own, approve none
		}
		require.NoError(t, b.HostCommand(t.Context(), b.env, b.host, name))
		want = append(want, name+" host:"+b.env.String()+":"+b.host.String())
	}
	require.Equal(t, want, b.temporal.commands)
}

func TestApprovalNeedsNoWorkflow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Acceptance = orchestrator.Acceptance{Store: b.store}
	require.NoError(t, b.HostCommand(t.Context(), b.env, b.host, "approve"))
	h, err := b.store.Host(t.Context(), b.env, b.host)
	require.NoError(t, err)
	require.Equal(t, time.Hour, h.ApprovedUntil.Sub(h.UpdatedAt).Round(time.Minute))
	require.Empty(t, b.temporal.commands)
}

func TestCommandsThatThereAreNotAreRefusedWithThoseThereAre(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.openDecision(t)
	err := b.ClusterCommand(t.Context(), b.cluster, "cancel")
	require.ErrorIs(t, err, model.ErrInvalid, "cancelling has rules of its own")
	require.ErrorContains(t, err, `require one of pause, resume, extend, found "cancel"`)
	err = b.HostCommand(t.Context(), b.env, b.host, "pause")
	require.ErrorIs(t, err, model.ErrInvalid)
	require.ErrorContains(t, err, `require one of retry, retry-step, evict, reclaim, approve, found "pause"`)
	require.Empty(t, b.temporal.commands)
}

func TestCommandsAreRefusedWhereNothingRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.ErrorIs(t, b.ClusterCommand(t.Context(), uuid.New(), "pause"), model.ErrNotFound)
	require.ErrorIs(t, b.HostCommand(t.Context(), b.env, uuid.New(), "evict"), model.ErrNotFound)
	err := b.HostCommand(t.Context(), b.env, b.host, "evict")
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require a host that failed in a running installation, found status error")
	require.Empty(t, b.temporal.commands)

	b.openDecision(t)
	b.temporal.err = serviceerror.NewNotFound("workflow execution already completed")
	err = b.ClusterCommand(t.Context(), b.cluster, "pause")
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "cluster prod cannot take the command pause: require a running installation, found status installing")
	require.ErrorIs(t, b.HostCommand(t.Context(), b.env, b.host, "evict"), model.ErrConflict)
}

func TestSilentHostCanOnlyBeEvicted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.openDecision(t)
	b.Timeouts.Disconnect = time.Nanosecond
	require.ErrorIs(t, b.HostCommand(t.Context(), b.env, b.host, "retry-step"), model.ErrConflict)
	require.NoError(t, b.HostCommand(t.Context(), b.env, b.host, "evict"))
	require.Equal(t, []string{"evict host:" + b.env.String() + ":" + b.host.String()}, b.temporal.commands)
}

func TestWorkflowsRefuseInTheirOwnWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.temporal.err = temporal.NewApplicationError("the installation is paused already", "Conflict")
	err := b.ClusterCommand(t.Context(), b.cluster, "pause")
	require.ErrorIs(t, err, model.ErrConflict)
	require.Equal(t, "the installation is paused already", err.Error())
	b.temporal.err = serviceerror.NewUnavailable("no connection")
	require.ErrorIs(t, b.ClusterCommand(t.Context(), b.cluster, "pause"), model.ErrUnavailable)
}

// A workflow that a task was lost of hears of its host's failure up to 10 s after the row shows it.
func TestDecisionsWaitForAWorkflowThatIsBehindItsRow(t *testing.T) {
	t.Parallel()
	early := temporal.NewApplicationError("the host does not wait for a decision: it is running", "Early")
	for name, c := range map[string]struct {
		meanwhile func(h *model.Host) // after the second question
		refusals  []error
		questions int
		says      string
	}{
		"hears of it": {refusals: []error{early, early}, questions: 3},
		"was decided by another": {
			refusals:  []error{early, temporal.NewApplicationError("it is to retry", "Conflict")},
			questions: 2, says: "it is to retry",
		},
		"the decision was taken": {
			meanwhile: func(h *model.Host) { h.DecisionOpen = false },
			refusals:  []error{early, early, early, early}, questions: 2, says: "it is running",
		},
		"another attempt failed": {
			meanwhile: func(h *model.Host) { h.Attempt++ },
			refusals:  []error{early, early, early, early}, questions: 2, says: "it is running",
		},
		"ended": {refusals: []error{early, serviceerror.NewNotFound("completed")}, questions: 2, says: "has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.openDecision(t)
			b.temporal.answers = func(asked int) error {
				if asked == 2 && c.meanwhile != nil {
					_, err := b.store.UpdateHost(t.Context(), b.env, b.host, func(h *model.Host, _ *store.Tx) error {
						c.meanwhile(h)
						return nil
					})
					require.NoError(t, err)
				}
				if asked > len(c.refusals) {
					return nil
				}
				return c.refusals[asked-1]
			}
			err := b.HostCommand(t.Context(), b.env, b.host, "retry")
			require.Len(t, b.temporal.commands, c.questions)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, model.ErrConflict)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestStateIsThatOfTheRunningWorkflow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	low, high := uuid.MustParse("11111111-1111-4111-8111-111111111111"), uuid.MustParse("99999999-9999-4999-8999-999999999999")
	b.temporal.state = &workflows.ClusterState{Phase: "installing", Paused: true, Hosts: map[uuid.UUID]workflows.HostNews{
		high: {HostID: high, State: workflows.HostRunning},
		low:  {HostID: low, State: workflows.HostWaiting, Reason: "Writing image to disk: I/O error"},
	}}
	got, err := b.State(t.Context(), b.cluster)
	require.NoError(t, err)
	require.Equal(t, wire.WorkflowState{Phase: "installing", Paused: true, Hosts: []wire.WorkflowHost{
		{HostID: low, State: wire.WorkflowWaiting, Reason: "Writing image to disk: I/O error"}, {HostID: high, State: "running"},
	}}, got)

	_, err = b.State(t.Context(), uuid.New())
	require.ErrorIs(t, err, model.ErrNotFound)
	b.temporal.state = nil
	_, err = b.State(t.Context(), b.cluster)
	require.ErrorIs(t, err, model.ErrNotFound, "a workflow that has ended")
	b.temporal.err = serviceerror.NewNotFound("no such workflow")
	_, err = b.State(t.Context(), b.cluster)
	require.ErrorIs(t, err, model.ErrNotFound)
	b.temporal.err = serviceerror.NewDeadlineExceeded("no worker answers")
	_, err = b.State(t.Context(), b.cluster)
	require.ErrorIs(t, err, model.ErrUnavailable)
}
