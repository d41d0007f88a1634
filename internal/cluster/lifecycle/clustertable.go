package lifecycle

import "slipway/internal/model"

type (
	clusterRow      = row[model.ClusterStatus, ClusterEvent, ClusterFacts]
	clusterStatuses = model.ClusterStatuses
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

// retryKeepsWaiting is why several rows differ from v2's.
const retryKeepsWaiting = "while a failed host may be tried again the cluster waits for its user instead of failing"

// workflowEnds is why several rows have an event of their own.
const workflowEnds = "the workflow decides when, not the refresh"

// clusterRows are the rows of commands, workflows and the refresh.
var clusterRows = append(clusterCommandRows, clusterRefreshRows...)

// clusterCommandRows are in evaluation order (docs/reference/states.md, "Clusters").
var clusterCommandRows = []clusterRow{
	{
		name: "New cluster", event: RegisterCluster, to: cInsufficient, when: and(not(cDayTwo), not(cDisconnected)),
		info: clusterInfo("Cluster is being checked"),
		why:  "rules are evaluated before it can be ready",
	},
	{
		name: "New cluster that exists already", event: RegisterCluster, to: model.ClusterAddingHosts, when: cDayTwo,
		info: clusterInfo(infoTakesHosts),
		why:  "it was installed elsewhere and takes hosts at once",
	},
	{
		name: "New cluster out of reach", event: RegisterCluster, to: model.ClusterUnmonitored, when: cDisconnected,
		info: clusterInfo("Cluster is installed where this service is out of reach"),
		why:  "nothing of it is reported here",
	},
	{
		name: "Opened for hosts", event: OpenForHosts, from: clusterStatuses{cInstalled}, to: model.ClusterAddingHosts,
		effect: EffectOpened, info: clusterInfo(infoTakesHosts),
		why: "an installed cluster takes hosts only on command",
	},
	{
		no: 1, name: "Cancel installation", event: CancelCluster, from: clusterStatuses{cInstalling, cPending, cError, cFinalizing},
		to: cCancelled, effect: EffectCancelled, info: clusterInfo(infoCancelled),
	},
	{
		no: 2, name: "Cancel preparation", event: CancelCluster, from: clusterStatuses{cPreparing},
		to: cReady, effect: EffectCancelled, info: clusterReason(infoPreparationFailed),
	},
	{
		no: 3, name: "Reset installation", event: ResetCluster,
		from: clusterStatuses{cPreparing, cInstalling, cPending, cError, cCancelled, cFinalizing},
		to:   cInsufficient, effect: EffectReset, info: clusterInfo(infoReset),
	},
	{
		name: "Reset after the preparation ended", event: ResetCluster, from: BeforeInstallation,
		to: cInsufficient, when: cHostsResetting, effect: EffectReset, info: clusterInfo(infoReset),
		why: "the reset was accepted while the preparation ended by itself",
	},
	{
		name: "Agents have stopped", event: FinishClusterReset, from: BeforeInstallation, effect: EffectForgotten,
		why: "the reset began when they were asked to stop; what they reported since is of the installation that is over",
	},
	{
		name: "Reset that an older version began", event: FinishClusterReset,
		from: clusterStatuses{cPreparing, cInstalling, cPending, cError, cCancelled, cFinalizing},
		to:   cInsufficient, effect: EffectReset, info: clusterInfo(infoReset),
		why: "it left the cluster's status until agents had stopped",
	},
	{
		no: 4, name: "Begin installation", event: PrepareCluster, from: clusterStatuses{cReady},
		to: cPreparing, effect: EffectPrepared, info: clusterInfo("Preparing cluster for installation"),
	},
	{
		no: 11, name: "Preparation done", event: PreparationEnded, from: clusterStatuses{cPreparing},
		to: cInstalling, when: and(cHostsPrepared, cPrepSucceeded), info: clusterInfo(infoClusterInstalling),
		why: workflowEnds,
	},
	{
		no: 12, name: "Host fell out of preparation", event: PreparationEnded, from: clusterStatuses{cPreparing},
		to: cInsufficient, when: cUnpreparing, effect: EffectPreparationFailed, info: clusterReason(infoPreparationFailed),
		why: workflowEnds,
	},
	{
		no: 13, name: "Preparation failed", event: PreparationEnded, from: clusterStatuses{cPreparing},
		to: cReady, when: or(cFailedPreparing, and(not(cUnpreparing), cPrepFailed)), effect: EffectPreparationFailed,
		info: clusterReason(infoPreparationFailed),
		why:  workflowEnds + "; a preparation that took too long has failed too",
	},
	{
		name: "Installation failed", event: InstallationFailed, from: clusterStatuses{cPreparing, cInstalling, cPending, cFinalizing},
		to: cError, effect: EffectFailed, info: func(f *cf) string { return f.Reason },
		why: "time-outs of the whole installation, of finalizing and of its stages, a final failure that the controller " +
			"reports, or a workflow that failed",
	},
	{
		no: 18, name: "Finalizing stage timed out", event: FinalizingStageTimeout, from: clusterStatuses{cFinalizing},
		to: cError, when: and(not(cSoft), not(cNonFailingStage)), effect: EffectFailed,
		info: clusterInfo("Finalizing stage %q took more than %s", finalizingStage, clusterLimit),
		why:  "the workflow's timer has ended, and the workflow fails the cluster with this reason",
	},
	{
		no: 19, name: "Finalizing stage takes long", event: FinalizingStageTimeout, from: clusterStatuses{cFinalizing},
		when: and(not(cStageReported), or(cSoft, cNonFailingStage)), effect: EffectStageTimedOut,
		why: "the workflow's timer has ended",
	},
	{
		name: "Finalizing stage timed out while the user was awaited", event: FinalizingStageTimeout, from: clusterStatuses{cPending, cError},
		to: cError, when: and(not(cSoft), not(cNonFailingStage)), effect: EffectFailed,
		info: clusterInfo("Finalizing stage %q took more than %s", finalizingStage, clusterLimit),
		why:  "the stage has its own limit, whatever else the cluster waits for",
	},
	{
		name: "Finalizing stage takes long while the user is awaited", event: FinalizingStageTimeout, from: clusterStatuses{cPending, cError},
		when: and(not(cStageReported), or(cSoft, cNonFailingStage)), effect: EffectStageTimedOut,
		why: "the stage has its own limit, whatever else the cluster waits for",
	},
	{
		name: "Finalizing stage still takes long", event: FinalizingStageTimeout, from: clusterStatuses{cFinalizing, cPending, cError},
		why: "it was reported already",
	},
	{
		name: "Resume installation", event: ResumeCluster, from: clusterStatuses{cError},
		to: cInstalling, when: and(cRetry, not(isFinalizing)), info: clusterInfo("The installation continues"),
		why: "its workflow still runs and got more time",
	},
	{
		name: "Resume finalizing", event: ResumeCluster, from: clusterStatuses{cError},
		to: cFinalizing, when: and(cRetry, isFinalizing), effect: EffectResumed, info: clusterInfo("Finalizing continues"),
		why: "its workflow still runs and got more time",
	},
	{
		no: 27, name: "Installed", event: FinishInstallation, from: clusterStatuses{cFinalizing},
		to: cInstalled, when: cHostsDone, effect: EffectCompleted, info: installedInfo,
		why: workflowEnds + ": it has waited for hasClusterCompleteInstallation",
	},
	{
		name: "Installed before it was evaluated", event: FinishInstallation, from: clusterStatuses{cInstalling, cPending, cError},
		to: cInstalled, when: cHostsDone, effect: EffectCompleted, info: installedInfo,
		why: "the last host was done after the last evaluation, or the cluster came up with fewer hosts than were required",
	},
}

// clusterRefreshRows are evaluated after every change, in this order.
var clusterRefreshRows = []clusterRow{
	{
		no: 5, name: "Input missing", event: RefreshCluster, from: BeforeInstallation,
		to: cInput, when: and(not(vipDHCP), not(cInputNonDHCP)), info: clusterInputInfo,
	},
	{
		no: 6, name: "Cluster insufficient", event: RefreshCluster, from: BeforeInstallation,
		to: cInsufficient, when: and(not(vipDHCP), cInputNonDHCP, not(cRequired)), info: insufficientInfo,
	},
	{
		no: 7, name: "Input missing with leased VIPs", event: RefreshCluster, from: BeforeInstallation,
		to: cInput, when: and(vipDHCP, not(cPendingInput)), info: clusterInputInfo,
	},
	{
		no: 8, name: "Cluster insufficient with leased VIPs", event: RefreshCluster, from: BeforeInstallation,
		to: cInsufficient, when: and(vipDHCP, cPendingInput, not(cSufficientDHCP)), info: insufficientInfo,
	},
	{
		no: 9, name: "Cluster ready", event: RefreshCluster, from: BeforeInstallation,
		to: cReady, when: cAll, info: clusterInfo(infoClusterReady),
	},
	{
		no: 14, name: "Too many hosts failed while waiting", event: RefreshCluster, from: clusterStatuses{cPending},
		to: cError, when: not(continues), effect: EffectFailed, info: clusterInfo(infoTooFew), why: retryKeepsWaiting,
	},
	{
		no: 20, name: "Still waiting for the user", event: RefreshCluster, from: clusterStatuses{cPending},
		when: and(waits, continues), why: retryKeepsWaiting,
	},
	{
		no: 21, name: "Installing again", event: RefreshCluster, from: clusterStatuses{cPending},
		to: cInstalling, when: and(not(waits), isInstalling, not(isFinalizing)), info: clusterInfo(infoClusterInstalling),
	},
	{
		no: 22, name: "Finalizing again", event: RefreshCluster, from: clusterStatuses{cPending},
		to: cFinalizing, when: and(not(waits), isFinalizing), info: clusterInfo(infoFinalizing),
	},
	{
		no: 23, name: "Waiting for the user", event: RefreshCluster, from: clusterStatuses{cInstalling, cFinalizing},
		to: cPending, when: and(continues, waits), info: pendingInfo, why: retryKeepsWaiting,
	},
	{
		no: 24, name: "Finalizing begins", event: RefreshCluster, from: clusterStatuses{cInstalling},
		to: cFinalizing, when: and(isFinalizing, not(waits)), info: clusterInfo(infoFinalizing),
	},
	{
		no: 25, name: "Installing", event: RefreshCluster, from: clusterStatuses{cInstalling},
		to: cInstalling, when: and(not(isFinalizing), not(waits), isInstalling), info: clusterInfo(infoClusterInstalling),
	},
	{
		no: 28, name: "Too many hosts failed", event: RefreshCluster, from: clusterStatuses{cInstalling},
		to: cError, when: and(not(isFinalizing), not(isInstalling), not(cRetry)), effect: EffectFailed, info: clusterInfo(infoTooFew),
		why: retryKeepsWaiting,
	},
	{
		no: 29, name: "Logs timed out", event: RefreshCluster, from: clusterStatuses{cError, cCancelled},
		when: cLogsTimedOut, effect: EffectLogsTimedOut,
	},
	{
		no: 30, name: "Cluster stays", event: RefreshCluster,
		from: clusterStatuses{
			cPreparing, cFinalizing, cInstalled, cError, cCancelled, model.ClusterAddingHosts, model.ClusterUnmonitored,
		},
	},
}
