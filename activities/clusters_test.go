package activities_test

import (
	"encoding/pem"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"slipway/activities"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/service/evaluation"
	"slipway/internal/service/orchestrator"
	"slipway/internal/service/reports"
	"slipway/internal/testing/fixtures"
)

// bench is the activities of clusters and hosts, and the commands before them, on a database and a folder of their own.
type bench struct {
	commands orchestrator.Acceptance
	Reports  reports.Clusters
	*activities.Clusters
	*activities.Hosts
	fixtures.Stores
	rules *evaluation.Evaluator
}

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{Stores: fixtures.Open(t, time.Now)}
	limits := activities.Timeouts{Timeouts: lifecycle.DefaultTimeouts()}
	b.rules = evaluation.New(evaluation.Options{
		Store: b.Tables, Log: slog.New(slog.DiscardHandler), Now: time.Now, Timeouts: limits.Timeouts,
	})
	b.commands = orchestrator.Acceptance{Store: b.Tables, Evaluation: b.rules}
	b.Reports = reports.Clusters{Store: b.Tables, Blob: b.Files}
	b.Clusters = &activities.Clusters{Store: b.Tables, Blob: b.Files, Evaluation: b.rules, Timeouts: limits, CheckClusterVersion: true}
	b.Hosts = &activities.Hosts{Store: b.Tables, Evaluation: b.rules, Timeouts: limits}
	return b
}

// attempt names the attempt to install a cluster of a test.
func attempt(c *model.Cluster) activities.InstallRequest {
	return activities.InstallRequest{ClusterID: c.ID, Attempt: 1}
}

// ref names a host of a test.
func ref(h *model.Host) activities.HostRef {
	return activities.HostRef{ClusterID: *h.ClusterID, InfraEnvID: h.InfraEnvID, HostID: h.ID}
}

func reclaimFailure(h *model.Host, attempt int, why string) activities.ReclaimFailure {
	return activities.ReclaimFailure{ReclaimRequest: activities.ReclaimRequest{HostRef: ref(h), Attempt: attempt}, Reason: why}
}

func TestPreparationFreezesRolesAndElectsOneBootstrapHost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterPreparingForInstallation, model.HostKnown, "", 3)
	for range 2 { // the activity may run twice
		plan, err := b.BeginPreparation(t.Context(), attempt(c))
		require.NoError(t, err)
		require.True(t, plan.Hosts[0].Bootstrap)
		require.False(t, plan.Hosts[1].Bootstrap || plan.Hosts[2].Bootstrap)
	}
	for _, h := range b.HostsOf(t, c) {
		require.Equal(t, model.RoleMaster, h.Role)
		require.True(t, h.AutoRole)
		require.Equal(t, model.HostPreparingForInstallation, h.Status)
	}
}

func TestPlanHasTheFailurePolicyOfItsCluster(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		service time.Duration // its --decision-timeout
		cluster model.FailurePolicy
		want    time.Duration
	}{
		"as the service waits":         {time.Hour, "", time.Hour},
		"as the service does not wait": {0, "", 0},
		"fail":                         {time.Hour, "fail", 0},
		"wait as the service does":     {time.Hour, "wait", time.Hour},
		"wait although it does not":    {0, "wait", 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Clusters.Timeouts.Decision = tt.service
			c := b.NewCluster(t, model.ClusterPreparingForInstallation, model.HostKnown, "", 3)
			_, err := b.Tables.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
				c.OnFailure = tt.cluster
				return nil
			})
			require.NoError(t, err)
			plan, err := b.BeginPreparation(t.Context(), attempt(c))
			require.NoError(t, err)
			require.Equal(t, tt.want, plan.Timeouts.Decision)
		})
	}
}

func TestPreparationOfAHostThatWasLostReturnsTheClusterToDiscovery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterPreparingForInstallation, model.HostDisconnected, "", 3)
	_, err := b.BeginPreparation(t.Context(), attempt(c))
	requireRefused(t, err)
	require.ErrorContains(t, err, "is disconnected")
	require.Equal(t, model.ClusterInsufficient, b.StatusOf(t, c))
}

