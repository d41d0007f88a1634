package duesteps

import (
	"slices"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// stateRow lists the steps for hosts in some states and how these hosts poll.
type stateRow struct {
	kinds    []model.HostKind // empty: any
	statuses []model.HostStatus
	steps    []wire.StepType // in the order they are handed out
	seconds  int             // until the next poll
	exit     bool            // the agent ends and registers again
	// eager rows ask more often: the host lacks something its user may supply.
	eager bool
	why   string
}

// Intervals of polls in seconds (docs/reference/state-rules.md, "Intervals of polls").
const (
	idleSeconds    = 60
	backOffSeconds = 120
	soonSeconds    = 5
)

// Names that keep the table readable.
const (
	inventory    = wire.StepTypeInventory
	connectivity = wire.StepTypeConnectivityCheck
	tang         = wire.StepTypeTangConnectivityCheck
	freeAddrs    = wire.StepTypeFreeNetworkAddresses
	lease        = wire.StepTypeDhcpLeaseAllocate
	ntp          = wire.StepTypeNtpSynchronizer
	domains      = wire.StepTypeDomainResolution
	vips         = wire.StepTypeVerifyVips
	apiVIP       = wire.StepTypeAPIVipConnectivityCheck
	logsGather   = wire.StepTypeLogsGather
	stopInstall  = wire.StepTypeStopInstallation
)

var (
	dayOne = []model.HostKind{model.KindHost}
	dayTwo = []model.HostKind{model.KindAddToExistingClusterHost}
)

// stateRows is docs/reference/step-rules.md, "Steps by status". In states of an installation only leases are asked: their steps come
// from the workflow.
var stateRows = []stateRow{
	{
		kinds: dayOne, statuses: on(model.HostDiscovering), seconds: idleSeconds,
		steps: ask(inventory),
		why:   "everything else depends on the inventory",
	},
	{
		kinds: dayOne, statuses: on(model.HostKnown), seconds: idleSeconds,
		steps: ask(connectivity, tang, freeAddrs, lease, inventory, ntp, domains, vips),
		why:   "a host that is ready is kept so",
	},
	{
		kinds: dayOne, statuses: on(model.HostInsufficient, model.HostPendingForInput), seconds: idleSeconds, eager: true,
		steps: ask(inventory, connectivity, tang, freeAddrs, lease, ntp, domains, vips),
		why:   "what is missing may be supplied any moment",
	},
	{
		kinds: dayTwo, statuses: on(model.HostDiscovering), seconds: idleSeconds,
		steps: ask(inventory, ntp, domains),
		why:   "everything else depends on the inventory",
	},
	{
		kinds: dayTwo, statuses: on(model.HostKnown), seconds: idleSeconds,
		steps: ask(connectivity, apiVIP, tang, inventory, ntp, domains),
		why:   "a host that is ready is kept so",
	},
	{
		kinds: dayTwo, statuses: on(model.HostInsufficient), seconds: idleSeconds, eager: true,
		steps: ask(inventory, connectivity, apiVIP, tang, ntp, domains),
		why:   "what is missing may be supplied any moment",
	},
	{
		kinds: dayTwo, statuses: on(model.HostPendingForInput), seconds: idleSeconds, eager: true,
		steps: ask(inventory, connectivity, apiVIP, tang),
		why:   "what is missing may be supplied any moment",
	},
	{
		statuses: on(model.HostDisconnected, model.HostDisconnectedUnbound), seconds: backOffSeconds,
		steps: ask(inventory),
		why:   "the host may come back with other hardware",
	},
	{
		kinds: dayOne, statuses: on(model.HostPreparingForInstallation, model.HostInstalling, model.HostInstallingInProgress),
		seconds: idleSeconds,
		steps:   ask(lease),
		why:     "the lease of the virtual addresses must not run out during the installation",
	},
	{
		statuses: on(model.HostError, model.HostCancelled), seconds: backOffSeconds,
		steps: ask(logsGather, stopInstall),
		why:   "logs show what went wrong, and nothing may continue",
	},
	{
		statuses: on(model.HostDisabled, model.HostDisabledUnbound, model.HostResetting), seconds: backOffSeconds,
		why: "nothing is asked of hosts that are out of use",
	},
	{
		statuses: on(model.HostBinding, model.HostUnbinding, model.HostUnbindingPendingUserAction), exit: true,
		why: "the agent registers again on the other side",
	},
	{
		statuses: on(model.HostDiscoveringUnbound, model.HostInsufficientUnbound, model.HostKnownUnbound), seconds: idleSeconds, eager: true,
		steps: ask(inventory, ntp),
		why:   "without a cluster there is nothing to compare with",
	},
	{
		statuses: on(model.HostReclaiming), seconds: idleSeconds,
		why: "the workflow has the discovery image put beside the installed system",
	},
	{
		statuses: on(model.HostReclaimingRebooting), seconds: backOffSeconds, exit: true,
		why: "the workflow reboots the host, which comes back from the discovery image",
	},
}

// upgradable are the states in which an agent may be replaced.
var upgradable = map[model.HostStatus]bool{
	model.HostBinding: true, model.HostDiscovering: true, model.HostDiscoveringUnbound: true,
	model.HostInsufficient: true, model.HostInsufficientUnbound: true,
	model.HostKnown: true, model.HostKnownUnbound: true, model.HostPendingForInput: true,
}

func on(statuses ...model.HostStatus) []model.HostStatus { return statuses }
func ask(steps ...wire.StepType) []wire.StepType         { return steps }

func rowFor(kind model.HostKind, status model.HostStatus) *stateRow {
	for i := range stateRows {
		r := &stateRows[i]
		if slices.Contains(r.statuses, status) && (len(r.kinds) == 0 || slices.Contains(r.kinds, kind)) {
			return r
		}
	}
	return nil
}

// Interval decides how an agent in a state continues: the seconds until its next poll, and whether it continues or exits and registers
// again. With soon set (a step was just handed out, see also Busy) it comes back quickly unless the state says to back off.
func Interval(kind model.HostKind, status model.HostStatus, soon bool) (int, wire.StepsPostStepAction) {
	r := rowFor(kind, status)
	switch {
	case r == nil && soon:
		return soonSeconds, wire.Continue
	case r == nil:
		return idleSeconds, wire.Continue
	case r.exit:
		return r.seconds, wire.Exit
	case soon && r.seconds == idleSeconds:
		return soonSeconds, wire.Continue
	}
	return r.seconds, wire.Continue
}
