package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"slipway/internal/model"
)

// The conditions of the cluster table, with the names of docs/reference/states.md.
var (
	cDayTwo          = cond("IsDay2Cluster", func(f *cf) bool { return f.Kind == model.KindAddHostsCluster })
	cDisconnected    = cond("IsDisconnectedCluster", func(f *cf) bool { return f.Kind == model.KindDisconnectedCluster })
	vipDHCP          = cond("VipDhcpAllocationSet", func(f *cf) bool { return f.VIPDHCPAllocation })
	cPendingInput    = cond("pendingConditions", func(f *cf) bool { return f.Conditions.PendingInput })
	cInputNonDHCP    = cond("requiredInputFieldsExistNonDhcp", inputAndVIPs)
	cRequired        = cond("requiredForInstall", func(f *cf) bool { return f.Conditions.RequiredForInstall })
	cSufficientDHCP  = cond("isSufficientForInstallDhcp", sufficientWithVIPs)
	cAll             = cond("allRefreshStatusConditions", func(f *cf) bool { return f.Conditions.Ready() })
	cFailedPreparing = cond("FailedPreparingHostsExist", func(f *cf) bool { return f.FailedPreparingHosts })
	cUnpreparing     = cond("UnpreparingHostsExist", func(f *cf) bool { return f.UnpreparingHosts })
	cHostsPrepared   = cond("AllHostsPreparedSuccessfully", func(f *cf) bool { return f.AllHostsPrepared })
	cHostsResetting  = cond("ResettingHostsExist", func(f *cf) bool { return f.HostsResetting })
	cPrepSucceeded   = cond("ClusterPreparationSucceeded", func(f *cf) bool { return f.PreparationSucceeded })
	cPrepFailed      = cond("ClusterPreparationFailed", func(f *cf) bool { return f.PreparationFailed })
	isInstalling     = cond("IsInstalling", func(f *cf) bool { return f.Installing })
	isFinalizing     = cond("IsFinalizing", func(f *cf) bool { return f.Finalizing })
	isPending        = cond("IsInstallingPendingUserAction", func(f *cf) bool { return f.HostPending })
	cRetry           = cond("AwaitingRetry", func(f *cf) bool { return f.AwaitingRetry })
	cSoft            = cond("SoftTimeoutsEnabled", func(f *cf) bool { return f.Timeouts.Soft })
	cStageReported   = cond("finalizingStageTimeoutTriggered", func(f *cf) bool { return f.FinalizingStageTimedOut })
	cNonFailingStage = cond("isInFinalizingStages(nonFailingFinalizingStages)", inNonFailingStage)
	cHostsDone       = cond("areAllHostsDone", func(f *cf) bool { return f.AllHostsDone })
	cLogsTimedOut    = cond("IsLogCollectionTimedOut", func(f *cf) bool { return f.LogsTimedOut })
	continues        = or(isInstalling, isFinalizing, cRetry)
	waits            = or(isPending, and(cRetry, not(isInstalling), not(isFinalizing)))
)

func inputAndVIPs(f *cf) bool {
	return f.Conditions.PendingInput && f.Conditions.VIPsDefined
}

func sufficientWithVIPs(f *cf) bool {
	return f.Conditions.VIPsDefined && f.Conditions.RequiredForInstall
}

func inNonFailingStage(f *cf) bool {
	return slices.Contains(nonFailingStages, f.FinalizingStage)
}

// nonFailingStages never fail a cluster: the operators they wait for can be added later.
var nonFailingStages = []model.FinalizingStage{
	model.FinalizingApplyingOLMManifests, model.FinalizingWaitingForCSVInit, model.FinalizingWaitingForCSV,
}

// Ready reports whether a cluster meets every condition to be installed.
func (c ClusterConditions) Ready() bool {
	return c.PendingInput && c.VIPsDefined && c.RequiredForInstall
}

// Status infos of more than one row.
const (
	infoClusterReady      = "The cluster is ready to be installed"
	infoClusterInstalling = "Installation in progress"
	infoFinalizing        = "The cluster is up and being completed"
	infoTooFew            = "Too many hosts failed for the cluster to come up"
	infoTakesHosts        = "Cluster takes more hosts"
	infoCancelled         = "The installation was cancelled"
	infoPreparationFailed = "The preparation of the installation failed"
	infoReset             = "The installation was reset; the cluster is being evaluated"
)

// clusterInfo makes a status info of a sentence and the facts it mentions.
func clusterInfo(format string, args ...func(*cf) string) func(*cf) string {
	return func(f *cf) string {
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = a(f)
		}
		return fmt.Sprintf(format, values...)
	}
}

// clusterReason appends the reason the event came with.
func clusterReason(text string) func(*cf) string {
	return func(f *cf) string { return withReason(text, f.Reason) }
}

func withReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

func clusterLimit(f *cf) string    { return span(f.Limit) }
func finalizingStage(f *cf) string { return string(f.FinalizingStage) }

// installedInfo names the operators that failed: they only degrade the cluster.
func installedInfo(f *cf) string {
	if len(f.FailedOperators) == 0 {
		return "Cluster is installed"
	}
	return "Cluster is installed, but these operators failed: " + strings.Join(f.FailedOperators, ", ")
}

func clusterInputInfo(f *cf) string {
	return because("The cluster lacks input", f.Conditions.input.messages())
}

func insufficientInfo(f *cf) string {
	return because("The cluster cannot be installed yet", f.Conditions.forInstall.messages())
}

func pendingInfo(f *cf) string {
	if f.HostPending {
		return "A host waits for its user: see the hosts' status"
	}
	return strings.Join([]string{infoTooFew, "retry the failed hosts, or cancel"}, "; ")
}
