package lifecycle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// history records what a transition leaves for users.
type history struct{ events []model.Event }

func (h *history) Now() time.Time { return now }

func (h *history) Event(list ...model.Event) { h.events = append(h.events, list...) }

func (h *history) names() []string {
	var out []string
	for _, e := range h.events {
		out = append(out, e.Name)
	}
	return out
}

func TestHistoryTellsWhatUsersCareAbout(t *testing.T) {
	t.Parallel()
	const changed = "host_status_updated"
	for _, tt := range []struct {
		name   string
		event  lifecycle.HostEvent
		from   model.HostStatus
		info   string
		change func(*hf)
		want   []string
	}{
		{"a status that changes", refresh, "insufficient", "old", nil, []string{changed}},
		{"a refresh that finds other words", refresh, "known", "old", nil, nil},
		{"a report that finds other words", progress, "installing-in-progress", "old", stage(model.StageConfiguring), nil},
		{"a workflow that finds other words", lifecycle.FailHost, "error", "old", because("new"), []string{changed}},
		{"a workflow that finds the same words", lifecycle.FailHost, "error", "new", because("new"), nil},
		{
			"a stage that takes long", lifecycle.StageTimedOut, "installing-in-progress", "old",
			all(soft, over(model.StageConfiguring, time.Hour)),
			[]string{changed, "host_stage_timed_out"},
		},
		{"a cancellation", lifecycle.CancelHost, "installing", "old", nil, []string{changed, "host_installation_cancelled"}},
		{"a reset", lifecycle.FinishHostReset, "resetting", "old", nil, []string{changed, "host_installation_reset"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, facts, rec := host(1, model.RoleMaster, tt.from), fineHost(), &history{}
			h.StatusInfo = tt.info
			if tt.change != nil {
				tt.change(&facts)
			}
			_, err := lifecycle.ApplyHost(h, tt.event, facts, rec)
			require.NoError(t, err)
			require.Equal(t, tt.want, rec.names())
		})
	}
}

// The name of the host is dropped with its other facts.
func TestEventOfAResetNamesTheHost(t *testing.T) {
	t.Parallel()
	h, rec := host(1, model.RoleMaster, "resetting"), &history{}
	h.RequestedHostname = ""
	h.Inventory = &wire.Inventory{Hostname: "from-its-inventory"}
	_, err := lifecycle.ApplyHost(h, lifecycle.FinishHostReset, fineHost(), rec)
	require.NoError(t, err)
	for _, e := range rec.events {
		require.Contains(t, e.Message, "from-its-inventory", e.Name)
	}
}

func TestTransitionSetsStatusInfoAndEvent(t *testing.T) {
	t.Parallel()
	h, facts, rec := host(1, model.RoleMaster, model.HostInstallingInProgress), fineHost(), &history{}
	h.RequestedHostname = ""
	facts.Reason = "Writing image to disk: I/O error"
	tr, err := lifecycle.ApplyHost(h, lifecycle.FailHost, facts, rec)
	require.NoError(t, err)
	require.Equal(t, model.HostInstallingInProgress, tr.From)
	require.Equal(t, model.HostError, h.Status)
	require.Equal(t, facts.Reason, h.StatusInfo)
	require.True(t, h.DecisionOpen)
	require.Len(t, rec.events, 1)
	require.Equal(t, map[string]any{
		"src_status": "installing-in-progress", "new_status": "error", "info": facts.Reason, "host_name": h.ID.String(),
	}, rec.events[0].Props, "a host without a name is called by its id")
	require.Equal(t, model.SeverityError, rec.events[0].Severity)
}

func TestRefusedEventChangesNothing(t *testing.T) {
	t.Parallel()
	h, rec := host(1, model.RoleMaster, model.HostKnown), &history{}
	h.StatusInfo = "fine"
	_, err := lifecycle.ApplyHost(h, lifecycle.RebootTimedOut, fineHost(), rec)
	require.ErrorIs(t, err, model.ErrConflict)
	c := &model.Cluster{Status: model.ClusterReady, StatusInfo: "fine"}
	_, err = lifecycle.ApplyCluster(c, lifecycle.CancelCluster, fineCluster(), rec)
	require.ErrorIs(t, err, model.ErrConflict)
	require.Equal(t, []string{"known", "fine", "ready", "fine"}, []string{string(h.Status), h.StatusInfo, string(c.Status), c.StatusInfo})
	require.Empty(t, rec.events)
}

func TestClusterEffectsAreCarriedOut(t *testing.T) {
	t.Parallel()
	c, rec := &model.Cluster{Status: model.ClusterReady, InstallAttempt: 1, WorkflowStarted: true}, &history{}
	apply := func(event lifecycle.ClusterEvent, change func(*cf)) {
		facts := fineCluster()
		if change != nil {
			change(&facts)
		}
		_, err := lifecycle.ApplyCluster(c, event, facts, rec)
		require.NoError(t, err)
	}
	apply(lifecycle.PrepareCluster, nil)
	require.Equal(t, 2, c.InstallAttempt)
	require.False(t, c.WorkflowStarted, "the workflow is still to be started")
	require.Equal(t, now, c.InstallStartedAt)
	apply(lifecycle.CancelCluster, reason("the installation was cancelled"))
	require.Equal(t, model.ClusterReady, c.Status)
	require.Equal(t, model.Preparation{Status: "failed", Reason: "the installation was cancelled"}, c.LastPreparation)
	require.Equal(t, []string{
		"cluster_status_updated", "cluster_prepare_installation_started",
		"cluster_status_updated", "prepare_installation_failed", "cluster_installation_canceled",
	}, rec.names())
	c.Status, c.InstallCompletedAt = model.ClusterInstalling, time.Time{}
	apply(lifecycle.CancelCluster, nil)
	require.Equal(t, now, c.InstallCompletedAt, "a cancelled installation has an end too")
	c.Status, rec.events = model.ClusterFinalizing, nil
	apply(lifecycle.FinishInstallation, func(f *cf) { f.AllHostsDone = true })
	require.Equal(t, now, c.InstallCompletedAt)
	require.Equal(t, 100, c.Progress.Total)
	apply(lifecycle.OpenForHosts, nil)
	require.True(t, c.DayTwo())
	require.Equal(t, []string{"cluster_status_updated", "cluster_installation_completed", "cluster_status_updated"}, rec.names())
}
