package installation_test

import (
	"encoding/pem"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
	"slipway/internal/service/discovery"
	"slipway/internal/service/installation"
	"slipway/internal/testing/pgtest"
)

// bench is a service on a database and a folder of its own.
type bench struct {
	*installation.Service
	store *store.Store
	blob  *blob.Store
}

func newBench(t *testing.T) bench {
	t.Helper()
	url := pgtest.Migrated(t, store.Migrate)
	sealer, err := encryption.New(make([]byte, encryption.KeySize))
	require.NoError(t, err)
	s, err := store.Open(t.Context(), store.Options{URL: url, Sealer: sealer, Now: time.Now})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	files, err := blob.Open(t.Context(), "file://"+t.TempDir(), sealer)
	require.NoError(t, err)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	d := discovery.New(discovery.Options{Store: s, Log: log, Now: time.Now, Timeouts: lifecycle.DefaultTimeouts()})
	return bench{installation.New(installation.Options{Store: s, Blob: files, Discovery: d, Log: log, CheckClusterVersion: true}), s, files}
}

// cluster makes a cluster in a status, with hosts in another.
func (b bench) cluster(t *testing.T, status model.ClusterStatus, hostStatus model.HostStatus, stage model.Stage, hosts int) *model.Cluster {
	t.Helper()
	c := &model.Cluster{
		ID: uuid.New(), Kind: model.KindCluster, Name: "prod", Status: status, WorkflowStarted: true, InstallAttempt: 1,
		ControlPlaneCount: hosts, PullSecret: "s",
	}
	require.NoError(t, b.store.CreateCluster(t.Context(), c, func(*store.Tx) {}))
	env := &model.InfraEnv{ID: uuid.New(), ClusterID: &c.ID, Name: "env"}
	require.NoError(t, b.store.CreateInfraEnv(t.Context(), env, func(*store.Tx) {}))
	for range hosts {
		_, err := b.store.RegisterHost(t.Context(), env.ID, uuid.New(), func() *model.Host {
			return &model.Host{
				ClusterID: &c.ID, Kind: model.KindHost, Status: hostStatus, Role: model.RoleAutoAssign, SuggestedRole: model.RoleMaster,
				AgentSteps: model.FineSteps, Stage: stage,
			}
		}, func(h *model.Host, _ bool, tx *store.Tx) error { tx.CheckIn(h); return nil })
		require.NoError(t, err)
	}
	return c
}

func (b bench) hosts(t *testing.T, c *model.Cluster) []*model.Host {
	t.Helper()
	hosts, err := b.store.ClusterHosts(t.Context(), c.ID)
	require.NoError(t, err)
	return hosts
}

func (b bench) status(t *testing.T, c *model.Cluster) model.ClusterStatus {
	t.Helper()
	got, err := b.store.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	return got.Status
}

func TestInstallOfAClusterThatIsNotReadyIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cluster(t, model.ClusterInsufficient, model.HostDiscovering, "", 3)
	_, err := b.Accept(t.Context(), c.ID)
	require.ErrorIs(t, err, model.ErrConflict)
	require.ErrorContains(t, err, "require status ready, found ")
}

func TestPreparationFreezesRolesAndElectsOneBootstrapHost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cluster(t, model.ClusterPreparingForInstallation, model.HostKnown, "", 3)
	for range 2 { // the activity may run twice
		_, hosts, refused, err := b.BeginPreparation(t.Context(), c.ID, 1)
		require.NoError(t, err)
		require.Empty(t, refused)
		require.True(t, hosts[0].Bootstrap)
		require.False(t, hosts[1].Bootstrap || hosts[2].Bootstrap)
	}
	for _, h := range b.hosts(t, c) {
		require.Equal(t, model.RoleMaster, h.Role)
		require.True(t, h.AutoRole)
		require.Equal(t, model.HostPreparingForInstallation, h.Status)
	}
}

func TestPreparationOfAHostThatWasLostTakesTheClusterBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cluster(t, model.ClusterPreparingForInstallation, model.HostDisconnected, "", 3)
	_, _, refused, err := b.BeginPreparation(t.Context(), c.ID, 1)
	require.NoError(t, err)
	require.Contains(t, refused, "is disconnected")
	require.Equal(t, model.ClusterInsufficient, b.status(t, c))
}

func TestCancelLeavesPreparingClustersReadyAndOthersCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	preparing := b.cluster(t, model.ClusterPreparingForInstallation, model.HostPreparingSuccessful, "", 3)
	require.NoError(t, b.Cancel(t.Context(), preparing.ID))
	require.Equal(t, model.ClusterReady, b.status(t, preparing))
	installing := b.cluster(t, model.ClusterInstalling, model.HostInstallingInProgress, model.StageWritingImageToDisk, 3)
	require.NoError(t, b.Cancel(t.Context(), installing.ID))
	require.Equal(t, model.ClusterCancelled, b.status(t, installing))
	require.Equal(t, model.HostCancelled, b.hosts(t, installing)[0].Status)
}

