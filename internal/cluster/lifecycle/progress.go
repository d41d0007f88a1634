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

// HostPercentage returns how far a host is in a stage: its position in the list of stages that clients see, and whole when it is done.
// Another stage outside the list, such as Failed, gives the percentage before.
func HostPercentage(h *model.Host, singleNode bool, stage model.Stage) int {
	stages := steps.ShownStages(h.EffectiveRole(), h.Bootstrap, singleNode, h.DayTwo())
	i := slices.Index(stages, stage)
	switch {
	case stage == model.StageDone:
		return whole
	case i < 0:
		return h.Progress.Percentage
	}
	return (i + 1) * whole / len(stages)
}

// ClusterProgress returns how far an installation is. It never falls back while it runs, and a phase that was left
// counts as whole. Each part is cut off by itself, as clients expect it of assisted-service (internal/cluster/cluster.go).
func ClusterProgress(c *model.Cluster, hosts []*model.Host, operators []model.MonitoredOperator) model.ClusterProgress {
	p := c.Progress
	switch c.Status {
	case model.ClusterPreparingForInstallation:
		p.Preparing = max(p.Preparing, preparedShare(hosts))
		p.Installing, p.Finalizing = 0, 0
	case model.ClusterInstalling, model.ClusterInstallingPendingUserAction, model.ClusterFinalizing:
		p.Preparing = whole
		p.Installing = max(p.Installing, passedShare(hosts, c.SingleNode()))
		if c.Status != model.ClusterInstalling {
			p.Finalizing = max(p.Finalizing, operatorShare(c.Status, operators))
		}
	case model.ClusterAddingHosts: // an imported cluster was not installed here
		return p
	case model.ClusterInstalled:
		p.Preparing, p.Installing, p.Finalizing = whole, whole, whole
	case model.ClusterInsufficient, model.ClusterReady, model.ClusterPendingForInput:
		return model.ClusterProgress{}
	}
	p.Total = p.Installing*installingShare/whole + (p.Preparing*preparingShare+p.Finalizing*finalizingShare)/whole
	return p
}

func preparedShare(hosts []*model.Host) int {
	prepared := 0
	for _, h := range hosts {
		prepared += one(h.Status == model.HostPreparingSuccessful)
	}
	return prepared * whole / max(len(hosts), 1)
}

// passedShare returns how many of the stages of all hosts were reached, in percent. A failed host keeps what it had reached.
func passedShare(hosts []*model.Host, singleNode bool) int {
	reached, all := 0, 0
	for _, h := range hosts {
		stages := steps.StagesFor(h.EffectiveRole(), h.Bootstrap, singleNode)
		all += len(stages)
		if i := slices.Index(stages, h.Stage); i >= 0 {
			reached += i + 1
		} else {
			reached += (h.Progress.Percentage*len(stages) + whole - 1) / whole
		}
	}
	return reached * whole / max(all, 1)
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
