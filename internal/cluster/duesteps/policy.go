package duesteps

import (
	"time"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// policy says when a fact is asked again.
type policy struct {
	// of names the subject the fact depends on; its generation is compared with the record's.
	of subject
	// fresh is how long an answer holds; eager applies while the host lacks something,
	// so that a correction by its user is noticed soon. Zero: without a limit.
	fresh, eager time.Duration
	// retry is when an unanswered step is repeated.
	retry time.Duration
	// spacing is the least time between two steps of the type, whatever changed.
	spacing time.Duration
	// crowded steps are spaced further in clusters of more than crowd hosts.
	crowded bool
	// perStatus steps are asked once each time the host comes into its status.
	perStatus bool
	// done suppresses the step.
	done func(*View) bool
	why  string
}

// subject names the state a fact depends on.
type subject int

const (
	onItself   subject = iota
	onNetworks         // NetworkGeneration
	onHosts            // HostsGeneration
)

const (
	retryAfter = 2 * time.Minute
	// replyMemory is how long a foreign agent remembers its last reply and leaves an
	// equal one out (docs/reference/agent-protocol.md, "Replies that are not sent").
	replyMemory = time.Hour
	// crowd is how many hosts of a cluster may check their connectivity in a minute
	// (docs/reference/step-rules.md, "Arguments and replies").
	crowd = 150
)

// policies is the table of facts.
var policies = map[wire.StepType]policy{
	wire.StepTypeInventory: {
		fresh: 30 * time.Minute, eager: 2 * time.Minute, retry: retryAfter,
		why: "disks and addresses change rarely, but a user who replaces hardware wants to see it",
	},
	wire.StepTypeConnectivityCheck: {
		of: onHosts, fresh: 10 * time.Minute, eager: 2 * time.Minute, retry: retryAfter, spacing: time.Minute, crowded: true,
		why: "a check of a thousand hosts is expensive; many hosts that come up together are checked once",
	},
	wire.StepTypeFreeNetworkAddresses: {
		of: onNetworks, fresh: time.Hour, retry: retryAfter,
		why: "a scan of a whole network, offered as a list to choose from",
	},
	wire.StepTypeNtpSynchronizer: {
		of: onNetworks, fresh: 10 * time.Minute, eager: 2 * time.Minute, retry: retryAfter,
		why: "a clock takes minutes to follow a new source",
	},
	wire.StepTypeDomainResolution: {
		of: onNetworks, fresh: 10 * time.Minute, eager: 2 * time.Minute, retry: retryAfter,
		why: "records are set by someone else meanwhile",
	},
	wire.StepTypeVerifyVips: {
		of: onNetworks, fresh: 10 * time.Minute, eager: 2 * time.Minute, retry: retryAfter,
		why: "an address that is free may be taken",
	},
	wire.StepTypeTangConnectivityCheck: {
		of: onNetworks, fresh: 10 * time.Minute, eager: 2 * time.Minute, retry: retryAfter,
		why: "servers are repaired by someone else meanwhile",
	},
	wire.StepTypeAPIVipConnectivityCheck: {
		of: onNetworks, fresh: 10 * time.Minute, eager: time.Minute, retry: retryAfter,
		why: "firewalls and names are corrected by someone else meanwhile",
	},
	wire.StepTypeDhcpLeaseAllocate: {
		of: onNetworks, fresh: time.Minute, retry: time.Minute,
		why: "keeps the lease of the virtual addresses",
	},
	wire.StepTypeLogsGather: {
		perStatus: true, fresh: 10 * time.Minute, retry: 10 * time.Minute, done: func(v *View) bool { return v.LogsDone },
		why: "gathering takes minutes and must not run twice at once",
	},
	wire.StepTypeStopInstallation: {
		perStatus: true, retry: retryAfter,
		why: "an installer that still runs must stop",
	},
	wire.StepTypeUpgradeAgent: {
		retry: retryAfter, fresh: retryAfter,
		why: "the agent restarts when it is done",
	},
}

func (p *policy) generation(v *View) int64 {
	switch p.of {
	case onNetworks:
		return v.NetworkGeneration
	case onHosts:
		return v.HostsGeneration
	}
	return 0
}

// due decides on one fact. Facts are asked first when they never were.
func (p *policy) due(v *View, rec model.FactRecord, generation int64, eager bool) bool {
	if p.done != nil && p.done(v) {
		return false
	}
	if rec.AskedAt.IsZero() || p.perStatus && rec.AskedAt.Before(v.StatusUpdatedAt) {
		return true
	}
	sinceAsked := v.Now.Sub(rec.AskedAt)
	if sinceAsked < p.spaced(v) {
		return false
	}
	if rec.Generation != generation {
		return true
	}
	if answered := !rec.AnsweredAt.Before(rec.AskedAt); !answered && !unchanged(v, rec) {
		return sinceAsked >= p.retry
	}
	limit := p.fresh
	if eager && p.eager > 0 {
		limit = p.eager
	}
	return limit > 0 && sinceAsked >= limit
}

// spaced returns the spacing for the size of the cluster: with 450 hosts each is asked every three minutes, so that 150 are in any one.
func (p *policy) spaced(v *View) time.Duration {
	if !p.crowded || v.Hosts <= crowd {
		return p.spacing
	}
	return p.spacing * time.Duration((v.Hosts+crowd-1)/crowd)
}

// unchanged takes the silence of a foreign agent for an answer: it does not repeat a
// reply that equals its last one.
func unchanged(v *View, rec model.FactRecord) bool {
	return v.AgentSteps != model.FineSteps && !rec.AnsweredAt.IsZero() &&
		rec.AskedAt.Sub(rec.AnsweredAt) < replyMemory
}
