package lifecycle

import "slipway/internal/model"

// refreshRows are the Refresh rows of contract/states.md 2b, in evaluation order.
var refreshRows = []hostRow{
	{no: 26, name: "Reclaim timed out", event: RefreshHost, from: statuses{reclaiming, rebooting}, to: unbindWaits, when: reclaimTimedOut, effect: EffectUnbound, info: says(infoUnbindWaits)},
	{no: 29, name: "Preparation begins", event: RefreshHost, from: statuses{known}, to: preparing, when: and(validRole, isConnected, mediaConnected, clusterPreparing), effect: EffectPrepared, info: says("The host is checked before the installation")},
	{no: 30, name: "Preparation succeeded", event: RefreshHost, from: statuses{preparing}, to: prepared, when: and(isConnected, mediaConnected, allPassed, clusterPreparing), info: says("The host is ready to be installed")},
	{no: 31, name: "Prepared host waits", event: RefreshHost, from: statuses{prepared}, when: and(isConnected, mediaConnected, clusterPreparing)},
	{no: 32, name: "Installation begins", event: RefreshHost, from: statuses{prepared}, to: installing, when: and(isConnected, mediaConnected, clusterInstalling), info: says(infoInstalling)},
	{no: 33, name: "Cluster stopped preparing", event: RefreshHost, from: statuses{preparing}, to: known, when: and(isConnected, mediaConnected, nonFailed, not(clusterPreparing)), info: says(infoKnown)},
	{no: 34, name: "Disk too slow to be checked", event: RefreshHost, from: statuses{preparing, prepFailed, known}, to: lacking, when: and(isConnected, mediaConnected, not(diskSpeedNotFailed)), info: notReady},
	{no: 35, name: "Preparation timed out", event: RefreshHost, from: statuses{preparing}, to: prepFailed, when: and(isConnected, mediaConnected, preparingTimedOut, someUnknown, nonFailed), info: says("The checks before the installation did not end in %s", prepareLimit)},
	{no: 36, name: "Images not available", event: RefreshHost, from: statuses{preparing}, to: prepFailed, when: and(isConnected, mediaConnected, not(imagesNotFailed)), info: says("The host could not pull the images of the installation")},
	{no: 37, name: "Preparation goes on", event: RefreshHost, from: statuses{preparing}, when: and(isConnected, mediaConnected, someUnknown, clusterPreparing)},
	{no: 38, name: "Failed preparation is over", event: RefreshHost, from: statuses{prepFailed}, to: known, when: and(isConnected, mediaConnected, not(clusterPreparing)), info: says(infoKnown)},
	{no: 39, name: "Prepared host is not needed", event: RefreshHost, from: statuses{prepared}, to: known, when: and(isConnected, mediaConnected, not(or(clusterPreparing, clusterInstalling))), info: says(infoKnown)},
	{no: 40, name: "Host disconnected", event: RefreshHost, from: statuses{discovering, lacking, known, pendingInput, disconnected, prepFailed}, to: disconnected, when: or(not(isConnected), not(mediaConnected)), info: disconnectedInfo},
	{
		no: 43, name: "Cluster failed", event: RefreshHost, from: statuses{installing, inProgress, installed, resetWaits, waitsForUser}, to: failed, when: and(clusterInError, not(isDayTwo), not(awaitingRetry)), info: says("The installation ended because the cluster failed"),
		why: "while a failed host may be tried again the others keep their states",
	},
	{no: 44, name: "Step not taken", event: RefreshHost, from: statuses{installing}, to: failed, when: pickupTimedOut, effect: EffectFailed, info: says("The host did not begin the installation in %s", pickupLimit)},
	{no: 45, name: "Disconnected while preparing", event: RefreshHost, from: statuses{preparing, prepared}, to: disconnected, when: or(not(isConnected), not(mediaConnected)), info: says("The host fell silent while it was prepared, there was no sign of it for %s", disconnectLimit)},
	{no: 46, name: "Disconnected while installing", event: RefreshHost, from: statuses{installing, inProgress}, to: failed, when: and(not(isConnected), not(softTimeouts)), effect: EffectFailed, info: says(infoSilentInstalling, disconnectLimit)},
	{no: 47, name: "Silent while installing", event: RefreshHost, from: statuses{installing, inProgress}, when: and(not(isConnected), softTimeouts, not(connectionTimedOut)), effect: EffectConnectionLost, info: says(infoSilentInstalling, disconnectLimit)},
	{no: 48, name: "Back while installing", event: RefreshHost, from: statuses{installing, inProgress}, when: and(isConnected, softTimeouts, connectionTimedOut), effect: EffectConnectionBack, info: says("The host is back and goes on with stage %s", stageOf)},
	{no: 49, name: "Stage waits for another host's user", event: RefreshHost, from: statuses{inProgress}, when: ignoreProgress, effect: EffectStageClockRestarted},
	{no: 50, name: "Stage timed out", event: RefreshHost, from: statuses{inProgress}, to: failed, when: and(not(softTimeouts), not(ownTimeout), progressTimedOut, not(ignoreProgress)), effect: EffectFailed, info: stageTimeout},
	{no: 51, name: "Writing the image timed out", event: RefreshHost, from: statuses{inProgress}, to: failed, when: and(not(softTimeouts), writingImage, progressTimedOut, not(ignoreProgress)), effect: EffectFailed, info: writingTimeout},
	{no: 52, name: "Copying data timed out", event: RefreshHost, from: statuses{inProgress}, to: failed, when: and(not(softTimeouts), copyingData, progressTimedOut, not(ignoreProgress)), effect: EffectFailed, info: copyingTimeout},
	{no: 53, name: "Stage takes long", event: RefreshHost, from: statuses{inProgress}, when: and(softTimeouts, not(stageTimedOut), not(ownTimeout), progressTimedOut, not(ignoreProgress)), effect: EffectStageTimedOut, info: stageTimeout},
	{no: 54, name: "Writing the image takes long", event: RefreshHost, from: statuses{inProgress}, when: and(softTimeouts, not(stageTimedOut), writingImage, progressTimedOut, not(ignoreProgress)), effect: EffectStageTimedOut, info: writingTimeout},
	{no: 55, name: "Copying data takes long", event: RefreshHost, from: statuses{inProgress}, when: and(softTimeouts, not(stageTimedOut), copyingData, progressTimedOut, not(ignoreProgress)), effect: EffectStageTimedOut, info: copyingTimeout},
	{no: 56, name: "Reboot takes too long", event: RefreshHost, from: statuses{inProgress}, to: waitsForUser, when: and(progressTimedOut, inReboot), info: says("The host has not come up from its disk in %s, check its boot order", stageLimit)},
	{no: 57, name: "User did not act", event: RefreshHost, from: statuses{waitsForUser}, to: failed, when: and(actionTimedOut, viable, not(clusterPost)), effect: EffectFailed, info: says("The host waited for its user for %s, the cluster goes on without it", actionLimit)},
	{no: 58, name: "Installation goes on", event: RefreshHost, from: statuses{installing, inProgress, installed, waitsForUser, resetWaits}, when: not(clusterInError)},
	{
		name: "Installation waits for a retry", event: RefreshHost, from: statuses{installing, inProgress, installed, waitsForUser, resetWaits}, when: and(clusterInError, awaitingRetry),
		why: "counterpart of the exception in row 43",
	},
	{no: 59, name: "Discovery", event: RefreshHost, from: statuses{disconnected, discovering}, to: discovering, when: and(isConnected, mediaConnected, not(validInventory)), info: says(infoDiscovering)},
	{no: 60, name: "Hardware insufficient", event: RefreshHost, from: discoveryStatuses, to: lacking, when: and(isConnected, mediaConnected, validInventory, not(enoughHardware)), info: hardwareInfo},
	{no: 61, name: "Input missing", event: RefreshHost, from: discoveryStatuses, to: pendingInput, when: and(isConnected, mediaConnected, validInventory, vsphereUUID, enoughHardware, not(inputExists)), info: inputInfo},
	{no: 62, name: "Host not ready", event: RefreshHost, from: discoveryStatuses, to: lacking, when: and(isConnected, mediaConnected, hasInventory, or(enoughHardware, not(notFullyTruncated)), or(not(vsphereUUID), and(inputExists, not(sufficient)))), info: notReady},
	{no: 63, name: "Host ready", event: RefreshHost, from: statuses{disconnected, lacking, pendingInput, discovering}, to: known, when: ready, info: says(infoKnown)},
	{no: 64, name: "Host stays ready", event: RefreshHost, from: statuses{known}, to: known, when: and(ready, not(and(clusterPreparing, validRole))), info: says(infoKnown)},
	{no: 65, name: "Logs timed out", event: RefreshHost, from: statuses{failed, cancelled}, when: logsTimeout, effect: EffectLogsTimedOut},
	{no: 66, name: "Host stays as it ended", event: RefreshHost, from: statuses{failed, cancelled, resetting}},
	{no: 67, name: "Day-2 host stays in its cluster", event: RefreshHost, from: statuses{added}, when: isDayTwo},
	{no: 68, name: "Reclaim goes on", event: RefreshHost, from: statuses{reclaiming, rebooting}, when: not(reclaimTimedOut)},
}

