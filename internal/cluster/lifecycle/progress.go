package lifecycle

import (
	"slices"

	"slipway/internal/cluster/steps"
	"slipway/internal/model"
)

// Shares of the phases in the progress of a whole installation, in percent.
const (
	preparingShare  = 10
	installingShare = 70
	finalizingShare = 20
	whole           = 100
)

// HostPercentage returns how far a host is: the position of its stage in the list of the stages it passes. A stage outside the list
// (Failed) gives the percentage before.
func HostPercentage(role model.Role, bootstrap, singleNode bool, stage model.Stage, before int) int {
	stages := steps.StagesFor(role, bootstrap, singleNode)
	i := slices.Index(stages, stage)
	if i < 0 {
		return before
	}
	return (i + 1) * whole / len(stages)
}

// ClusterProgress returns how far an installation is. It never falls back while it runs: before holds what was shown last, and a phase
// that was left counts as whole.
func ClusterProgress(
	status model.ClusterStatus, hosts []*model.Host, operators []model.MonitoredOperator, before model.ClusterProgress,
) model.ClusterProgress {
	p := before
	switch status {
	case model.ClusterPreparingForInstallation:
		p.Preparing = max(p.Preparing, share(hosts, func(h *model.Host) int { return whole * one(h.Status == model.HostPreparingSuccessful) }))
		p.Installing, p.Finalizing = 0, 0
	case model.ClusterInstalling, model.ClusterInstallingPendingUserAction, model.ClusterFinalizing:
		p.Preparing = whole
		p.Installing = max(p.Installing, share(hosts, func(h *model.Host) int { return h.Progress.Percentage }))
		if status != model.ClusterInstalling {
			p.Finalizing = max(p.Finalizing, operatorShare(status, operators))
		}
	case model.ClusterAddingHosts: // an imported cluster was not installed here
		return before
	case model.ClusterInstalled:
		p.Preparing, p.Installing, p.Finalizing = whole, whole, whole
	case model.ClusterInsufficient, model.ClusterReady, model.ClusterPendingForInput:
		return model.ClusterProgress{}
	}
	p.Total = (p.Preparing*preparingShare + p.Installing*installingShare + p.Finalizing*finalizingShare) / whole
	return p
}

func share(hosts []*model.Host, percent func(*model.Host) int) int {
	if len(hosts) == 0 {
		return 0
	}
	sum := 0
	for _, h := range hosts {
		sum += percent(h)
	}
	return sum / len(hosts)
}

// operatorShare counts operators that are done; a cluster that waits for its user has
// not begun to finalize unless they say so.
func operatorShare(status model.ClusterStatus, operators []model.MonitoredOperator) int {
	if len(operators) == 0 || status != model.ClusterFinalizing {
		return 0
	}
	done := 0
	for _, o := range operators {
		done += one(o.Status == model.OperatorAvailable || o.Status == model.OperatorFailed && o.Type == OperatorTypeOLM)
	}
	return done * whole / len(operators)
}