func TestResetStopsAgentsInTheLiveImageAndAsksUsersForTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	live := b.cluster(t, model.ClusterInstalling, model.HostInstallingInProgress, model.StageWritingImageToDisk, 3)
	stop, err := b.BeginReset(t.Context(), live.ID)
	require.NoError(t, err)
	require.Len(t, stop, 3)
	require.NoError(t, b.FinishReset(t.Context(), live.ID))
	require.Equal(t, model.ClusterInsufficient, b.status(t, live))
	for _, h := range b.hosts(t, live) {
		require.Equal(t, model.HostDiscovering, h.Status)
		require.Empty(t, h.Stage)
	}
	booted := b.cluster(t, model.ClusterError, model.HostError, model.StageConfiguring, 3)
	stop, err = b.BeginReset(t.Context(), booted.ID)
	require.NoError(t, err)
	require.Empty(t, stop)
	require.NoError(t, b.FinishReset(t.Context(), booted.ID))
	require.Equal(t, model.HostResettingPendingUserAction, b.hosts(t, booted)[0].Status)
}

func TestResetDeletesWhatTheInstallationGeneratedAndNothingElse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cluster(t, model.ClusterError, model.HostError, model.StageWritingImageToDisk, 1)
	h := b.hosts(t, c)[0]
	generated := []string{"kubeadmin-password", "kubeconfig", "installer.log", "master-" + h.ID.String() + ".ign", "worker.ign"}
	kept := []string{"logs/controller/logs.tar.gz", "manifests/openshift/a.yaml"}
	for _, name := range append(generated, kept...) {
		_, err := b.blob.PutSecret(t.Context(), installation.Key(c.ID, name), []byte("content"))
		require.NoError(t, err)
	}
	require.NoError(t, b.FinishReset(t.Context(), c.ID))
	left, err := b.blob.List(t.Context(), installation.Folder(c.ID))
	require.NoError(t, err)
	require.Len(t, left, len(kept))
	for i, name := range kept {
		require.Equal(t, installation.Key(c.ID, name), left[i].Key)
	}
}

func TestFailedHostWaitsForADecisionUntilItsNextAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cluster(t, model.ClusterInstalling, model.HostInstallingInProgress, model.StageWritingImageToDisk, 3)
	h := b.hosts(t, c)[0]
	require.NoError(t, b.Fail(t.Context(), h.InfraEnvID, h.ID, "I/O error"))
	h = b.hosts(t, c)[0]
	require.Equal(t, model.HostError, h.Status)
	require.True(t, h.DecisionOpen)
	require.NoError(t, b.BeginAttempt(t.Context(), h.InfraEnvID, h.ID, 2, true))
	h = b.hosts(t, c)[0]
	require.Equal(t, model.HostInstalling, h.Status)
	require.False(t, h.DecisionOpen)
	require.Empty(t, h.Stage)
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
	c := b.cluster(t, model.ClusterFinalizing, model.HostInstalled, model.StageDone, 1)
	require.NoError(t, b.store.Write(t.Context(), func(tx *store.Tx) error {
		tx.Operators(model.MonitoredOperator{ClusterID: c.ID, Name: "cvo", Type: "builtin"}, model.MonitoredOperator{ClusterID: c.ID, Name: "odf", Type: "olm"})
		return nil
	}))
	reached := func(m model.Milestone) bool {
		ok, _, err := b.Milestone(t.Context(), c.ID, m)
		require.NoError(t, err)
		return ok
	}
	require.False(t, reached(model.MilestoneOperatorsAvailable))
	require.NoError(t, b.ReportOperator(t.Context(), model.MonitoredOperator{ClusterID: c.ID, Name: "cvo", Status: model.OperatorAvailable}))
	require.False(t, reached(model.MilestoneOperatorsAvailable))
	require.NoError(t, b.ReportOperator(t.Context(), model.MonitoredOperator{ClusterID: c.ID, Name: "odf", Status: model.OperatorFailed}))
	require.True(t, reached(model.MilestoneOperatorsAvailable), "an optional operator may fail")

	_, err := b.blob.PutSecret(t.Context(), installation.Key(c.ID, "kubeconfig-noingress"), []byte(kubeconfig))
	require.NoError(t, err)
	require.ErrorIs(t, b.IngressCert(t.Context(), c.ID, "nonsense"), model.ErrInvalid)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})
	require.NoError(t, b.IngressCert(t.Context(), c.ID, string(cert)))
	require.True(t, reached(model.MilestoneIngressCertificate))
	full, err := b.blob.Get(t.Context(), installation.Key(c.ID, "kubeconfig"))
	require.NoError(t, err)
	require.Contains(t, string(full), "certificate-authority-data: LS0t")

	require.False(t, reached(model.MilestoneCompletion))
	require.NoError(t, b.Complete(t.Context(), c.ID, true, ""))
	require.True(t, reached(model.MilestoneCompletion))
	require.NoError(t, b.Finish(t.Context(), c.ID))
	require.Equal(t, model.ClusterInstalled, b.status(t, c))
	finished, err := b.store.Cluster(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, "Cluster is installed, but these operators failed: odf", finished.StatusInfo)
}

func TestUnknownOperatorAndStageAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.cluster(t, model.ClusterFinalizing, model.HostInstalled, model.StageDone, 1)
	require.ErrorIs(t, b.ReportOperator(t.Context(), model.MonitoredOperator{ClusterID: c.ID, Name: "x"}), model.ErrNotFound)
	require.ErrorIs(t, b.FinalizingProgress(t.Context(), c.ID, "dancing"), model.ErrInvalid)
}
