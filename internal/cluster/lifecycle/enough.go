package lifecycle

import (
	"slices"

	"slipway/internal/model"
)

// minControlPlane is the number of control plane hosts a cluster cannot do without.
const minControlPlane = 3

// HasEnough reports whether enough hosts of a cluster are in one of the given statuses
// for it to come up: one control plane host and no worker for a single node, else all
// control plane hosts (at least three, two with an arbiter or fencing), one arbiter
// when there is any, and two workers when two or more are defined.
func HasEnough(c *model.Cluster, hosts []*model.Host, statuses ...model.HostStatus) bool {
	var masters, arbiters, workers, definedArbiters, definedWorkers int
	for _, h := range hosts {
		in := slices.Contains(statuses, h.Status)
		switch h.EffectiveRole() {
		case model.RoleMaster, model.RoleBootstrap:
			masters += one(in)
		case model.RoleArbiter:
			definedArbiters++
			arbiters += one(in)
		case model.RoleWorker:
			definedWorkers++
			workers += one(in)
		}
	}
	if c.SingleNode() {
		return masters == 1 && workers == 0
	}
	required := max(c.ControlPlaneCount, minControlPlane)
	if c.ControlPlaneCount == minControlPlane-1 {
		required = c.ControlPlaneCount // an arbiter or fencing keeps the quorum
	}
	return masters >= required &&
		(definedArbiters == 0 || arbiters >= 1) &&
		(definedWorkers < 2 || workers >= 2)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Installing reports whether enough hosts are being installed or are installed.
func Installing(c *model.Cluster, hosts []*model.Host) bool {
	return HasEnough(c, hosts, installingStatuses...)
}

// Finalizable reports whether enough hosts are installed for the cluster to finalize.
func Finalizable(c *model.Cluster, hosts []*model.Host) bool {
	return HasEnough(c, hosts, model.HostInstalled)
}

// AllDone reports whether every host is installed or has failed.
func AllDone(hosts []*model.Host) bool {
	return !slices.ContainsFunc(hosts, func(h *model.Host) bool {
		return h.Status != model.HostInstalled && h.Status != model.HostError
	})
}

// AnyIn reports whether a host is in one of the statuses.
func AnyIn(hosts []*model.Host, statuses ...model.HostStatus) bool {
	return slices.ContainsFunc(hosts, func(h *model.Host) bool { return slices.Contains(statuses, h.Status) })
}
