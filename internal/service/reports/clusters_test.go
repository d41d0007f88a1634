package reports_test

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/platform/blob"
	"slipway/internal/platform/store"
	"slipway/internal/service/reports"
	"slipway/internal/testing/fixtures"
)

// A foreign controller may end before its last report: the facts it left decide after a while, and only all of them.
func TestClusterIsCompleteByItsFactsWhenItsControllerStaysSilent(t *testing.T) {
	t.Parallel()
	const silence = 2 * time.Minute
	for name, test := range map[string]struct {
		hosts    model.HostStatus
		operator model.OperatorStatus
		ingress  bool
		after    time.Duration
		reached  bool
	}{
		"all facts, and a while":        {model.HostInstalled, model.OperatorAvailable, true, silence, true},
		"all facts, and no time":        {model.HostInstalled, model.OperatorAvailable, true, silence - time.Second, false},
		"a host that is not done":       {model.HostInstallingInProgress, model.OperatorAvailable, true, time.Hour, false},
		"an operator that is not ready": {model.HostInstalled, model.OperatorProgressing, true, time.Hour, false},
		"no ingress certificate":        {model.HostInstalled, model.OperatorAvailable, false, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
			b := fixtures.Open(t, func() time.Time { return now })
			s := reports.Clusters{Store: b.Tables, Blob: b.Files, Silence: silence}
			c := b.NewCluster(t, model.ClusterFinalizing, test.hosts, model.StageDone, 3)
			_, err := b.Tables.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, tx *store.Tx) error {
				tx.Operators(model.MonitoredOperator{ClusterID: c.ID, Name: "cvo", Type: "builtin"})
				if test.ingress {
					c.IngressCertAt = now
				}
				return nil
			})
			require.NoError(t, err)
			require.NoError(t, s.ReportOperator(t.Context(), model.MonitoredOperator{ClusterID: c.ID, Name: "cvo", Status: test.operator}))
			now = now.Add(test.after)
			reached, failure, err := s.Milestone(t.Context(), c.ID, model.MilestoneCompletion)
			require.NoError(t, err)
			require.Empty(t, failure)
			require.Equal(t, test.reached, reached)
		})
	}
}

// Attack: another certificate for users who trust the kubeconfig of an installed cluster.
func TestIngressCertificateIsTakenOnce(t *testing.T) {
	t.Parallel()
	b := fixtures.Open(t, time.Now)
	s := reports.Clusters{Store: b.Tables, Blob: b.Files}
	c := b.NewCluster(t, model.ClusterFinalizing, model.HostInstalled, model.StageDone, 3)
	const kubeconfig = "apiVersion: v1\nkind: Config\nclusters: [{name: lab, cluster: {server: 'https://api.lab.example.com:6443'}}]\n"
	_, err := b.Files.PutSecret(t.Context(), blob.ClusterFile(c.ID, "kubeconfig-noingress"), []byte(kubeconfig))
	require.NoError(t, err)
	certificate := func(text string) string {
		return "-----BEGIN CERTIFICATE-----\n" + base64.StdEncoding.EncodeToString([]byte(text)) + "\n-----END CERTIFICATE-----\n"
	}
	require.NoError(t, s.IngressCert(t.Context(), c.ID, certificate("router")))
	first, err := b.Files.Get(t.Context(), blob.ClusterFile(c.ID, "kubeconfig"))
	require.NoError(t, err)
	require.NoError(t, s.IngressCert(t.Context(), c.ID, certificate("router")), "an answer may be lost")
	for _, status := range []model.ClusterStatus{model.ClusterFinalizing, model.ClusterInstalled} {
		_, err := b.Tables.UpdateCluster(t.Context(), c.ID, func(c *model.Cluster, _ *store.Tx) error {
			c.Status = status
			return nil
		})
		require.NoError(t, err)
		require.ErrorIs(t, s.IngressCert(t.Context(), c.ID, certificate("evil")), model.ErrConflict)
	}
	last, err := b.Files.Get(t.Context(), blob.ClusterFile(c.ID, "kubeconfig"))
	require.NoError(t, err)
	require.Equal(t, string(first), string(last))
}

func TestUnknownOperatorAndStageAreRefused(t *testing.T) {
	t.Parallel()
	b := fixtures.Open(t, time.Now)
	s := reports.Clusters{Store: b.Tables, Blob: b.Files}
	c := b.NewCluster(t, model.ClusterFinalizing, model.HostInstalled, model.StageDone, 1)
	require.ErrorIs(t, s.ReportOperator(t.Context(), model.MonitoredOperator{ClusterID: c.ID, Name: "x"}), model.ErrNotFound)
	require.ErrorIs(t, s.FinalizingProgress(t.Context(), c.ID, "dancing"), model.ErrInvalid)
}
