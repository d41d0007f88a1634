package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/service/evaluation"
)

// wait runs an activity of a host or cluster as the first one of a workflow.
func wait(of, activity, request any) error {
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	env.RegisterActivity(of)
	_, err := env.ExecuteActivity(activity, request)
	return err
}

func (x *scene) status(t *testing.T, status model.HostStatus) {
	t.Helper()
	_, err := x.store.UpdateHost(t.Context(), x.ref.InfraEnvID, x.ref.HostID, func(h *model.Host, _ *store.Tx) error {
		h.Status = status
		return nil
	})
	require.NoError(t, err)
}

// theWait returns the only row.
func (x *scene) theWait(t *testing.T) model.PendingActivity {
	t.Helper()
	rows := x.commanded(t)
	require.Len(t, rows, 1)
	require.Equal(t, model.ActivityStatus, rows[0].Kind)
	return rows[0]
}

func TestWaitForTheLiveImageHoldsNoSlotAndEndsWithTheHostsStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []model.HostStatus{"known", "preparing-for-installation", "preparing-successful", "installing"} {
		x := newScene(t)
		hosts := &activities.Hosts{Store: x.store}
		x.status(t, "resetting-pending-user-action")
		require.ErrorIs(t, wait(hosts, hosts.AwaitRediscovery, x.ref), activity.ErrResultPending)
		for _, other := range []model.HostStatus{"discovering", "insufficient", "error", "disconnected"} {
			x.status(t, other)
			require.Equal(t, model.ActivityPending, x.theWait(t).State, other)
		}
		x.status(t, status)
		require.Equal(t, model.ActivityReported, x.theWait(t).State, status)
		require.NoError(t, wait(hosts, hosts.AwaitRediscovery, x.ref), "a second try finds the result")
		require.Equal(t, model.ActivityDone, x.theWait(t).State)
	}
}

func TestHostThatIsInTheLiveImageAlreadyIsNotAwaited(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	hosts := &activities.Hosts{Store: x.store}
	x.status(t, "known")
	require.NoError(t, wait(hosts, hosts.AwaitRediscovery, x.ref))
	require.Equal(t, model.ActivityDone, x.theWait(t).State)
}

// The registration of a reclaimed host voids its steps: their replies may be lost in its reboot.
func TestWaitForThePoolEndsWhenTheHostRegisters(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	hosts := &activities.Hosts{Store: x.store}
	service := discovery.New(discovery.Options{
		Store: x.store, Timeouts: lifecycle.DefaultTimeouts(), Now: x.store.Now,
		Evaluation: evaluation.New(evaluation.Options{Store: x.store, Timeouts: lifecycle.DefaultTimeouts(), Now: x.store.Now}),
	})
	x.status(t, "reclaiming")
	require.ErrorIs(t, wait(hosts, hosts.AwaitPool, x.ref), activity.ErrResultPending)
	x.status(t, "reclaiming-rebooting")
	require.Equal(t, model.ActivityPending, x.theWait(t).State)
	_, err := x.store.UpdateHost(t.Context(), x.ref.InfraEnvID, x.ref.HostID, func(h *model.Host, _ *store.Tx) error {
		h.LeaveCluster()
		return nil
	})
	require.NoError(t, err)
	_, err = service.Register(t.Context(), discovery.RegisterInput{
		InfraEnvID: x.ref.InfraEnvID, HostID: x.ref.HostID, AgentSteps: model.FineSteps, Boot: "boot-2",
	})
	require.NoError(t, err)
	require.Equal(t, model.ActivityReported, x.theWait(t).State)
}

func TestWaitForAHostThatIsGoneEnds(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	hosts := &activities.Hosts{Store: x.store}
	require.NoError(t, x.store.DeleteHost(t.Context(), x.ref.InfraEnvID, x.ref.HostID, func(*model.Host, *store.Tx) error { return nil }))
	requireRefused(t, wait(hosts, hosts.AwaitRediscovery, x.ref))
}

func TestWaitForAClusterThatNeedsItsUserEndsWithItsStatus(t *testing.T) {
	t.Parallel()
	x := newScene(t)
	clusters := &activities.Clusters{Store: x.store}
	status := func(status model.ClusterStatus) {
		_, err := x.store.UpdateCluster(t.Context(), x.ref.ClusterID, func(c *model.Cluster, _ *store.Tx) error {
			c.Status = status
			return nil
		})
		require.NoError(t, err)
	}
	request := activities.InstallRequest{ClusterID: x.ref.ClusterID}
	require.ErrorIs(t, wait(clusters, clusters.AwaitUserNeeded, request), activity.ErrResultPending)
	x.status(t, "installing-pending-user-action")
	status("finalizing")
	require.Equal(t, model.ActivityPending, x.theWait(t).State, "the status of a host is not its cluster's")
	status("installing-pending-user-action")
	require.Equal(t, model.ActivityReported, x.theWait(t).State)
}
