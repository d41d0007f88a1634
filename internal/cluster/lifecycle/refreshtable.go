package lifecycle

import "slipway/internal/model"

// refreshRows are evaluated after every change, in this order.
var refreshRows = []hostRow{
	{
		no: 29, name: "Preparation begins", event: RefreshHost, from: statuses{known},
		to: preparing, when: and(validRole, isConnected, mediaConnected, clusterPreparing), info: hostInfo(infoPreparing),
	},
	{
		no: 30, name: "Preparation succeeded", event: RefreshHost, from: statuses{preparing},
		to: prepared, when: and(isConnected, mediaConnected, allPassed, clusterPreparing), info: hostInfo("The host is ready to be installed"),
	},
	{
		no: 31, name: "Prepared host waits", event: RefreshHost, from: statuses{prepared},
		when: and(isConnected, mediaConnected, clusterPreparing),
	},
	{
		no: 34, name: "Disk too slow to be checked", event: RefreshHost, from: statuses{preparing, prepFailed, known},
		to: lacking, when: and(isConnected, mediaConnected, not(diskSpeedNotFailed)), info: notReady,
	},
	{
		no: 36, name: "Images not available", event: RefreshHost, from: statuses{preparing},
		to: prepFailed, when: and(isConnected, mediaConnected, not(imagesNotFailed)),
		info: hostInfo("The host could not pull the images of the installation"),
	},
	{
		no: 37, name: "Preparation continues", event: RefreshHost, from: statuses{preparing},
		when: and(isConnected, mediaConnected, someUnknown, clusterPreparing),
	},
	{
		no: 40, name: "Host disconnected", event: RefreshHost,
		from: statuses{discovering, lacking, known, pendingInput, disconnected, prepFailed},
		to:   disconnected, when: or(not(isConnected), not(mediaConnected)), info: disconnectedInfo,
	},
	{
		no: 43, name: "Cluster failed", event: RefreshHost, from: statuses{installing, inProgress, installed, resetWaits, waitsForUser},
		to: failed, when: and(clusterInError, not(isDayTwo), not(awaitingRetry)),
		info: hostInfo("The installation ended because the cluster failed"),
		why:  "while a failed host may be tried again the others keep their states",
	},
	{
		no: 45, name: "Disconnected while preparing", event: RefreshHost, from: statuses{preparing, prepared},
		to: disconnected, when: or(not(isConnected), not(mediaConnected)),
		info: hostInfo("The host fell silent while it was prepared, there was no sign of it for %s", disconnectLimit),
	},
	{
		no: 46, name: "Disconnected while installing", event: RefreshHost, from: statuses{installing, inProgress},
		to: failed, when: and(not(isConnected), not(softTimeouts)), effect: EffectFailed,
		info: hostInfo(infoSilentInstalling, disconnectLimit),
	},
	{
		no: 47, name: "Silent while installing", event: RefreshHost, from: statuses{installing, inProgress},
		when: and(not(isConnected), softTimeouts, not(connectionTimedOut)), effect: EffectConnectionLost,
		info: hostInfo(infoSilentInstalling, disconnectLimit),
	},
	{
		no: 48, name: "Back while installing", event: RefreshHost, from: statuses{installing, inProgress},
		when: and(isConnected, softTimeouts, connectionTimedOut), effect: EffectConnectionBack,
		info: hostInfo("The host is back and continues with stage %s", stageOf),
	},
	{
		no: 49, name: "Stage waits for another host's user", event: RefreshHost, from: statuses{inProgress},
		when: ignoreProgress, effect: EffectStageClockRestarted,
	},
	{
		no: 58, name: "Installation continues", event: RefreshHost,
		from: statuses{installing, inProgress, installed, waitsForUser, resetWaits}, when: not(clusterInError),
	},
	{
		name: "Installation waits for a retry", event: RefreshHost,
		from: statuses{installing, inProgress, installed, waitsForUser, resetWaits}, when: and(clusterInError, awaitingRetry),
		why: `counterpart of the exception in "Cluster failed"`,
	},
	{
		no: 59, name: "Discovery", event: RefreshHost, from: statuses{disconnected, discovering},
		to: discovering, when: and(isConnected, mediaConnected, not(validInventory)), info: hostInfo(infoDiscovering),
	},
	{
		no: 60, name: "Hardware insufficient", event: RefreshHost, from: discoveryStatuses,
		to: lacking, when: and(isConnected, mediaConnected, validInventory, not(enoughHardware)), info: hardwareInfo,
	},
	{
		no: 61, name: "Input missing", event: RefreshHost, from: discoveryStatuses,
		to: pendingInput, when: and(isConnected, mediaConnected, validInventory, vsphereUUID, enoughHardware, not(inputExists)),
		info: inputInfo,
	},
	{
		no: 62, name: "Host not ready", event: RefreshHost, from: discoveryStatuses,
		to: lacking, info: notReady,
		when: and(
			isConnected, mediaConnected, hasInventory, or(enoughHardware, not(notFullyTruncated)),
			or(not(vsphereUUID), and(inputExists, not(sufficient))),
		),
	},
	{
		no: 63, name: "Host ready", event: RefreshHost, from: statuses{disconnected, lacking, pendingInput, discovering},
		to: known, when: ready, info: hostInfo(infoKnown),
	},
	{
		no: 64, name: "Host stays ready", event: RefreshHost, from: statuses{known},
		to: known, when: and(ready, not(and(clusterPreparing, validRole))), info: hostInfo(infoKnown),
	},
	{
		no: 65, name: "Logs timed out", event: RefreshHost, from: statuses{failed, cancelled},
		when: logsTimeout, effect: EffectLogsTimedOut,
	},
	{no: 66, name: "Host stays as it ended", event: RefreshHost, from: statuses{failed, cancelled, resetting}},
	{no: 67, name: "Day-2 host stays in its cluster", event: RefreshHost, from: statuses{added}, when: isDayTwo},
	{
		no: 68, name: "Reclaim continues", event: RefreshHost, from: statuses{reclaiming, rebooting},
		why: "its workflow ends it",
	},
}

