package lifecycle

import (
	"slices"

	"slipway/internal/model"
)

type (
	hostRow  = row[model.HostStatus, HostEvent, HostFacts]
	statuses = model.HostStatuses
)

// Short names of the host statuses, for tables that can be read.
const (
	discovering  = model.HostDiscovering
	known        = model.HostKnown
	disconnected = model.HostDisconnected
	lacking      = model.HostInsufficient
	pendingInput = model.HostPendingForInput
	preparing    = model.HostPreparingForInstallation
	prepFailed   = model.HostPreparingFailed
	prepared     = model.HostPreparingSuccessful
	installing   = model.HostInstalling
	inProgress   = model.HostInstallingInProgress
	waitsForUser = model.HostInstallingPendingUserAction
	installed    = model.HostInstalled
	added        = model.HostAddedToExistingCluster
	failed       = model.HostError
	cancelled    = model.HostCancelled
	resetting    = model.HostResetting
	resetWaits   = model.HostResettingPendingUserAction
	binding      = model.HostBinding
	unbinding    = model.HostUnbinding
	unbindWaits  = model.HostUnbindingPendingUserAction
	reclaiming   = model.HostReclaiming
	rebooting    = model.HostReclaimingRebooting
)

var (
	// rebootable are the statuses of a host that may have to be booted again for a reset.
	rebootable = statuses{
		resetting, discovering, known, waitsForUser, installing, preparing, prepared, prepFailed,
		pendingInput, resetWaits, inProgress, installed, failed, cancelled, added,
	}
	// resettable are rebootable and the statuses of a silent or too small host.
	resettable = append(statuses{disconnected, lacking}, rebootable...)
	// inAttempt are the statuses of a host whose workflow runs: a host that was booted again for another attempt passes through discovery.
	inAttempt = statuses{
		discovering, known, disconnected, lacking, pendingInput, preparing, prepFailed, prepared,
		installing, inProgress, waitsForUser, resetWaits, failed,
	}
)

// hostRows are the rows of bound hosts in evaluation order: commands and reports, the
// workflow's, and the refresh (docs/reference/states.md, "Hosts of a cluster").
var hostRows = slices.Concat(hostReportRows, hostWorkflowRows, refreshRows)

// reportsAhead is why a failed host continues by itself.
const reportsAhead = "it runs from its disk: its boot order was repaired, or the service restored from a backup before its reboot"

