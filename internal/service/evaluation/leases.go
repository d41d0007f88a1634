package evaluation

import (
	"net/netip"
	"slices"
	"time"

	"slipway/internal/cluster/events"
	"slipway/internal/cluster/lifecycle"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// waitForLease notes since when the hosts can ask for virtual addresses, and reports once
// when none came in time.
func (l *look) waitForLease() {
	c, networks := l.cluster, l.cluster.Effective().MachineNetworks
	if !c.VIPDHCPAllocation || len(networks) == 0 || len(c.APIVIPs) > 0 {
		c.LeaseSince, c.LeaseNetwork = time.Time{}, netip.Prefix{}
		return
	}
	if c.LeaseNetwork != networks[0] {
		c.LeaseSince, c.LeaseNetwork = l.t.Now(), networks[0]
		return
	}
	toldBefore := slices.ContainsFunc(c.Validations, func(r model.ValidationResult) bool {
		return r.ID == string(wire.ClusterValidationIDAPIVipsDefined) && r.Status == model.ValidationFailure
	})
	if validation.LeaseOverdue(c, l.rules.VIPLease, l.t.Now()) && !toldBefore {
		l.t.Event(events.New(events.ApiIngressVIPTimedOut, lifecycle.AboutCluster(c), events.Props{
			"timeout_interval": int64(l.rules.VIPLease / time.Second),
		}, l.t.Now()))
	}
}
