package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"slipway/internal/model"
)

type (
	clusterRow      = row[model.ClusterStatus, ClusterEvent, ClusterFacts]
	clusterStatuses = []model.ClusterStatus
	cf              = ClusterFacts
)

// Short names of the cluster statuses, for a table that can be read.
const (
	cInsufficient = model.ClusterInsufficient
	cReady        = model.ClusterReady
	cInput        = model.ClusterPendingForInput
	cPreparing    = model.ClusterPreparingForInstallation
	cInstalling   = model.ClusterInstalling
	cFinalizing   = model.ClusterFinalizing
	cPending      = model.ClusterInstallingPendingUserAction
	cInstalled    = model.ClusterInstalled
	cError        = model.ClusterError
	cCancelled    = model.ClusterCancelled
)

// The conditions of the cluster table, named as contract/states.md names them.
var (
	vipDHCP           = cond("VipDhcpAllocationSet", func(f *cf) bool { return f.VIPDHCPAllocation })
	cPendingInput     = cond("pendingConditions", func(f *cf) bool { return f.Conditions.PendingInput })
	cInputNonDHCP     = cond("requiredInputFieldsExistNonDhcp", func(f *cf) bool { return f.Conditions.PendingInput && f.Conditions.VIPsDefined })
	cRequired         = cond("requiredForInstall", func(f *cf) bool { return f.Conditions.RequiredForInstall })
	cSufficientDHCP   = cond("isSufficientForInstallDhcp", func(f *cf) bool { return f.Conditions.VIPsDefined && f.Conditions.RequiredForInstall })
	cAll              = cond("allRefreshStatusConditions", func(f *cf) bool { return f.Conditions.Ready() })
	cPrepTimedOut     = cond("IsPreparingTimedOut", func(f *cf) bool { return over(f.StatusSince, f.Timeouts.PrepareCluster, f.Now) })
	cFailedPreparing  = cond("FailedPreparingHostsExist", func(f *cf) bool { return f.FailedPreparingHosts })
	cUnpreparing      = cond("UnpreparingHostsExist", func(f *cf) bool { return f.UnpreparingHosts })
	cHostsPrepared    = cond("AllHostsPreparedSuccessfully", func(f *cf) bool { return f.AllHostsPrepared })
	cPrepSucceeded    = cond("ClusterPreparationSucceeded", func(f *cf) bool { return f.PreparationSucceeded })
	cPrepFailed       = cond("ClusterPreparationFailed", func(f *cf) bool { return f.PreparationFailed })
	isInstalling      = cond("IsInstalling", func(f *cf) bool { return f.Installing })
	isFinalizing      = cond("IsFinalizing", func(f *cf) bool { return f.Finalizing })
	isPending         = cond("IsInstallingPendingUserAction", func(f *cf) bool { return f.HostPending })
	cRetry            = cond("AwaitingRetry", func(f *cf) bool { return f.AwaitingRetry })
	cInstallTimedOut  = cond("IsInstallationTimedOut", func(f *cf) bool { return over(f.InstallStartedAt, f.Timeouts.Installation, f.Now) })
	cSoft             = cond("SoftTimeoutsEnabled", func(f *cf) bool { return f.Timeouts.Soft })
	cFinalTimedOut    = cond("IsFinalizingTimedOut", func(f *cf) bool { return over(f.StatusSince, f.Timeouts.Finalizing, f.Now) })
	cStageTimedOut    = cond("IsFinalizingStageTimedOut", func(f *cf) bool { return over(f.FinalizingStageSince, f.FinalizingStageTimeout(), f.Now) })
	cStageReported    = cond("finalizingStageTimeoutTriggered", func(f *cf) bool { return f.FinalizingStageTimedOut })
	cNonFailingStage  = cond("isInFinalizingStages(nonFailingFinalizingStages)", func(f *cf) bool { return slices.Contains(nonFailingStages, f.FinalizingStage) })
	cHostsDone        = cond("areAllHostsDone", func(f *cf) bool { return f.AllHostsDone })
	cComplete         = cond("hasClusterCompleteInstallation", func(f *cf) bool { return f.Complete })
	cLogsTimedOut     = cond("IsLogCollectionTimedOut", func(f *cf) bool { return f.LogsTimedOut })
	goesOn            = or(isInstalling, isFinalizing, cRetry)
	waits             = or(isPending, and(cRetry, not(isInstalling), not(isFinalizing)))
	beforeInstalling  = clusterStatuses{cInput, cReady, cInsufficient}
	retryKeepsWaiting = "while a failed host may be tried again the cluster waits for its user instead of failing"
)

