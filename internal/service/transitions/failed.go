package transitions

import (
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/model"
	"slipway/internal/platform/store"
)

// Failed marks a host whose installation just failed outside its workflow: its open steps
// end with the exit code and the reason, and until the workflow has decided the cluster is
// not evaluated as if the failure were final.
func Failed(h *model.Host, cluster model.ClusterStatus, exitCode int, reason string, t *store.Tx) {
	t.FailSteps(h, exitCode, reason)
	if lifecycle.UnderInstallation.Has(cluster) || h.DayTwo() && h.Attempt > 0 {
		h.DecisionOpen = true
	}
}
