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

func leased(f *cf)                      { f.VIPDHCPAllocation = true }
func unprepared(f *cf)                  { f.UnpreparingHosts = true }
func prepFailed(f *cf)                  { f.FailedPreparingHosts = true }
func waiting(f *cf)                     { f.HostPending = true }
func tooFew(f *cf)                      { f.Installing, f.Finalizing = false, false }
func finalizing(f *cf)                  { f.Finalizing = true }
func softly(f *cf)                      { f.Timeouts.Soft = true }
func retrying(f *cf)                    { f.AwaitingRetry = true }
func started(d time.Duration) func(*cf) { return func(f *cf) { f.InstallStartedAt = now.Add(-d) } }
func since(d time.Duration) func(*cf)   { return func(f *cf) { f.StatusSince = now.Add(-d) } }
func final(s model.FinalizingStage, d time.Duration) func(*cf) {
	return func(f *cf) { f.Finalizing, f.FinalizingStage, f.FinalizingStageSince = true, s, now.Add(-d) }
}

const refreshC = lifecycle.RefreshCluster

var clusterCases = []clusterCase{
	{"Cancel installation", lifecycle.CancelCluster, "finalizing", nil, "cancelled", lifecycle.EffectCancelled, ""},
	{"Cancel preparation", lifecycle.CancelCluster, "preparing-for-installation", nil, "ready", lifecycle.EffectCancelled, ""},
	{"Reset installation", lifecycle.ResetCluster, "error", nil, "insufficient", lifecycle.EffectReset, ""},
	{"Begin installation", lifecycle.PrepareCluster, "ready", nil, "preparing-for-installation", lifecycle.EffectPrepared, ""},
	{"Resume installation", lifecycle.ResumeCluster, "error", retrying, "installing", none, ""},
	{"Resume finalizing", lifecycle.ResumeCluster, "finalizing", retrying, "finalizing", none, "-"},
	{"Input missing", refreshC, "insufficient", lacking("pull-secret-set"), "pending-for-input", none, "because of pull-secret-set"},
	{"Input missing", refreshC, "ready", lacking("api-vips-defined"), "pending-for-input", none, "because of api-vips-defined"},
	{"Cluster insufficient", refreshC, "ready", lacking("all-hosts-are-ready-to-install"), "insufficient", none, "because of all-hosts"},
	{"Cluster insufficient", refreshC, "ready", lacking("odf-requirements-satisfied"), "insufficient", none, "odf"},
	{"Input missing with leased VIPs", refreshC, "ready", changes(leased, lacking("dns-domain-defined")), "pending-for-input", none, ""},
	{"Cluster insufficient with leased VIPs", refreshC, "ready", changes(leased, lacking("api-vips-defined")), "insufficient", none, ""},
	{"Cluster ready", refreshC, "insufficient", nil, "ready", none, ""},
	{"Cluster ready", refreshC, "insufficient", lacking("platform-requirements-satisfied"), "ready", none, ""},
	{"Preparation timed out", refreshC, "preparing-for-installation", since(19 * time.Minute), "ready", lifecycle.EffectPreparationFailed, "18m"},
	{"Preparation done", refreshC, "preparing-for-installation", func(f *cf) { f.AllHostsPrepared, f.PreparationSucceeded = true, true }, "installing", none, ""},
	{"Host fell out of preparation", refreshC, "preparing-for-installation", unprepared, "insufficient", lifecycle.EffectPreparationFailed, ""},
	{"Preparation failed", refreshC, "preparing-for-installation", prepFailed, "ready", lifecycle.EffectPreparationFailed, ""},
	{"Preparation failed", refreshC, "preparing-for-installation", func(f *cf) { f.PreparationFailed = true }, "ready", lifecycle.EffectPreparationFailed, ""},
	{"Too many hosts failed while waiting", refreshC, "installing-pending-user-action", tooFew, "error", lifecycle.EffectFailed, ""},
	{"User did not act", refreshC, "installing-pending-user-action", changes(waiting, started(25*time.Hour)), "error", lifecycle.EffectFailed, "24h"},
	{"Installation timed out", refreshC, "installing", changes(softly, started(25*time.Hour)), "error", lifecycle.EffectFailed, "24h"},
	{"Finalizing timed out", refreshC, "finalizing", changes(finalizing, since(301*time.Minute)), "error", lifecycle.EffectFailed, "5h"},
	{"Finalizing stage timed out", refreshC, "finalizing", final(model.FinalizingAddingRouterCA, 71*time.Minute), "error", lifecycle.EffectFailed, "Adding router ca"},
	{"Finalizing stage takes long", refreshC, "finalizing", final(model.FinalizingWaitingForCSV, 71*time.Minute), "finalizing", lifecycle.EffectStageTimedOut, "-"},
	{"Finalizing stage takes long", refreshC, "finalizing", changes(softly, final(model.FinalizingWaitingForOperators, 71*time.Minute), func(f *cf) { f.Timeouts = softTimeouts() }), "finalizing", lifecycle.EffectStageTimedOut, ""},
	{"Still waiting for the user", refreshC, "installing-pending-user-action", waiting, "installing-pending-user-action", none, "-"},
	{"Still waiting for the user", refreshC, "installing-pending-user-action", changes(tooFew, retrying), "installing-pending-user-action", none, "-"},
	{"Installing again", refreshC, "installing-pending-user-action", nil, "installing", none, ""},
	{"Installing again", refreshC, "installing-pending-user-action", retrying, "installing", none, ""},
	{"Finalizing again", refreshC, "installing-pending-user-action", finalizing, "finalizing", none, ""},
	{"Waiting for the user", refreshC, "installing", waiting, "installing-pending-user-action", none, "waits"},
	{"Waiting for the user", refreshC, "installing", changes(tooFew, retrying), "installing-pending-user-action", none, "retry"},
	{"Finalizing begins", refreshC, "installing", finalizing, "finalizing", none, ""},
	{"Finalizing begins", refreshC, "installing", changes(finalizing, retrying), "finalizing", none, ""},
	{"Installing", refreshC, "installing", nil, "installing", none, ""},
	{"Installed", refreshC, "finalizing", changes(finalizing, func(f *cf) { f.AllHostsDone, f.Complete = true, true }), "installed", lifecycle.EffectCompleted, ""},
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