var discoveryStatuses = statuses{disconnected, discovering, lacking, known, pendingInput}

// ready is everything a host needs to be installed.
var ready = and(isConnected, mediaConnected, validInventory, enoughHardware, inputExists, sufficient, vsphereUUID)

// poolRows are the rows of unbound hosts (docs/reference/states.md, "Hosts without a
// cluster"). Hosts in binding and unbinding are refreshed by it whichever side they are on.
var poolRows = []hostRow{
	{
		no: 1, name: "Initial registration unbound", event: RegisterHost,
		to: model.HostDiscoveringUnbound, when: isUnbound, effect: EffectRegistered, info: hostInfo(infoDiscovering),
	},
	{
		no: 2, name: "Registration again unbound", event: RegisterHost,
		from: append(statuses{unbinding, unbindWaits, rebooting}, poolDiscovery...),
		to:   model.HostDiscoveringUnbound, effect: EffectRegistered, info: hostInfo(infoDiscovering),
	},
	{
		no: 3, name: "Bind", event: BindHost, from: statuses{model.HostKnownUnbound},
		to: binding, info: hostInfo("The host joins a cluster"),
	},
	{
		no: 4, name: "Unbound host disconnected", event: RefreshHost, from: append(statuses{unbinding}, poolDiscovery...),
		to: model.HostDisconnectedUnbound, when: not(isConnected), info: disconnectedInfo,
	},
	{
		no: 5, name: "Media of unbound host gone", event: MediaDisconnect, from: append(statuses{unbinding}, poolDiscovery...),
		to: model.HostDisconnectedUnbound, info: hostInfo(infoMediaGone),
	},
	{
		no: 6, name: "Unbound discovery", event: RefreshHost,
		from: statuses{model.HostDisconnectedUnbound, model.HostDiscoveringUnbound},
		to:   model.HostDiscoveringUnbound, when: and(isConnected, mediaConnected, not(validInventory)), info: hostInfo(infoDiscovering),
	},
	{
		no: 7, name: "Hardware of unbound host insufficient", event: RefreshHost, from: poolDiscovery,
		to: model.HostInsufficientUnbound, when: and(isConnected, mediaConnected, validInventory, not(bindable)), info: poolHardwareInfo,
	},
	{no: 8, name: "Binding continues", event: RefreshHost, from: statuses{binding, unbinding}},
	{
		no: 9, name: "Ready to be bound", event: RefreshHost, from: poolDiscovery,
		to: model.HostKnownUnbound, when: and(isConnected, mediaConnected, validInventory, bindable),
		info: hostInfo("The host can be bound to a cluster"),
	},
}

var poolDiscovery = statuses{
	model.HostDiscoveringUnbound, model.HostDisconnectedUnbound, model.HostInsufficientUnbound, model.HostKnownUnbound,
}

// lastHostRows are evaluated after both tables.
var lastHostRows = []hostRow{
	{
		name: "Nothing changes", event: RefreshHost,
		from: append(statuses{
			discovering, known, disconnected, lacking, pendingInput, preparing, prepFailed, prepared, added,
			installing, inProgress, installed, waitsForUser, resetWaits,
			model.HostDisabled, model.HostDisabledUnbound, unbindWaits,
		}, poolDiscovery...),
		why: "a refresh is not a command: a host that fits no row keeps its status",
	},
}
