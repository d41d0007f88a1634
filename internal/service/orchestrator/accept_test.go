package orchestrator_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
	"slipway/internal/service/evaluation"
	"slipway/internal/service/orchestrator"
	"slipway/internal/testing/fixtures"
)

// accepted is an Acceptance on a database of its own.
type accepted struct {
	orchestrator.Acceptance
	fixtures.Stores
}

func newAcceptance(t *testing.T) accepted {
	t.Helper()
	b := accepted{Stores: fixtures.Open(t, time.Now)}
	rules := evaluation.New(evaluation.Options{
		Store: b.Tables, Log: slog.New(slog.DiscardHandler), Now: time.Now, Timeouts: lifecycle.DefaultTimeouts(),
	})
	b.Acceptance = orchestrator.Acceptance{Store: b.Tables, Evaluation: rules}
	return b
}

func TestInstallOfAClusterThatIsNotReadyIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	b := newAcceptance(t)
	c := b.NewCluster(t, model.ClusterInsufficient, model.HostDiscovering, "", 3)
	_, err := b.Install(t.Context(), c.ID)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require status ready, found ")
}

func TestHostThatIsNotReadyIsNotInstalled(t *testing.T) {
	t.Parallel()
	b := newAcceptance(t)
	h := b.NewAddedHost(t, model.HostDiscovering, false, nil)
	_, err := b.InstallHost(t.Context(), h.InfraEnvID, h.ID)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require status known, found ")
	pending, err := b.Tables.UnstartedHostWorkflows(t.Context())
	require.NoError(t, err)
	require.Empty(t, pending)

	ofNew := b.HostsOf(t, b.NewCluster(t, model.ClusterReady, model.HostKnown, "", 3))[0]
	_, err = b.InstallHost(t.Context(), ofNew.InfraEnvID, ofNew.ID)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require a host added to an existing cluster")
}

func TestHostIsReclaimedByWhereItStands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status, after model.HostStatus
		attempt       int
	}{
		"an installed host fetches the image": {model.HostAddedToExistingCluster, model.HostReclaiming, 1},
		"a failed one waits for its user":     {model.HostError, model.HostUnbindingPendingUserAction, 0},
		"one in discovery leaves":             {model.HostDiscovering, model.HostUnbinding, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newAcceptance(t)
			h := b.NewAddedHost(t, tt.status, true, func(h *model.Host) { h.Stage = model.StageDone })
			attempt, err := b.Reclaim(t.Context(), h.InfraEnvID, h.ID)
			require.NoError(t, err)
			require.Equal(t, tt.attempt, attempt)
			got := b.Reload(t, h)
			require.Equal(t, tt.after, got.Status)
			require.Nil(t, got.ClusterID)
			require.Equal(t, h.ClusterID, got.FormerClusterID)
			require.Equal(t, model.KindHost, got.Kind)
			pending, err := b.Tables.UnstartedHostWorkflows(t.Context())
			require.NoError(t, err)
			require.Len(t, pending, tt.attempt)
			require.NoError(t, b.Tables.HostWorkflowStarted(t.Context(), h.InfraEnvID, h.ID, tt.attempt))
			pending, err = b.Tables.UnstartedHostWorkflows(t.Context())
			require.NoError(t, err)
			require.Empty(t, pending)
		})
	}
	b := newAcceptance(t)
	bound := b.NewAddedHost(t, model.HostAddedToExistingCluster, false, nil)
	_, err := b.Reclaim(t.Context(), bound.InfraEnvID, bound.ID)
	require.ErrorIs(t, err, model.ErrConflict, "its environment belongs to the cluster")
	busy := b.NewAddedHost(t, model.HostInstallingInProgress, true, nil)
	_, err = b.Reclaim(t.Context(), busy.InfraEnvID, busy.ID)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "installing-in-progress")
}

func TestHostOfARunningInstallationIsNotReclaimed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*model.Cluster){
		"that finalizes":            func(c *model.Cluster) { c.Status = model.ClusterFinalizing },
		"that waits for a command":  func(c *model.Cluster) { c.Status, c.DecisionOpen = model.ClusterError, true },
		"that prepares its cluster": func(c *model.Cluster) { c.Status = model.ClusterPreparingForInstallation },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newAcceptance(t)
			h := b.NewAddedHost(t, model.HostInstalled, true, nil)
			_, err := b.Tables.UpdateCluster(t.Context(), *h.ClusterID, func(c *model.Cluster, _ *store.Tx) error {
				change(c)
				return nil
			})
			require.NoError(t, err)
			_, err = b.Reclaim(t.Context(), h.InfraEnvID, h.ID)
			require.ErrorIs(t, err, model.ErrConflict)
			require.Equal(t, model.HostInstalled, b.Reload(t, h).Status)
		})
	}
}
