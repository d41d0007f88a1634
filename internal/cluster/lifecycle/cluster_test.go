package lifecycle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
)

type cf = lifecycle.ClusterFacts

type clusterCase struct {
	row    string
	event  lifecycle.ClusterEvent
	from   model.ClusterStatus
	change func(*cf)
	to     model.ClusterStatus
	effect lifecycle.Effect
	says   string
}

func lacking(id string) func(*cf) {
	return func(f *cf) { f.Conditions = lifecycle.ClusterConditionsOf(failed(id)) }
}

func changes(list ...func(*cf)) func(*cf) {
	return func(f *cf) {
		for _, c := range list {
			c(f)
		}
	}
}

func leased(f *cf)     { f.VIPDHCPAllocation = true }
func unprepared(f *cf) { f.UnpreparingHosts = true }
func prepFailed(f *cf) { f.FailedPreparingHosts = true }
func waiting(f *cf)    { f.HostPending = true }
func tooFew(f *cf)     { f.Installing, f.Finalizing = false, false }
func finalizing(f *cf) { f.Finalizing = true }
func softly(f *cf)     { f.Timeouts.Soft = true }
func retrying(f *cf)   { f.AwaitingRetry = true }
func finalizingStage(s model.FinalizingStage, limit time.Duration) func(*cf) {
	return func(f *cf) { f.Finalizing, f.FinalizingStage, f.Limit = true, s, limit }
}
func reason(why string) func(*cf)        { return func(f *cf) { f.Reason = why } }
func kind(k model.ClusterKind) func(*cf) { return func(f *cf) { f.Kind = k } }

const (
	refreshC = lifecycle.RefreshCluster
	ended    = lifecycle.PreparationEnded
	slow     = lifecycle.FinalizingStageTimeout
)

var clusterCases = []clusterCase{
	{"New cluster", lifecycle.RegisterCluster, "", kind(model.KindCluster), "insufficient", none, ""},
	{"New cluster that exists already", lifecycle.RegisterCluster, "", kind(model.KindAddHostsCluster), "adding-hosts", none, ""},
	{"New cluster out of reach", lifecycle.RegisterCluster, "", kind(model.KindDisconnectedCluster), "unmonitored", none, ""},
	{"Opened for hosts", lifecycle.OpenForHosts, "installed", nil, "adding-hosts", lifecycle.EffectOpened, "more hosts"},
	{"Cancel installation", lifecycle.CancelCluster, "finalizing", nil, "cancelled", lifecycle.EffectCancelled, ""},
	{
		"Cancel preparation", lifecycle.CancelCluster, "preparing-for-installation", reason("cancelled"),
		"ready", lifecycle.EffectCancelled, "failed: cancelled",
	},
	{"Reset installation", lifecycle.ResetCluster, "error", nil, "insufficient", lifecycle.EffectReset, "was reset"},
	{
		"Reset after the preparation ended", lifecycle.ResetCluster, "ready", func(f *cf) { f.HostsResetting = true },
		"insufficient", lifecycle.EffectReset, "was reset",
	},
	{"Agents have stopped", lifecycle.FinishClusterReset, "insufficient", nil, "insufficient", lifecycle.EffectForgotten, ""},
	{"Reset that an older version began", lifecycle.FinishClusterReset, "installing", nil, "insufficient", lifecycle.EffectReset, "was reset"},
	{"Begin installation", lifecycle.PrepareCluster, "ready", nil, "preparing-for-installation", lifecycle.EffectPrepared, ""},
	{"Resume installation", lifecycle.ResumeCluster, "error", retrying, "installing", none, ""},
	{"Resume finalizing", lifecycle.ResumeCluster, "error", changes(retrying, finalizing), "finalizing", lifecycle.EffectResumed, ""},
	{"Input missing", refreshC, "insufficient", lacking("pull-secret-set"), "pending-for-input", none, "because of pull-secret-set"},
	{"Input missing", refreshC, "ready", lacking("api-vips-defined"), "pending-for-input", none, "because of api-vips-defined"},
	{"Cluster insufficient", refreshC, "ready", lacking("all-hosts-are-ready-to-install"), "insufficient", none, "because of all-hosts"},
	{"Cluster insufficient", refreshC, "ready", lacking("odf-requirements-satisfied"), "insufficient", none, "odf"},
	{"Input missing with leased VIPs", refreshC, "ready", changes(leased, lacking("dns-domain-defined")), "pending-for-input", none, ""},
	{"Cluster insufficient with leased VIPs", refreshC, "ready", changes(leased, lacking("api-vips-defined")), "insufficient", none, ""},
	{"Cluster ready", refreshC, "insufficient", nil, "ready", none, ""},
	{"Cluster ready", refreshC, "insufficient", lacking("platform-requirements-satisfied"), "ready", none, ""},
	{
		"Preparation done", ended, "preparing-for-installation",
		func(f *cf) { f.AllHostsPrepared, f.PreparationSucceeded = true, true },
		"installing", none, "",
	},
	{
		"Host fell out of preparation", ended, "preparing-for-installation",
		changes(unprepared, reason("worker-0 is disconnected")),
		"insufficient", lifecycle.EffectPreparationFailed, "failed: worker-0",
	},
	{"Preparation failed", ended, "preparing-for-installation", prepFailed, "ready", lifecycle.EffectPreparationFailed, ""},
	{
		"Preparation failed", ended, "preparing-for-installation", func(f *cf) { f.PreparationFailed = true },
		"ready", lifecycle.EffectPreparationFailed, "",
	},
	{"Too many hosts failed while waiting", refreshC, "installing-pending-user-action", tooFew, "error", lifecycle.EffectFailed, ""},
	{
		"Installation failed", lifecycle.InstallationFailed, "finalizing",
		changes(finalizing, reason("finalizing took more than 5h")),
		"error", lifecycle.EffectFailed, "5h",
	},
	{
		"Finalizing stage timed out", slow, "finalizing", finalizingStage(model.FinalizingAddingRouterCA, 70*time.Minute),
		"error", lifecycle.EffectFailed, `"Adding router ca" took more than 1h10m`,
	},
	{
		"Finalizing stage timed out while the user was awaited", slow, "installing-pending-user-action",
		finalizingStage(model.FinalizingAddingRouterCA, 70*time.Minute),
		"error", lifecycle.EffectFailed, "Adding router ca",
	},
	{
		"Finalizing stage takes long while the user is awaited", slow, "error",
		finalizingStage(model.FinalizingWaitingForCSV, 70*time.Minute),
		"error", lifecycle.EffectStageTimedOut, "-",
	},
	{
		"Finalizing stage still takes long", slow, "finalizing",
		changes(finalizingStage(model.FinalizingWaitingForCSV, 70*time.Minute), func(f *cf) { f.FinalizingStageTimedOut = true }),
		"finalizing", none, "-",
	},
	{
		"Finalizing stage takes long", slow, "finalizing", finalizingStage(model.FinalizingWaitingForCSV, 70*time.Minute),
		"finalizing", lifecycle.EffectStageTimedOut, "-",
	},
	{
		"Finalizing stage takes long", slow, "finalizing",
		changes(softly, finalizingStage(model.FinalizingWaitingForOperators, 70*time.Minute), func(f *cf) { f.Timeouts = softTimeouts() }),
		"finalizing", lifecycle.EffectStageTimedOut, "",
	},
	{"Still waiting for the user", refreshC, "installing-pending-user-action", waiting, "installing-pending-user-action", none, "-"},
	{
		"Still waiting for the user", refreshC, "installing-pending-user-action", changes(tooFew, retrying),
		"installing-pending-user-action", none, "-",
	},
	{"Installing again", refreshC, "installing-pending-user-action", nil, "installing", none, ""},
	{"Installing again", refreshC, "installing-pending-user-action", retrying, "installing", none, ""},
	{"Finalizing again", refreshC, "installing-pending-user-action", finalizing, "finalizing", none, ""},
	{"Waiting for the user", refreshC, "installing", waiting, "installing-pending-user-action", none, "waits"},
	{"Waiting for the user", refreshC, "installing", changes(tooFew, retrying), "installing-pending-user-action", none, "retry"},
	{"Finalizing begins", refreshC, "installing", finalizing, "finalizing", none, ""},
	{"Finalizing begins", refreshC, "installing", changes(finalizing, retrying), "finalizing", none, ""},
	{"Installing", refreshC, "installing", nil, "installing", none, ""},
	{
		"Installed", lifecycle.FinishInstallation, "finalizing", changes(finalizing, func(f *cf) { f.AllHostsDone = true }),
		"installed", lifecycle.EffectCompleted, "Cluster is installed",
	},
	{
		"Installed", lifecycle.FinishInstallation, "finalizing",
		func(f *cf) { f.AllHostsDone, f.FailedOperators = true, []string{"odf", "lso"} },
		"installed", lifecycle.EffectCompleted, "failed: odf, lso",
	},
	{
		"Installed before it was evaluated", lifecycle.FinishInstallation, "installing",
		func(f *cf) { f.AllHostsDone = true },
		"installed", lifecycle.EffectCompleted, "",
	},
	{"Too many hosts failed", refreshC, "installing", tooFew, "error", lifecycle.EffectFailed, ""},
	{"Logs timed out", refreshC, "error", func(f *cf) { f.LogsTimedOut = true }, "error", lifecycle.EffectLogsTimedOut, "-"},
	{"Cluster stays", refreshC, "finalizing", finalizing, "finalizing", none, "-"},
	{"Cluster stays", refreshC, "adding-hosts", nil, "adding-hosts", none, "-"},
}

