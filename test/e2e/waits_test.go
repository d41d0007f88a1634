package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/service/orchestrator"
	"slipway/internal/testing/await"
	"slipway/internal/testing/pgtest"
	"slipway/worker"
)

// narrow is a Temporal server with a worker of two slots.
type narrow struct {
	client.Client
	store   *store.Store
	cluster uuid.UUID
	env     uuid.UUID
}

// pass is how long conflicts are tried again here.
const pass = 2 * time.Second

// newNarrow starts them until the test ends.
func newNarrow(t *testing.T) *narrow {
	t.Helper()
	sealer, err := encryption.New(make([]byte, encryption.KeySize))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{URL: pgtest.Migrated(t, store.Migrate), Sealer: sealer, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	n := &narrow{Client: devServer(t), store: s, cluster: uuid.New(), env: uuid.New()}
	c := &model.Cluster{ID: n.cluster, Kind: model.KindCluster, Name: "prod", Status: model.ClusterInsufficient, WorkflowStarted: true}
	require.NoError(t, s.CreateCluster(t.Context(), c, func(*store.Tx) {}))
	require.NoError(t, s.CreateInfraEnv(t.Context(), &model.InfraEnv{ID: n.env, ClusterID: &n.cluster, Name: "env"}, func(*store.Tx) {}))

	w := sdk.New(n.Client, "narrow", sdk.Options{
		MaxConcurrentActivityExecutionSize: 2, Interceptors: []interceptor.WorkerInterceptor{&activities.Conflicts{Pass: pass}},
	})
	worker.RegisterActivities(w, worker.Dependencies{
		Clusters: &activities.Clusters{Store: s}, Hosts: &activities.Hosts{Store: s}, Steps: &activities.Steps{Store: s},
		Files: &activities.Files{}, Housekeeping: &activities.Housekeeping{},
	})
	w.RegisterWorkflow(waitForHosts)
	w.RegisterWorkflow(lookAtHost)
	w.RegisterWorkflow(complete)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	return n
}

// forward does the background work of the service until the test ends.
func (n *narrow) forward(t *testing.T) {
	t.Helper()
	signals := store.NewSignals(n.store, slog.New(slog.DiscardHandler))
	o := orchestrator.New(orchestrator.Options{
		Temporal: n.Client, Namespace: "default", Store: n.store, Signals: signals, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	for _, run := range []func(context.Context){signals.Run, o.Run} {
		go func() {
			run(ctx)
			done <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		cancel()
		<-done
		<-done
	})
}

// devServer starts the server that the temporal program has in it.
func devServer(t *testing.T, options ...string) client.Client {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().(*net.TCPAddr)
	require.NoError(t, listener.Close())
	server := exec.Command(temporalCLI(t), append([]string{
		"server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", fmt.Sprint(address.Port), "--log-level", "never",
	}, options...)...)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	var c client.Client
	await.True(t, func() bool {
		c, err = client.Dial(client.Options{HostPort: address.String(), Logger: slog.New(slog.DiscardHandler)})
		return err == nil
	})
	t.Cleanup(c.Close)
	return c
}

// waitForHosts waits for many hosts at once, as the workflows of each of them do.
func waitForHosts(ctx workflow.Context, hosts []activities.HostRef) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour, HeartbeatTimeout: time.Minute})
	var a *activities.Hosts
	var waits []workflow.Future
	for _, host := range hosts {
		waits = append(waits, workflow.ExecuteActivity(ctx, a.AwaitRediscovery, host))
	}
	for _, wait := range waits {
		if err := wait.Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func lookAtHost(ctx workflow.Context, host activities.HostRef) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	var a *activities.Hosts
	return workflow.ExecuteActivity(ctx, a.Standing, host).Get(ctx, nil)
}

// complete ends an installation with options like workflows.record.
func complete(ctx workflow.Context, cluster activities.InstallRequest) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: time.Second},
	})
	var a *activities.Clusters
	return workflow.ExecuteActivity(ctx, a.CompleteInstallation, cluster).Get(ctx, nil)
}

func (n *narrow) start(t *testing.T, what, request any) client.WorkflowRun {
	t.Helper()
	run, err := n.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "narrow"}, what, request)
	require.NoError(t, err)
	return run
}

func (n *narrow) host(t *testing.T, status model.HostStatus) activities.HostRef {
	t.Helper()
	h, err := n.store.RegisterHost(t.Context(), n.env, uuid.New(), func() *model.Host {
		return &model.Host{ClusterID: &n.cluster, Kind: model.KindHost, Status: status, Role: model.RoleWorker, AgentSteps: model.FineSteps}
	}, func(*model.Host, bool, *store.Tx) error { return nil })
	require.NoError(t, err)
	return activities.HostRef{ClusterID: n.cluster, InfraEnvID: n.env, HostID: h.ID}
}