var discoveryStatuses = statuses{disconnected, discovering, lacking, known, pendingInput}

// ready is everything a host needs to be installed.
var ready = and(isConnected, mediaConnected, validInventory, enoughHardware, inputExists, sufficient, vsphereUUID)

// poolRows is contract/states.md 2c. Hosts in binding and unbinding are refreshed by it
// whichever side they are on.
var poolRows = []hostRow{
	{no: 1, name: "Initial registration unbound", event: RegisterHost, to: model.HostDiscoveringUnbound, when: isUnbound, effect: EffectRegistered, info: says(infoDiscovering)},
	{no: 2, name: "Registration again unbound", event: RegisterHost, from: append(statuses{unbinding, unbindWaits, rebooting}, poolDiscovery...), to: model.HostDiscoveringUnbound, effect: EffectRegistered, info: says(infoDiscovering)},
	{no: 3, name: "Bind", event: BindHost, from: statuses{model.HostKnownUnbound}, to: binding, info: says("The host joins a cluster")},
	{no: 4, name: "Unbound host disconnected", event: RefreshHost, from: append(statuses{unbinding}, poolDiscovery...), to: model.HostDisconnectedUnbound, when: not(isConnected), info: disconnectedInfo},
	{no: 5, name: "Media of unbound host gone", event: MediaDisconnect, from: append(statuses{unbinding}, poolDiscovery...), to: model.HostDisconnectedUnbound, info: says(infoMediaGone)},
	{no: 6, name: "Unbound discovery", event: RefreshHost, from: statuses{model.HostDisconnectedUnbound, model.HostDiscoveringUnbound}, to: model.HostDiscoveringUnbound, when: and(isConnected, mediaConnected, not(validInventory)), info: says(infoDiscovering)},
	{no: 7, name: "Hardware of unbound host insufficient", event: RefreshHost, from: poolDiscovery, to: model.HostInsufficientUnbound, when: and(isConnected, mediaConnected, validInventory, not(bindable)), info: poolHardwareInfo},
	{no: 8, name: "Binding goes on", event: RefreshHost, from: statuses{binding, unbinding}},
	{no: 9, name: "Ready to be bound", event: RefreshHost, from: poolDiscovery, to: model.HostKnownUnbound, when: and(isConnected, mediaConnected, validInventory, bindable), info: says("The host can be bound to a cluster")},
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
		why: "a refresh is no command: a host that fits no row stays what it is",
	},
}