// nonFailingStages never fail a cluster: what they wait for can be added later.
var nonFailingStages = []model.FinalizingStage{
	model.FinalizingApplyingOLMManifests, model.FinalizingWaitingForCSVInit, model.FinalizingWaitingForCSV,
}

// Ready is every condition a cluster must meet to be installed.
func (c ClusterConditions) Ready() bool {
	return c.PendingInput && c.VIPsDefined && c.RequiredForInstall
}

// clusterRows is contract/states.md 2d in evaluation order. Row 26 concerns the
// subscriptions of a hosted service and is left out.
var clusterRows = []clusterRow{
	{no: 1, name: "Cancel installation", event: CancelCluster, from: clusterStatuses{cInstalling, cPending, cError, cFinalizing}, to: cCancelled, effect: EffectCancelled, info: tells("The installation was cancelled")},
	{no: 2, name: "Cancel preparation", event: CancelCluster, from: clusterStatuses{cPreparing}, to: cReady, effect: EffectCancelled, info: tells(infoClusterReady)},
	{no: 3, name: "Reset installation", event: ResetCluster, from: clusterStatuses{cPreparing, cInstalling, cPending, cError, cCancelled, cFinalizing}, to: cInsufficient, effect: EffectReset, info: tells("The installation was reset, hosts return to discovery")},
	{no: 4, name: "Begin installation", event: PrepareCluster, from: clusterStatuses{cReady}, to: cPreparing, effect: EffectPrepared, info: tells("The installation is being prepared")},
	{
		name: "Resume installation", event: ResumeCluster, from: clusterStatuses{cError, cInstalling, cPending}, to: cInstalling, when: cRetry, info: tells(infoClusterInstalling),
		why: "the retried host is installed by the workflow that still runs",
	},
	{
		name: "Resume finalizing", event: ResumeCluster, from: clusterStatuses{cFinalizing}, when: cRetry,
		why: "a worker may be retried while the cluster finalizes",
	},

	{no: 5, name: "Input missing", event: RefreshCluster, from: beforeInstalling, to: cInput, when: and(not(vipDHCP), not(cInputNonDHCP)), info: clusterInputInfo},
	{no: 6, name: "Cluster insufficient", event: RefreshCluster, from: beforeInstalling, to: cInsufficient, when: and(not(vipDHCP), cInputNonDHCP, not(cRequired)), info: insufficientInfo},
	{no: 7, name: "Input missing with leased VIPs", event: RefreshCluster, from: beforeInstalling, to: cInput, when: and(vipDHCP, not(cPendingInput)), info: clusterInputInfo},
	{no: 8, name: "Cluster insufficient with leased VIPs", event: RefreshCluster, from: beforeInstalling, to: cInsufficient, when: and(vipDHCP, cPendingInput, not(cSufficientDHCP)), info: insufficientInfo},
	{no: 9, name: "Cluster ready", event: RefreshCluster, from: beforeInstalling, to: cReady, when: cAll, info: tells(infoClusterReady)},
	{no: 10, name: "Preparation timed out", event: RefreshCluster, from: clusterStatuses{cPreparing}, to: cReady, when: and(cPrepTimedOut, not(cFailedPreparing)), effect: EffectPreparationFailed, info: tells("The installation was not prepared in %s", prepareClusterLimit)},
	{no: 11, name: "Preparation done", event: RefreshCluster, from: clusterStatuses{cPreparing}, to: cInstalling, when: and(cHostsPrepared, cPrepSucceeded), info: tells(infoClusterInstalling)},
	{no: 12, name: "Host fell out of preparation", event: RefreshCluster, from: clusterStatuses{cPreparing}, to: cInsufficient, when: cUnpreparing, effect: EffectPreparationFailed, info: tells("A host stopped being prepared")},
	{no: 13, name: "Preparation failed", event: RefreshCluster, from: clusterStatuses{cPreparing}, to: cReady, when: or(cFailedPreparing, and(not(cUnpreparing), cPrepFailed)), effect: EffectPreparationFailed, info: tells("The preparation failed")},
	{no: 14, name: "Too many hosts failed while waiting", event: RefreshCluster, from: clusterStatuses{cPending}, to: cError, when: not(goesOn), effect: EffectFailed, info: tells(infoTooFew), why: retryKeepsWaiting},
	{no: 15, name: "User did not act", event: RefreshCluster, from: clusterStatuses{cPending}, to: cError, when: cInstallTimedOut, effect: EffectFailed, info: tells("The installation waited for its user for more than %s", installLimit)},
	{no: 16, name: "Installation timed out", event: RefreshCluster, from: clusterStatuses{cInstalling, cFinalizing}, to: cError, when: and(cInstallTimedOut, cSoft), effect: EffectFailed, info: tells("The installation took more than %s", installLimit)},
	{no: 17, name: "Finalizing timed out", event: RefreshCluster, from: clusterStatuses{cFinalizing}, to: cError, when: and(cFinalTimedOut, not(cSoft)), effect: EffectFailed, info: tells("Finalizing took more than %s", finalizingLimit)},
	{no: 18, name: "Finalizing stage timed out", event: RefreshCluster, from: clusterStatuses{cFinalizing}, to: cError, when: and(not(cSoft), cStageTimedOut, not(cNonFailingStage)), effect: EffectFailed, info: tells("Finalizing stage %q took more than %s", finalizingStage, finalizingStageLimit)},
	{no: 19, name: "Finalizing stage takes long", event: RefreshCluster, from: clusterStatuses{cFinalizing}, when: and(not(cStageReported), or(cSoft, cNonFailingStage), cStageTimedOut), effect: EffectStageTimedOut},
	{no: 20, name: "Still waiting for the user", event: RefreshCluster, from: clusterStatuses{cPending}, when: and(waits, goesOn), why: retryKeepsWaiting},
	{no: 21, name: "Installing again", event: RefreshCluster, from: clusterStatuses{cPending}, to: cInstalling, when: and(not(waits), isInstalling, not(isFinalizing)), info: tells(infoClusterInstalling)},
	{no: 22, name: "Finalizing again", event: RefreshCluster, from: clusterStatuses{cPending}, to: cFinalizing, when: and(not(waits), isFinalizing), info: tells(infoFinalizing)},
	{no: 23, name: "Waiting for the user", event: RefreshCluster, from: clusterStatuses{cInstalling, cFinalizing}, to: cPending, when: and(goesOn, waits), info: pendingInfo, why: retryKeepsWaiting},
	{no: 24, name: "Finalizing begins", event: RefreshCluster, from: clusterStatuses{cInstalling}, to: cFinalizing, when: and(isFinalizing, not(waits)), info: tells(infoFinalizing)},
	{no: 25, name: "Installing", event: RefreshCluster, from: clusterStatuses{cInstalling}, to: cInstalling, when: and(not(isFinalizing), not(waits), isInstalling), info: tells(infoClusterInstalling)},
	{no: 27, name: "Installed", event: RefreshCluster, from: clusterStatuses{cFinalizing}, to: cInstalled, when: and(cHostsDone, cComplete), effect: EffectCompleted, info: tells("The cluster is installed")},
	{no: 28, name: "Too many hosts failed", event: RefreshCluster, from: clusterStatuses{cInstalling}, to: cError, when: and(not(isFinalizing), not(isInstalling), not(cRetry)), effect: EffectFailed, info: tells(infoTooFew), why: retryKeepsWaiting},
	{no: 29, name: "Logs timed out", event: RefreshCluster, from: clusterStatuses{cError, cCancelled}, when: cLogsTimedOut, effect: EffectLogsTimedOut},
	{no: 30, name: "Cluster stays", event: RefreshCluster, from: clusterStatuses{cPreparing, cFinalizing, cInstalled, cError, cCancelled, model.ClusterAddingHosts, model.ClusterUnmonitored}},
}