func (n *narrow) open(t *testing.T) (open int) {
	t.Helper()
	rows, err := n.store.PendingActivities(t.Context(), n.cluster)
	require.NoError(t, err)
	for _, row := range rows {
		if row.Open() {
			open++
		}
	}
	return open
}

func (n *narrow) state(t *testing.T, id string) model.ActivityState {
	t.Helper()
	rows, err := n.store.PendingActivities(t.Context(), n.cluster)
	require.NoError(t, err)
	for _, row := range rows {
		if row.ID == id {
			return row.State
		}
	}
	return ""
}

func TestTemporalWaitsForAThousandHostsWithoutASlot(t *testing.T) {
	t.Parallel()
	n := newNarrow(t)
	n.forward(t)
	const workflows, each = 20, 50
	var hosts []activities.HostRef
	var waits []client.WorkflowRun
	for range workflows {
		var some []activities.HostRef
		for range each {
			some = append(some, n.host(t, model.HostResettingPendingUserAction))
		}
		hosts = append(hosts, some...)
		waits = append(waits, n.start(t, waitForHosts, some))
	}
	begun := time.Now()
	await.True(t, func() bool { return n.open(t) == workflows*each })
	t.Logf("%d hosts wait after %s", workflows*each, time.Since(begun).Round(time.Second/10))

	begun = time.Now()
	limit := await.Context(t)
	require.NoError(t, n.start(t, lookAtHost, hosts[0]).Get(limit, nil), "another activity has a slot")
	t.Logf("another activity took %s", time.Since(begun).Round(time.Millisecond))

	begun = time.Now()
	for _, host := range hosts {
		_, err := n.store.UpdateHost(t.Context(), host.InfraEnvID, host.HostID, func(h *model.Host, _ *store.Tx) error {
			h.Status = model.HostKnown
			return nil
		})
		require.NoError(t, err)
	}
	for _, wait := range waits {
		require.NoError(t, wait.Get(limit, nil))
	}
	t.Logf("all waits ended after %s", time.Since(begun).Round(time.Second/10))
	require.Zero(t, n.open(t))
}

// A row of a time that Temporal has forgotten, by the restore of a backup, has a task token with a number in the history that is the
// number of another activity now. Its result must not become the other's.
func TestTemporalTakesNoResultForAnotherActivity(t *testing.T) {
	t.Parallel()
	n := newNarrow(t)
	host := n.host(t, model.HostResettingPendingUserAction)
	wait := n.start(t, waitForHosts, []activities.HostRef{host})
	await.True(t, func() bool { return n.open(t) == 1 })
	rows, err := n.store.PendingActivities(t.Context(), n.cluster)
	require.NoError(t, err)
	forgotten := rows[0]
	forgotten.ID, forgotten.ActivityID = "reboot-0f2c9a41", "reboot 7"
	forgotten.Kind, forgotten.Type, forgotten.HostID, forgotten.InfraEnvID = model.ActivityMilestone, "forgotten", nil, nil
	_, err = n.store.ArmActivity(t.Context(), forgotten)
	require.NoError(t, err)
	_, err = n.store.UpdateCluster(t.Context(), n.cluster, func(c *model.Cluster, tx *store.Tx) error {
		tx.MilestonesReached(c.ID, []model.Milestone{"forgotten"})
		return nil
	})
	require.NoError(t, err)
	n.forward(t)
	await.True(t, func() bool { return n.state(t, forgotten.ID) == model.ActivityDone })
	described, err := n.DescribeWorkflowExecution(t.Context(), wait.GetID(), wait.GetRunID())
	require.NoError(t, err)
	require.Len(t, described.GetPendingActivities(), 1, "the host is still waited for")
	_, err = n.store.UpdateHost(t.Context(), host.InfraEnvID, host.HostID, func(h *model.Host, _ *store.Tx) error {
		h.Status = model.HostKnown
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, wait.Get(await.Context(t), nil))
}

// The details of a heartbeat have to outlive a try that fails, also of an activity without a limit for heartbeats.
func TestTemporalEndsAConflictThatDoesNotPass(t *testing.T) {
	t.Parallel()
	n := newNarrow(t)
	n.host(t, model.HostInstallingInProgress)
	_, err := n.store.UpdateCluster(t.Context(), n.cluster, func(c *model.Cluster, _ *store.Tx) error {
		c.Status = model.ClusterFinalizing
		return nil
	})
	require.NoError(t, err)
	begun := time.Now()
	limit := await.Context(t)
	err = n.start(t, complete, activities.InstallRequest{ClusterID: n.cluster}).Get(limit, nil)
	require.GreaterOrEqual(t, time.Since(begun), pass)
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, activities.FailureConflict, failure.Type(), failure.Error())
}