func TestCancelLeavesPreparingClustersReadyAndOthersCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	preparing := b.NewCluster(t, model.ClusterPreparingForInstallation, model.HostPreparingSuccessful, "", 3)
	require.NoError(t, b.CancelInstallation(t.Context(), attempt(preparing)))
	require.Equal(t, model.ClusterReady, b.StatusOf(t, preparing))
	installing := b.NewCluster(t, model.ClusterInstalling, model.HostInstallingInProgress, model.StageWritingImageToDisk, 3)
	require.NoError(t, b.CancelInstallation(t.Context(), attempt(installing)))
	require.Equal(t, model.ClusterCancelled, b.StatusOf(t, installing))
	require.Equal(t, model.HostCancelled, b.HostsOf(t, installing)[0].Status)
}

func TestResetStopsAgentsInTheLiveImageAndAsksUsersForTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	live := b.NewCluster(t, model.ClusterInstalling, model.HostInstallingInProgress, model.StageWritingImageToDisk, 3)
	plan, err := b.BeginReset(t.Context(), activities.ResetTarget{ClusterID: live.ID})
	require.NoError(t, err)
	require.Len(t, plan.Stop, 3)
	require.NoError(t, b.FinishReset(t.Context(), activities.ResetTarget{ClusterID: live.ID}))
	require.Equal(t, model.ClusterInsufficient, b.StatusOf(t, live))
	for _, h := range b.HostsOf(t, live) {
		require.Equal(t, model.HostDiscovering, h.Status)
		require.Empty(t, h.Stage)
	}
	// The services of a bootstrap run until its host is booted, whatever its agent does.
	began := b.NewCluster(t, model.ClusterInstalling, model.HostInstallingInProgress, model.StageWaitingForBootkube, 3)
	first, again := b.HostsOf(t, began)[0], b.HostsOf(t, began)[1]
	for h, boot := range map[*model.Host]string{first: "this", again: "the one before"} {
		_, err := b.Clusters.Store.UpdateHost(t.Context(), h.InfraEnvID, h.ID, func(h *model.Host, _ *store.Tx) error {
			h.Boot, h.BootstrapBoot = "this", boot
			return nil
		})
		require.NoError(t, err)
	}
	plan, err = b.BeginReset(t.Context(), activities.ResetTarget{ClusterID: began.ID})
	require.NoError(t, err)
	require.Len(t, plan.Stop, 3, "the agent of the bootstrap host stops too")
	require.NoError(t, b.FinishReset(t.Context(), activities.ResetTarget{ClusterID: began.ID}))
	for _, h := range b.HostsOf(t, began) {
		want := map[bool]model.HostStatus{true: model.HostResettingPendingUserAction, false: model.HostDiscovering}[h.ID == first.ID]
		require.Equal(t, want, h.Status)
	}

	booted := b.NewCluster(t, model.ClusterError, model.HostError, model.StageConfiguring, 3)
	plan, err = b.BeginReset(t.Context(), activities.ResetTarget{ClusterID: booted.ID})
	require.NoError(t, err)
	require.Empty(t, plan.Stop)
	require.NoError(t, b.FinishReset(t.Context(), activities.ResetTarget{ClusterID: booted.ID}))
	require.Equal(t, model.HostResettingPendingUserAction, b.HostsOf(t, booted)[0].Status)
}

func TestResetDeletesWhatTheInstallationGeneratedAndNothingElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterError, model.HostError, model.StageWritingImageToDisk, 1)
	h := b.HostsOf(t, c)[0]
	generated := []string{"kubeadmin-password", "kubeconfig", "installer.log", "master-" + h.ID.String() + ".ign", "worker.ign"}
	kept := []string{"logs/controller/logs.tar.gz", "manifests/openshift/a.yaml"}
	for _, name := range append(generated, kept...) {
		_, err := b.Files.PutSecret(t.Context(), blob.ClusterFile(c.ID, name), []byte("content"))
		require.NoError(t, err)
	}
	require.NoError(t, b.FinishReset(t.Context(), activities.ResetTarget{ClusterID: c.ID}))
	left, err := b.Files.List(t.Context(), blob.ClusterFolder(c.ID))
	require.NoError(t, err)
	require.Len(t, left, len(kept))
	for i, name := range kept {
		require.Equal(t, blob.ClusterFile(c.ID, name), left[i].Key)
	}
}

