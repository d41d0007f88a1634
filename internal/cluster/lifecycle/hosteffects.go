package lifecycle

import (
	"time"

	"slipway/internal/cluster/events"
	"slipway/internal/model"
)

// hostEffects maps effects to their changes of a host. Effects that are not listed change nothing: what they ask of the caller stands
// at the effect.
var hostEffects = map[Effect]func(*model.Host, *HostFacts, Recorder){
	EffectRegistered:   func(h *model.Host, _ *HostFacts, rec Recorder) { discoverAgain(h, rec.Now()) },
	EffectLogsTimedOut: func(h *model.Host, _ *HostFacts, _ Recorder) { h.LogsInfo = model.LogsTimeout },
	EffectStageTimedOut: func(h *model.Host, f *HostFacts, rec Recorder) {
		h.Progress.StageTimedOut = true
		rec.Event(events.New(events.HostStageTimedOut, AboutHost(h), events.Props{
			"stage": string(h.Stage), "minutes": int64(f.Limit / time.Minute),
		}, rec.Now()))
	},
	EffectRebootTimedOut:      func(h *model.Host, _ *HostFacts, _ Recorder) { h.Progress.StageTimedOut = true },
	EffectStageClockRestarted: func(h *model.Host, _ *HostFacts, rec Recorder) { h.Progress.StageUpdatedAt = rec.Now() },
	EffectConnectionLost:      func(h *model.Host, _ *HostFacts, _ Recorder) { h.ConnectionTimedOut = true },
	EffectConnectionBack:      func(h *model.Host, _ *HostFacts, _ Recorder) { h.ConnectionTimedOut = false },
	EffectPrepared: func(h *model.Host, _ *HostFacts, _ Recorder) {
		if h.AgentSteps == model.FineSteps || imagesOutcome(h) != Passed {
			h.Images = nil // agents of other implementations do not repeat that all were pulled
		}
		h.Stage, h.Progress = "", model.HostProgress{}
	},
	EffectAttemptCounted: func(h *model.Host, f *HostFacts, _ Recorder) { h.Attempt = f.Attempt },
	EffectAttempt: func(h *model.Host, f *HostFacts, _ Recorder) {
		h.Attempt, h.DecisionOpen = f.Attempt, false
		h.Stage, h.Progress = "", model.HostProgress{}
	},
	EffectStageRepeated: func(h *model.Host, f *HostFacts, _ Recorder) { h.Attempt, h.DecisionOpen = f.Attempt, false },
	EffectContinued:     func(h *model.Host, _ *HostFacts, _ Recorder) { h.Attempt, h.DecisionOpen = h.Attempt+1, false },
	EffectDecisionOpened: func(h *model.Host, f *HostFacts, _ Recorder) {
		h.DecisionOpen, h.Progress.Info = true, f.Reason
		h.Attempt = max(h.Attempt, 1) // a workflow was lost before it began an attempt
	},
	EffectGivenUp: func(h *model.Host, _ *HostFacts, _ Recorder) { h.DecisionOpen = false },
	EffectRediscover: func(h *model.Host, _ *HostFacts, _ Recorder) {
		h.Stage, h.Progress, h.Facts, h.Inventory = "", model.HostProgress{}, nil, nil
	},
	EffectCancelled: func(h *model.Host, _ *HostFacts, rec Recorder) {
		h.DecisionOpen = false
		rec.Event(events.New(events.HostInstallationCancelled, AboutHost(h), nil, rec.Now()))
	},
	EffectResetBegun: func(h *model.Host, _ *HostFacts, _ Recorder) { h.DecisionOpen = false },
	EffectResetNeedsUser: func(h *model.Host, _ *HostFacts, rec Recorder) {
		h.DecisionOpen = false
		rec.Event(events.New(events.UserRequiredCompleteInstallationReset, AboutHost(h), nil, rec.Now()))
	},
	EffectReset: func(h *model.Host, _ *HostFacts, rec Recorder) {
		about := AboutHost(h) // its name may come from its inventory
		forget(h)
		rec.Event(events.New(events.HostInstallationReset, about, nil, rec.Now()))
	},
	EffectUnbound: func(h *model.Host, _ *HostFacts, _ Recorder) { h.LeaveCluster() },
}

// discoverAgain forgets the facts of a host from before it was booted again. The choices of its user, and the decisions of a running
// installation, stay.
func discoverAgain(h *model.Host, now time.Time) {
	h.RegisteredAt = now
	h.MediaStatus, h.ConnectionTimedOut = model.MediaConnected, false
	h.Stage, h.Progress = "", model.HostProgress{}
	h.Facts, h.Inventory, h.Connectivity, h.Images = nil, nil, nil, nil // images were in its memory
	h.FreeAddresses, h.NTPSources, h.DomainResolution = nil, nil, nil
	h.Tang, h.TangError, h.IgnitionDownload = nil, "", nil
	h.LogsInfo, h.LogsStartedAt, h.LogsCollectedAt = model.LogsNone, time.Time{}, time.Time{}
	h.Timestamp = 0
}

// forget drops the results of an installation from a host's row; discovery asks again.
func forget(h *model.Host) {
	h.Bootstrap, h.DecisionOpen, h.Attempt = false, false, 0
	if h.AutoRole {
		h.Role, h.AutoRole = model.RoleAutoAssign, false
	}
	h.Stage, h.Progress, h.Facts = "", model.HostProgress{}, nil
	h.Inventory, h.Images, h.DiskSpeed, h.Connectivity = nil, nil, nil, nil
	h.LogsInfo, h.LogsStartedAt, h.LogsCollectedAt = model.LogsNone, time.Time{}, time.Time{}
}
