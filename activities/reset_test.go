package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// While agents are asked to stop, evaluations see no installation that lacks hosts: clients that wait for a cluster fail
// when they read `error`. Hosts that left the live image wait for their user all the time.
func TestClusterIsBeforeItsInstallationAsSoonAsAResetBegins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, from := range []model.ClusterStatus{
		"preparing-for-installation", "installing", "installing-pending-user-action", "finalizing", "error", "cancelled",
	} {
		for name, host := range map[string]struct {
			status model.HostStatus
			stage  model.Stage
			then   model.HostStatus
		}{
			"in the live image": {"installing-in-progress", "Writing image to disk", "resetting"},
			"left it":           {"installing-in-progress", "Configuring", "resetting-pending-user-action"},
			"has failed":        {"error", "Writing image to disk", "resetting"},
		} {
			t.Run(string(from)+", host "+name, func(t *testing.T) {
				t.Parallel()
				c := b.NewCluster(t, from, host.status, host.stage, 3)
				target := activities.ResetTarget{ClusterID: c.ID, Attempt: 1}
				_, err := b.BeginReset(t.Context(), target)
				require.NoError(t, err)
				require.EqualValues(t, "insufficient", b.StatusOf(t, c))
				for range 3 {
					require.NoError(t, b.Clusters.Evaluation.RefreshCluster(t.Context(), c.ID))
					require.Contains(t, []model.ClusterStatus{"insufficient", "pending-for-input"}, b.StatusOf(t, c))
					require.Equal(t, host.then, b.HostsOf(t, c)[0].Status)
				}
				require.NoError(t, b.FinishReset(t.Context(), target))
				require.Equal(t, 1, b.resets(t, c), "events of the reset")
			})
		}
	}
}

// A reset that was begun by a version that left the status of the cluster is finished too.
func TestResetThatAnOlderVersionBeganIsFinished(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, status := range []model.ClusterStatus{"installing", "error"} {
		c := b.NewCluster(t, status, "resetting", "", 3)
		require.NoError(t, b.FinishReset(t.Context(), activities.ResetTarget{ClusterID: c.ID, Attempt: 1}))
		require.EqualValues(t, "insufficient", b.StatusOf(t, c))
		require.Equal(t, 1, b.resets(t, c), "events of the reset")
	}
}

// resets counts the events of resets of a cluster.
func (b bench) resets(t *testing.T, c *model.Cluster) (n int) {
	t.Helper()
	page, err := b.Tables.Events(t.Context(), store.EventFilter{ClusterID: c.ID})
	require.NoError(t, err)
	for _, event := range page.Events {
		if event.Name == "cluster_installation_reset" {
			n++
		}
	}
	return n
}