// Status infos of more than one row.
const (
	infoClusterReady      = "The cluster is ready to be installed"
	infoClusterInstalling = "The installation is in progress"
	infoFinalizing        = "The cluster is up and being completed"
	infoTooFew            = "Too many hosts failed for the cluster to come up"
)

func tells(format string, args ...func(*cf) string) func(*cf) string {
	return func(f *cf) string {
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = a(f)
		}
		return fmt.Sprintf(format, values...)
	}
}

func prepareClusterLimit(f *cf) string  { return span(f.Timeouts.PrepareCluster) }
func installLimit(f *cf) string         { return span(f.Timeouts.Installation) }
func finalizingLimit(f *cf) string      { return span(f.Timeouts.Finalizing) }
func finalizingStage(f *cf) string      { return string(f.FinalizingStage) }
func finalizingStageLimit(f *cf) string { return span(f.FinalizingStageTimeout()) }

func clusterInputInfo(f *cf) string {
	return because("The cluster lacks input", f.Conditions.failedInput)
}

func insufficientInfo(f *cf) string {
	return because("The cluster cannot be installed yet", f.Conditions.failedForInstall)
}

func pendingInfo(f *cf) string {
	if f.HostPending {
		return "A host waits for its user: see the hosts' status"
	}
	return strings.Join([]string{infoTooFew, "retry the failed hosts, or cancel"}, "; ")
}