func softTimeouts() lifecycle.Timeouts {
	t, err := lifecycle.ParseTimeouts(map[string]string{"ENABLE_SOFT_TIMEOUTS": "true"})
	if err != nil {
		panic(err)
	}
	return t
}

func TestClusterTransitions(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, tt := range clusterCases {
		seen[tt.row] = true
		t.Run(string(tt.event)+" "+string(tt.from)+": "+tt.row, func(t *testing.T) {
			t.Parallel()
			facts := fineCluster()
			if tt.change != nil {
				tt.change(&facts)
			}
			got, err := lifecycle.NextCluster(tt.event, tt.from, facts)
			require.NoError(t, err)
			require.Equal(t, tt.row, got.Name)
			require.Equal(t, tt.to, got.To)
			require.Equal(t, tt.effect, got.Effect)
			if tt.says == "-" {
				require.Empty(t, got.StatusInfo)
			} else {
				require.Contains(t, got.StatusInfo, tt.says)
			}
		})
	}
	for _, r := range lifecycle.ClusterTable() {
		require.True(t, seen[r.Name], "row %q needs a case", r.Name)
		require.True(t, r.No > 0 || r.Why != "", "a row of ours says why: %s", r.Name)
	}
}

func TestRefusedClusterEventsNameTheState(t *testing.T) {
	t.Parallel()
	for event, from := range map[lifecycle.ClusterEvent]model.ClusterStatus{
		lifecycle.PrepareCluster: model.ClusterInsufficient,
		lifecycle.CancelCluster:  model.ClusterReady,
		lifecycle.ResetCluster:   model.ClusterInstalled,
		lifecycle.ResumeCluster:  model.ClusterError,
	} {
		_, err := lifecycle.NextCluster(event, from, fineCluster())
		require.ErrorIs(t, err, model.ErrConflict)
		require.ErrorContains(t, err, string(from))
	}
}