// hostReportRows are the rows of reports by agents, installers and users.
var hostReportRows = []hostRow{
	{
		no: 1, name: "Initial registration", event: RegisterHost,
		to: discovering, when: not(isUnbound), effect: EffectRegistered, info: hostInfo(infoDiscovering),
	},
	{
		no: 2, name: "Rebooting day-2 host stays in progress", event: HostProgressed, from: statuses{inProgress, installing},
		to: inProgress, when: and(inReboot, isDayTwo), info: stageInfo,
	},
	{
		name: "Day-2 host rebooted after its only step", event: HostProgressed, from: statuses{inProgress, installing, waitsForUser},
		to: added, when: and(inDone, isDayTwo, silentAfterReboot), info: hostInfo(infoAddedUnseen),
		why: "agents that install in one step report nothing after the reboot: clients wait for this status",
	},
	{
		name: "Day-2 host is added already", event: HostProgressed, from: statuses{added},
		why: "a controller may report the node of a host whose agent reports no more",
	},
	{
		no: 3, name: "Day-2 host joined its cluster", event: HostProgressed, from: statuses{inProgress, installing, waitsForUser},
		to: added, when: and(inDone, isDayTwo), info: hostInfo("The host is part of the cluster"),
	},
	{
		no: 4, name: "Host is done", event: HostProgressed, from: statuses{inProgress, installing},
		to: installed, when: inDone, info: hostInfo(infoInstalled),
	},
	{
		name: "Host is done although it waited for its user", event: HostProgressed, from: statuses{waitsForUser},
		to: installed, when: inDone, info: hostInfo(infoInstalled),
		why: "a node that is ready needs no second report to count as installed",
	},
	{
		name: "Host of another cluster is done although its workflow waits for a decision", event: HostProgressed, from: statuses{failed},
		to: added, when: and(awaitingRetry, inDone, isDayTwo), effect: EffectContinued, info: hostInfo("The host is part of the cluster"),
		why: reportsAhead,
	},
	{
		name: "Host is done although its workflow waits for a decision", event: HostProgressed, from: statuses{failed},
		to: installed, when: and(awaitingRetry, inDone), effect: EffectContinued, info: hostInfo(infoInstalled), why: reportsAhead,
	},
	{
		name: "Host is ahead of its workflow, which waits for a decision", event: HostProgressed, from: statuses{failed},
		to: inProgress, when: and(awaitingRetry, hasRebooted), effect: EffectContinued, info: stageInfo, why: reportsAhead,
	},
	{
		no: 5, name: "Host progresses", event: HostProgressed, from: statuses{inProgress, installing, waitsForUser},
		to: inProgress, info: stageInfo,
	},
	{
		no: 6, name: "Progress changes nothing", event: HostProgressed, from: statuses{installed, waitsForUser, resetWaits},
	},
	{
		no: 7, name: "Registration again while preparing", event: RegisterHost, from: statuses{preparing, prepared},
		to: known, effect: EffectRegistered, info: hostInfo("The host restarted while it was prepared, preparation begins again"),
	},
	{
		name: "Registration before the boot that a reset needs", event: RegisterHost, from: statuses{resetWaits}, when: beganBootstrap,
		why: "an agent that starts again changes nothing about the bootstrap that runs beside it",
	},
	{
		no: 8, name: "Registration again", event: RegisterHost,
		from: statuses{discovering, known, disconnected, lacking, resetWaits, binding, pendingInput},
		to:   discovering, effect: EffectRegistered, info: hostInfo(infoDiscovering),
	},
	{
		no: 9, name: "Registration before the reboot of a reset", event: RegisterHost, from: statuses{resetting},
		to: resetting, when: inReboot,
	},
	{
		no: 10, name: "Registration after a reset", event: RegisterHost, from: statuses{resetting},
		to: discovering, when: not(inReboot), effect: EffectRegistered, info: hostInfo(infoDiscovering),
	},
	{
		no: 11, name: "Wrong boot order", event: RegisterHost, from: statuses{inProgress, waitsForUser, added},
		to: waitsForUser, when: or(inReboot, and(isDayTwo, inDone)), effect: EffectWrongBootOrder, info: hostInfo(infoWrongBootOrder),
	},
	{
		no: 12, name: "Registration while installing", event: RegisterHost, from: statuses{installing, inProgress},
		to: failed, effect: EffectFailed, info: hostInfo("The host restarted unexpectedly while it was installed, %s", inStage),
	},
	{no: 13, name: "Registration after a failure", event: RegisterHost, from: statuses{failed}, to: failed},
	{
		no: 14, name: "Registration after installation", event: RegisterHost, from: statuses{installed},
		to: installed, effect: EffectWrongBootOrder, info: hostInfo(infoWrongBootOrder),
	},
	{
		no: 15, name: "Installation failed", event: HostInstallationFailed, from: statuses{installing, inProgress},
		to: failed, effect: EffectFailed, info: hostReason("The installation failed %s", inStage),
	},
	{
		no: 16, name: "Installation cancelled", event: CancelHost, from: statuses{waitsForUser, installing, inProgress, installed, failed},
		to: cancelled, effect: EffectCancelled, info: hostInfo(infoCancelled),
	},
	{
		name: "Installation cancelled before the next attempt", event: CancelHost,
		from: statuses{discovering, known, disconnected, lacking, pendingInput, preparing, prepFailed, prepared, resetWaits},
		to:   cancelled, when: clusterCancels, effect: EffectCancelled, info: hostInfo(infoCancelled),
		why: "a host that was booted again for another attempt ends with its cluster",
	},
	{
		no: 17, name: "Preparation cancelled", event: CancelHost, from: statuses{preparing, prepared},
		to: known, effect: EffectCancelled, info: hostInfo(infoKnown),
	},
	{no: 18, name: "Nothing to cancel", event: CancelHost, from: statuses{known}, effect: EffectCancelled},
	{
		no: 19, name: "Install day-2 host", event: InstallHost, from: statuses{known},
		to: installing, when: isDayTwo, info: hostInfo(infoInstalling),
	},
	{
		no: 21, name: "Unbind before installation", event: UnbindHost,
		from: statuses{known, discovering, disconnected, lacking, pendingInput},
		to:   unbinding, effect: EffectUnbound, info: hostInfo("The host leaves the cluster"),
	},
	{
		no: 22, name: "Unbind during or after installation", event: UnbindHost,
		from: statuses{preparing, prepared, prepFailed, installing, inProgress, waitsForUser, installed, added, failed, cancelled},
		to:   unbindWaits, effect: EffectUnbound, info: hostInfo(infoUnbindWaits),
	},
	{
		name: "Unbind before it registered for the cluster", event: UnbindHost, from: statuses{binding},
		to: unbinding, effect: EffectUnbound, info: hostInfo("The host leaves the cluster"),
		why: "its cluster may be deleted at that moment",
	},
	{
		name: "Unbind during a reset", event: UnbindHost, from: statuses{resetting, resetWaits},
		to: unbindWaits, effect: EffectUnbound, info: hostInfo(infoUnbindWaits),
		why: "its cluster may be deleted before the reset has ended",
	},
	{
		no: 23, name: "Reclaim installed host", event: ReclaimHost, from: statuses{installed, added},
		to: reclaiming, effect: EffectUnbound, info: hostInfo("The host fetches the discovery image"),
	},
	{
		no: 24, name: "Reclaimed host reboots", event: RebootingForReclaim, from: statuses{reclaiming},
		to: rebooting, info: hostInfo("The host reboots into discovery"),
	},
	{
		no: 25, name: "Reclaim failed", event: ReclaimFailed, from: statuses{reclaiming, rebooting},
		to: unbindWaits, info: hostReason(infoUnbindWaits),
	},
	{
		no: 27, name: "Reclaim before installation", event: ReclaimHost,
		from: statuses{known, discovering, disconnected, lacking, pendingInput},
		to:   unbinding, effect: EffectUnbound, info: hostInfo("The host leaves the cluster"),
	},
	{
		no: 28, name: "Reclaim failed host", event: ReclaimHost, from: statuses{failed, cancelled},
		to: unbindWaits, effect: EffectUnbound, info: hostInfo(infoUnbindWaits),
	},
	{
		no: 41, name: "Media gone before installation", event: MediaDisconnect,
		from: statuses{discovering, lacking, known, pendingInput, disconnected, binding},
		to:   disconnected, info: hostInfo(infoMediaGone),
	},
	{
		no: 42, name: "Media gone during installation", event: MediaDisconnect,
		from: statuses{preparing, prepFailed, prepared, installing, inProgress, failed},
		to:   failed, effect: EffectFailed, info: hostInfo(infoMediaGone),
	},
}