func TestFailedHostWaitsForADecisionUntilItsNextAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterInstalling, model.HostInstallingInProgress, model.StageWritingImageToDisk, 3)
	h := b.HostsOf(t, c)[0]
	require.NoError(t, b.FailHost(t.Context(), activities.HostFailure{HostRef: ref(h), Reason: "I/O error"}))
	h = b.HostsOf(t, c)[0]
	require.Equal(t, model.HostError, h.Status)
	require.True(t, h.DecisionOpen)
	require.NoError(t, b.BeginAttempt(t.Context(), activities.AttemptRequest{HostRef: ref(h), Attempt: 2, FromStart: true}))
	h = b.HostsOf(t, c)[0]
	require.Equal(t, model.HostInstalling, h.Status)
	require.False(t, h.DecisionOpen)
	require.Empty(t, h.Stage)
}

func TestClusterThatIsGoneCannotBeCompleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	err := b.CompleteInstallation(t.Context(), activities.InstallRequest{ClusterID: uuid.New()})
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	require.True(t, failure.NonRetryable(), "no later try finds it")
}

func TestHostsOfAFailedInstallationWaitForNoDecision(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterInstalling, model.HostInstallingInProgress, model.StageWritingImageToDisk, 3)
	h := b.HostsOf(t, c)[0]
	require.NoError(t, b.FailHost(t.Context(), activities.HostFailure{HostRef: ref(h), Reason: "I/O error"}))
	require.NoError(t, b.FailInstallation(t.Context(), activities.ClusterFailure{ClusterID: c.ID, Reason: "paused", Waiting: true}))
	require.True(t, b.HostsOf(t, c)[0].DecisionOpen, "its workflow still waits")
	require.NoError(t, b.FailInstallation(t.Context(), activities.ClusterFailure{ClusterID: c.ID, Reason: "time ran out"}))
	require.False(t, b.HostsOf(t, c)[0].DecisionOpen)
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: prod
  cluster: {server: "https://api.prod.example.com:6443", certificate-authority-data: ""}
`

func TestMilestonesAreReachedByReports(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.NewCluster(t, model.ClusterFinalizing, model.HostInstalled, model.StageDone, 1)
	require.NoError(t, b.Tables.Write(t.Context(), func(tx *store.Tx) error {
		tx.Operators(
			model.MonitoredOperator{ClusterID: c.ID, Name: "cvo", Type: "builtin"},
			model.MonitoredOperator{ClusterID: c.ID, Name: "odf", Type: "olm"},
		)
		return nil
	}))
	reached := func(m model.Milestone) bool {
		ok, _, err := b.Reports.Milestone(t.Context(), c.ID, m)
		require.NoError(t, err)
		return ok
	}
	require.False(t, reached(model.MilestoneOperatorsAvailable))
	available := model.MonitoredOperator{ClusterID: c.ID, Name: "cvo", Status: model.OperatorAvailable}
	require.NoError(t, b.Reports.ReportOperator(t.Context(), available))
	require.False(t, reached(model.MilestoneOperatorsAvailable))
	failed := model.MonitoredOperator{ClusterID: c.ID, Name: "odf", Status: model.OperatorFailed}
	require.NoError(t, b.Reports.ReportOperator(t.Context(), failed))
	require.True(t, reached(model.MilestoneOperatorsAvailable), "an optional operator may fail")

	_, err := b.Files.PutSecret(t.Context(), blob.ClusterFile(c.ID, "kubeconfig-noingress"), []byte(kubeconfig))
	require.NoError(t, err)
	require.ErrorIs(t, b.Reports.IngressCert(t.Context(), c.ID, "nonsense"), model.ErrInvalid)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})
	require.NoError(t, b.Reports.IngressCert(t.Context(), c.ID, string(cert)))
	require.True(t, reached(model.MilestoneIngressCertificate))
	full, err := b.Files.Get(t.Context(), blob.ClusterFile(c.ID, "kubeconfig"))
	require.NoError(t, err)
	require.Contains(t, string(full), "certificate-authority-data: LS0t")

	require.False(t, reached(model.MilestoneCompletion))
	require.NoError(t, b.Reports.Complete(t.Context(), c.ID, true, ""))
	require.True(t, reached(model.MilestoneCompletion))
	require.NoError(t, b.CompleteInstallation(t.Context(), attempt(c)))
	require.Equal(t, model.ClusterInstalled, b.StatusOf(t, c))
	finished, err := b.Tables.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, "Cluster is installed, but these operators failed: odf", finished.StatusInfo)
}
