package activities_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/activities"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// isSuperseded reports whether an activity ended its workflow because the attempt is over.
func isSuperseded(t *testing.T, err error, text string) {
	t.Helper()
	require.ErrorContains(t, err, text)
	require.ErrorContains(t, err, "Superseded")
}

func TestValidationsBeforeAnInstallationAreListed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterPreparingForInstallation, model.HostPreparingForInstallation, "", 3)
	_, err := b.Tables.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.IgnoredClusterValidations = []string{"ntp-server-configured", "dns-domain-defined"}
		return nil
	})
	require.NoError(t, err)
	report, err := b.ValidateCluster(t.Context(), attempt(c))
	require.NoError(t, err)
	require.Contains(t, report.Passed, "all-hosts-are-ready-to-install")
	require.Contains(t, report.Passed, "ntp-server-configured", "it passes, ignored or not")
	require.Len(t, report.Ignored, 1)
	require.Equal(t, "dns-domain-defined", report.Ignored[0].ID, "this cluster has no domain")
	require.NotEmpty(t, report.Ignored[0].Message)
	var failed []string
	for _, f := range report.Failed {
		require.NotEmpty(t, f.Message, f.ID)
		failed = append(failed, f.ID)
	}
	require.NotContains(t, failed, "dns-domain-defined")

	hosts, err := b.ValidateHost(t.Context(), ref(b.HostsOf(t, c)[0]))
	require.NoError(t, err)
	require.NotEmpty(t, hosts.Failed, "this host has no inventory")
}

// A workflow of another attempt, or of one that has ended, was reset in Temporal's UI: it reads and changes nothing.
func TestActivitiesOfAnInstallationThatIsOverEndTheirWorkflow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status  model.ClusterStatus
		attempt int
	}{
		"another attempt":  {model.ClusterInstalling, 7},
		"it is installed":  {model.ClusterInstalled, 1},
		"it was cancelled": {model.ClusterCancelled, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c := b.NewCluster(t, tt.status, model.HostInstalled, model.StageDone, 3)
			request := activities.InstallRequest{ClusterID: c.ID, Attempt: tt.attempt}
			_, err := b.BeginPreparation(t.Context(), request)
			isSuperseded(t, err, "is over")
			_, err = b.ReviewInstallation(t.Context(), request)
			isSuperseded(t, err, "is over")
			if tt.attempt != 1 {
				isSuperseded(t, b.CancelInstallation(t.Context(), request), "is over")
				isSuperseded(t, b.CompleteInstallation(t.Context(), request), "is over")
				isSuperseded(t, b.FailInstallation(t.Context(), activities.ClusterFailure{ClusterID: c.ID, Attempt: tt.attempt}), "is over")
			}
			target := activities.ResetTarget{ClusterID: c.ID, Attempt: tt.attempt}
			_, err = b.BeginReset(t.Context(), target)
			isSuperseded(t, err, "there is nothing to reset")
			isSuperseded(t, b.FinishReset(t.Context(), target), "there is nothing to reset")
			now, err := b.Tables.Cluster(t.Context(), c.ID)
			require.NoError(t, err)
			require.Equal(t, tt.status, now.Status)
		})
	}
}

func TestPlanOfAnInstallationThatIsUnderWayContinuesIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterInstalling, model.HostInstallingInProgress, model.StageWritingImageToDisk, 3)
	plan, err := b.BeginPreparation(t.Context(), attempt(c))
	require.NoError(t, err)
	require.True(t, plan.Continues)
	require.Len(t, plan.Hosts, 3)
	require.Empty(t, plan.Stalled)
	_, err = b.Tables.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
		c.Status, c.StatusInfo, c.DecisionOpen = model.ClusterError, "the installation took more than 1h", true
		return nil
	})
	require.NoError(t, err)
	plan, err = b.BeginPreparation(t.Context(), attempt(c))
	require.NoError(t, err)
	require.Equal(t, "the installation took more than 1h", plan.Stalled)
}

// The workflow was ended in the preparation, when one host had passed its checks and another one had failed them.
func TestPreparationThatWasInterruptedBeginsAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterPreparingForInstallation, model.HostPreparingForInstallation, "", 3)
	for i, status := range []model.HostStatus{model.HostPreparingSuccessful, model.HostPreparingFailed} {
		h := b.HostsOf(t, c)[i]
		_, err := b.Tables.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.Status = status
			return nil
		})
		require.NoError(t, err)
	}
	plan, err := b.BeginPreparation(t.Context(), attempt(c))
	require.NoError(t, err)
	require.False(t, plan.Continues)
	for _, h := range b.HostsOf(t, c) {
		require.Equal(t, model.HostPreparingForInstallation, h.Status)
	}
}

func TestConcludedPreparationIsNotConcludedOnceMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterFinalizing, model.HostInstalled, model.StageDone, 3)
	outcome, err := b.ConcludePreparation(t.Context(), activities.PreparationConclusion{
		InstallRequest: attempt(c), Outcome: activities.PreparationOutcome{Reason: "the preparation took too long"},
	})
	require.NoError(t, err)
	require.True(t, outcome.Ready, "what a workflow believes that was reset in Temporal's UI")
	now, err := b.Tables.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, model.ClusterFinalizing, now.Status)
}

func TestResetTargetsOfEarlierVersionsAreRead(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	for _, text := range []string{`"` + id.String() + `"`, `{"ClusterID":"` + id.String() + `"}`} {
		var target activities.ResetTarget
		require.NoError(t, target.UnmarshalJSON([]byte(text)))
		require.Equal(t, activities.ResetTarget{ClusterID: id}, target)
	}
}
