package validation

import (
	"fmt"

	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// linkFaults are the names of the hosts to which a host's links fail. A report of a large cluster is long: it
// is read once for all rules.
type linkFaults struct {
	cut         []string // packets of the configured MTU do not arrive; with the NIC
	slow, lossy []string // hosts of the same role only
}

// faults reads the host's report.
func (c *hostCase) faults() *linkFaults {
	if c.links != nil {
		return c.links
	}
	c.links = &linkFaults{}
	for remote := range c.Host.Connectivity.Remotes() {
		for j := range remote.MtuReport {
			if r := &remote.MtuReport[j]; !r.MtuSuccessful && c.mtuMatters(r) {
				c.links.cut = append(c.links.cut, c.hostName(remote.HostID)+" over "+r.OutgoingNic)
			}
		}
		peer := c.Peers.host(remote.HostID)
		if peer == nil || peer.EffectiveRole() != c.role {
			continue
		}
		slow, lossy := false, false
		for j := range remote.L3Connectivity {
			l := &remote.L3Connectivity[j]
			if !l.Successful {
				continue // of a network or family that the host is not in: groups decide what must be reached
			}
			slow = slow || l.AverageRttMs > c.req.NetworkLatencyMS
			lossy = lossy || l.PacketLossPercentage > c.req.PacketLossPercent
		}
		if slow {
			c.links.slow = append(c.links.slow, c.hostName(remote.HostID))
		}
		if lossy {
			c.links.lossy = append(c.links.lossy, c.hostName(remote.HostID))
		}
	}
	return c.links
}

func mtuValid(c *hostCase) verdict {
	switch {
	case c.dayTwo() && c.inv == nil:
		return pending(missingInventory)
	case c.dayTwo():
		return success("The cluster exists already, its hosts are not checked against this one")
	case c.singleNode():
		return irrelevant()
	}
	if c.Host.Connectivity == nil {
		return pending(missingConnectivity)
	}
	if cut := c.faults().cut; len(cut) > 0 {
		return failure("Require packets of the configured MTU to reach every host, they do not reach %s", some(cut))
	}
	return success("Packets of the configured MTU reach every host")
}

// mtuMatters skips networks that managed networking will not use.
func (c *hostCase) mtuMatters(r *wire.MtuReport) bool {
	if c.Cluster.UserManagedNetworking {
		return true
	}
	remote, ok := hardware.ParseAddr(r.RemoteIPAddress)
	if !ok {
		return false
	}
	for _, n := range c.Cluster.MachineNetworks {
		if !n.Contains(remote) {
			continue
		}
		for i := range c.nics {
			if c.nics[i].Name == r.OutgoingNic && c.nics[i].In(n) {
				return true
			}
		}
	}
	return false
}

func latency(c *hostCase) verdict {
	limit := c.req.NetworkLatencyMS
	return sameRole(
		c,
		limit > 0,
		func(f *linkFaults) []string { return f.slow },
		fmt.Sprintf("an average round trip of at most %g ms", limit),
	)
}

func packetLoss(c *hostCase) verdict {
	limit := c.req.PacketLossPercent
	// A role that has no limit of latency either is given none at all.
	limited := limit > 0 || c.req.NetworkLatencyMS > 0
	return sameRole(c, limited, func(f *linkFaults) []string { return f.lossy }, fmt.Sprintf("a packet loss of at most %g %%", limit))
}

// sameRole evaluates the links to the hosts of the same role.
func sameRole(c *hostCase, limited bool, bad func(*linkFaults) []string, what string) verdict {
	switch {
	case !limited, c.dayTwo(), c.singleNode(), c.role == model.RoleAutoAssign, c.role == "":
		return success("No limit applies to the links of this host")
	case len(c.Peers.hosts) < 2:
		return success(singleHostConnectivity)
	case c.Host.Connectivity == nil:
		return pending(missingConnectivity)
	}
	if over := bad(c.faults()); len(over) > 0 {
		return failure("Require %s to every %s, exceeded to %s", what, c.role, some(over))
	}
	return success("Every link to a %s keeps to %s", c.role, what)
}
