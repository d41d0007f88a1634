package lifecycle

import (
	"cmp"

	"slipway/internal/model"
)

// FollowSingleNode makes a host that joined a single node its control plane host, whatever its hardware: its validations then show the
// missing hardware. A role that a user chose stays. When the cluster gets more control plane hosts, the host is free again.
func FollowSingleNode(c *model.Cluster, h *model.Host) {
	switch {
	case c.DayTwo() || h.DayTwo() || !joining.Has(h.Status):
	case c.SingleNode() && !h.OfSingleNode && h.Role == model.RoleAutoAssign:
		h.Role, h.Bootstrap, h.OfSingleNode = model.RoleMaster, true, true
	case !c.SingleNode() && h.OfSingleNode:
		h.Bootstrap, h.OfSingleNode = false, false
		if h.Role == model.RoleMaster {
			h.Role = model.RoleAutoAssign
		}
	}
}

// joining are the statuses before an installation.
var joining = model.HostStatuses{
	model.HostDiscovering, model.HostBinding, model.HostPendingForInput, model.HostInsufficient, model.HostKnown, model.HostDisconnected,
}

// ElectBootstrap chooses the control plane host that carries the bootstrap services: the host that has them already, else the first by
// hostname; nil without a control plane host.
func ElectBootstrap(hosts []*model.Host) *model.Host {
	var elected *model.Host
	for _, h := range hosts {
		if h.EffectiveRole() != model.RoleMaster {
			continue
		}
		if elected == nil || compareCandidates(h, elected) < 0 {
			elected = h
		}
	}
	return elected
}

func compareCandidates(a, b *model.Host) int {
	return cmp.Or(
		cmp.Compare(one(b.Bootstrap), one(a.Bootstrap)),
		cmp.Compare(a.Hostname(), b.Hostname()),
		cmp.Compare(a.ID.String(), b.ID.String()),
	)
}
