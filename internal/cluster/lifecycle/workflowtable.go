package lifecycle

// hostWorkflowRows are the decisions of a cluster's or host's workflow about the host.
var hostWorkflowRows = []hostRow{
	{
		name: "Preparation begins with its cluster", event: PrepareHost, from: statuses{known, preparing},
		to: preparing, effect: EffectPrepared, info: hostInfo(infoPreparing),
		why: "the workflow prepares all hosts at once, whether a refresh has begun to or not",
	},
	{
		no: 32, name: "Installation begins", event: InstallationBegins, from: statuses{prepared},
		to: installing, when: clusterInstalling, info: hostInfo(infoInstalling),
		why: "with its cluster, not at the next refresh",
	},
	{
		no: 33, name: "Cluster stopped preparing", event: PreparationStopped, from: statuses{preparing},
		to: known, info: hostInfo(infoKnown),
		why: "with its cluster, not at the next refresh, and also a host whose checks did not end in time",
	},
	{
		no: 38, name: "Failed preparation is over", event: PreparationStopped, from: statuses{prepFailed},
		to: known, info: hostInfo(infoKnown), why: "with its cluster, not at the next refresh",
	},
	{
		no: 39, name: "Prepared host is not needed", event: PreparationStopped, from: statuses{prepared},
		to: known, info: hostInfo(infoKnown), why: "with its cluster, not at the next refresh",
	},
	{
		name: "First attempt of a host that has reported", event: BeginAttempt,
		from: statuses{inProgress, waitsForUser, installed, added, failed}, when: not(tried), effect: EffectAttemptCounted,
		why: "what it reported since its cluster is being installed came before its workflow began, and counts",
	},
	{
		name: "Attempt begins", event: BeginAttempt, from: inAttempt,
		to: installing, effect: EffectAttempt, info: attemptInfo,
		why: "a failed host is installed again without touching the others",
	},
	{
		name: "Stage is repeated", event: RepeatStage, from: inAttempt,
		to: inProgress, effect: EffectStageRepeated, info: hostInfo("The failed stage is tried again"),
		why: "the results of the stages before it are still there",
	},
	{
		name: "Attempt failed", event: FailHost, from: append(statuses{installed, added}, inAttempt...),
		to: failed, effect: EffectDecisionOpened, info: hostReasonOnly,
		why: "a step failed or took too long; the workflow reports why and waits for a decision",
	},
	{
		name: "Host was given up", event: GiveUpHost, from: append(statuses{installed, added}, inAttempt...),
		to: failed, effect: EffectGivenUp,
		why: "no decision came in time, or the cluster is to come up without it",
	},
	{
		name: "Retry needs a reboot", event: RetryHost, from: statuses{failed},
		to: resetWaits, effect: EffectRediscover, info: hostInfo("Boot the host from the discovery image again to retry its installation"),
		why: "a host that left the live image has no agent to take steps",
	},
	{
		name: "Stage waits for the user of another host", event: StageTimedOut, from: statuses{inProgress, installing, waitsForUser},
		when: ignoreProgress, effect: EffectStageClockRestarted,
		why: "its time begins again",
	},
	{
		no: 50, name: "Stage timed out", event: StageTimedOut, from: statuses{inProgress},
		to: failed, when: and(not(softTimeouts), not(ownTimeout)), effect: EffectFailed, info: stageTimeout, why: clockOfWorkflow,
	},
	{
		no: 51, name: "Writing the image timed out", event: StageTimedOut, from: statuses{inProgress},
		to: failed, when: and(not(softTimeouts), writingImage), effect: EffectFailed, info: writingTimeout, why: clockOfWorkflow,
	},
	{
		no: 52, name: "Copying data timed out", event: StageTimedOut, from: statuses{inProgress},
		to: failed, when: and(not(softTimeouts), copyingData), effect: EffectFailed, info: copyingTimeout, why: clockOfWorkflow,
	},
	{
		no: 53, name: "Stage takes long", event: StageTimedOut, from: statuses{inProgress},
		when: and(softTimeouts, not(stageTimedOut), not(ownTimeout)), effect: EffectStageTimedOut, info: stageTimeout, why: clockOfWorkflow,
	},
	{
		no: 54, name: "Writing the image takes long", event: StageTimedOut, from: statuses{inProgress},
		when: and(softTimeouts, not(stageTimedOut), writingImage), effect: EffectStageTimedOut, info: writingTimeout, why: clockOfWorkflow,
	},
	{
		no: 55, name: "Copying data takes long", event: StageTimedOut, from: statuses{inProgress},
		when: and(softTimeouts, not(stageTimedOut), copyingData), effect: EffectStageTimedOut, info: copyingTimeout, why: clockOfWorkflow,
	},
	{
		name: "Reboot was not begun in time", event: StageTimedOut, from: statuses{inProgress, installing, waitsForUser},
		to: failed, when: inReboot, effect: EffectFailed,
		info: hostInfo("The host has not begun to reboot in %s: its agent still runs the step that reboots it", hostLimit),
		why:  "its agent still runs the step that reboots",
	},
	{
		name: "Stage timed out while its user was awaited", event: StageTimedOut, from: statuses{installing, waitsForUser},
		to: failed, when: not(softTimeouts), effect: EffectFailed, info: stageTimeout,
		why: "the stage has its own limit, whatever else the host waits for",
	},
	{
		name: "Stage takes long while its user is awaited", event: StageTimedOut, from: statuses{installing, waitsForUser},
		when: and(softTimeouts, not(stageTimedOut)), effect: EffectStageTimedOut, info: stageTimeout,
		why: "the stage has its own limit, whatever else the host waits for",
	},
	{
		name: "Stage still takes long", event: StageTimedOut, from: statuses{inProgress, installing, waitsForUser, failed},
		why: "it was reported, or the host has failed already",
	},
	{
		no: 56, name: "Reboot takes too long", event: RebootTimedOut, from: statuses{inProgress},
		to: waitsForUser, effect: EffectRebootTimedOut,
		info: hostInfo("There was no report of the host from its installation disk in time. It may still be starting, which its console shows; "+
			"if not, check the boot order, and boot it from %s", diskOf),
		why: clockOfWorkflow,
	},
	{
		name: "Installed host resumes", event: ResumeHost, from: statuses{failed},
		to: installed, when: inDone, info: hostInfo(infoInstalled),
		why: "it had failed with its cluster only, which got more time",
	},
	{
		no: 20, name: "Reset needs a reboot", event: ResetHost, from: rebootable,
		to: resetWaits, when: or(not(inLiveImage), beganBootstrap), effect: EffectResetNeedsUser, info: hostInfo(infoResetWaits),
		why: "no agent runs on it, or the control plane of its bootstrap does, with the keys of what is reset",
	},
	{
		name: "Reset in the live image", event: ResetHost, from: resettable,
		to: resetting, effect: EffectResetBegun, info: hostInfo("The installation is being reset"),
		why: "its agent is stopped first; no user has to go to the machine",
	},
	{
		name: "Host is reset", event: FinishHostReset, from: statuses{resetting},
		to: discovering, effect: EffectReset, info: hostInfo("Waiting for the host to send its inventory"),
		why: "its agent discovers it again",
	},
	{
		name: "Host is reset but for its boot", event: FinishHostReset, from: append(statuses{binding}, resettable...),
		effect: EffectReset,
		why:    "it waits for its user, or was booted meanwhile",
	},
}

// clockOfWorkflow is why the rows of time-outs have events of their own.
const clockOfWorkflow = "the workflow's timer has ended"
