package validation

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/model"
	"slipway/internal/wire"
)

const (
	// majorityMinimum is the number of hosts below which a missing group only means that
	// hosts are still to come; two are enough for a control plane of two with fencing.
	majorityMinimum        = 3
	fencingMinimum         = 2
	missingConnectivity    = "The host has not checked its connectivity yet"
	maxNamesInMessage      = 5
	fencingControlPlanes   = 2
	singleHostConnectivity = "There is no other host to compare with"
)

func inMajorityGroup(c *hostCase) verdict {
	if c.dayTwo() || c.singleNode() {
		return success("Connectivity to other hosts is not required")
	}
	if c.inv == nil || c.Host.Connectivity == nil {
		return pending(missingConnectivity)
	}
	if c.Cluster.UserManagedNetworking || externalBalancer(c.Cluster) {
		return inL3Group(c)
	}
	if len(c.Cluster.MachineNetworks) == 0 {
		return pending("The cluster has no machine network yet")
	}
	for _, n := range c.Cluster.MachineNetworks {
		if !c.Peers.majority[n.String()][c.Host.ID] {
			return tooFewFirst(c, fmt.Sprintf("Require connectivity to the majority of hosts in %s, the host lacks it", n))
		}
	}
	return success("The host reaches the majority of hosts")
}

func inL3Group(c *hostCase) verdict {
	for _, f := range Families(c.Cluster) {
		if !c.Peers.connected[c.Host.ID][f] {
			return tooFewFirst(c, fmt.Sprintf("Require an %s address that the majority of hosts reach, the host has none", f))
		}
	}
	return success("The majority of hosts reach the host")
}

// tooFewFirst turns a failure into pending while there are too few hosts for a group.
func tooFewFirst(c *hostCase, message string) verdict {
	required := majorityMinimum
	if c.Cluster.ControlPlaneCount == fencingControlPlanes {
		required = fencingMinimum
	}
	if found := len(c.Peers.hosts); found < required {
		return pending("Require at least %d hosts to compare connectivity, found %d", required, found)
	}
	return failure("%s", message)
}

func mtuValid(c *hostCase) verdict {
	if !c.dayTwo() && c.singleNode() {
		return irrelevant()
	}
	if c.Host.Connectivity == nil {
		return pending(missingConnectivity)
	}
	var broken []string
	for remote := range c.Host.Connectivity.Remotes() {
		for j := range remote.MtuReport {
			r := &remote.MtuReport[j]
			if !r.MtuSuccessful && c.mtuMatters(r) {
				broken = append(broken, c.hostName(remote.HostID)+" over "+r.OutgoingNic)
			}
		}
	}
	if len(broken) > 0 {
		return failure("Require packets of the configured MTU to reach every host, they do not reach %s", some(broken))
	}
	return success("Packets of the configured MTU reach every host")
}

// mtuMatters leaves networks aside that managed networking will not use.
func (c *hostCase) mtuMatters(r *wire.MtuReport) bool {
	if c.Cluster.UserManagedNetworking || len(c.Cluster.MachineNetworks) == 0 {
		return true
	}
	remote, ok := parseAddr(r.RemoteIPAddress)
	if !ok {
		return false
	}
	for _, n := range c.Cluster.MachineNetworks {
		if !n.Contains(remote) {
			continue
		}
		for i := range c.nics {
			if c.nics[i].Name == r.OutgoingNic && c.nics[i].in(n) {
				return true
			}
		}
	}
	return false
}

func latency(c *hostCase) verdict {
	limit := c.req.NetworkLatencyMS
	return sameRole(c, limit > 0, func(l *wire.L3Connectivity) bool { return l.AverageRttMs > limit },
		fmt.Sprintf("an average round trip of at most %g ms", limit))
}

func packetLoss(c *hostCase) verdict {
	limit := c.req.PacketLossPercent
	return sameRole(c, true, func(l *wire.L3Connectivity) bool { return l.PacketLossPercentage > limit },
		fmt.Sprintf("a packet loss of at most %g %%", limit))
}

// sameRole judges the links to the hosts of the same role.
func sameRole(c *hostCase, limited bool, bad func(*wire.L3Connectivity) bool, what string) verdict {
	switch {
	case !limited, c.dayTwo(), c.singleNode(), c.role == model.RoleAutoAssign, c.role == "":
		return success("No limit applies to the links of this host")
	case len(c.Peers.hosts) < 2:
		return success(singleHostConnectivity)
	case c.Host.Connectivity == nil:
		return pending(missingConnectivity)
	}
	var over []string
	for remote := range c.Host.Connectivity.Remotes() {
		peer := c.Peers.host(remote.HostID)
		if peer == nil || peer.EffectiveRole() != c.role {
			continue
		}
		for j := range remote.L3Connectivity {
			if bad(&remote.L3Connectivity[j]) {
				over = append(over, c.hostName(remote.HostID))
				break
			}
		}
	}
	if len(over) > 0 {
		return failure("Require %s to every %s, exceeded to %s", what, c.role, some(over))
	}
	return success("Every link to a %s keeps to %s", c.role, what)
}

func (c *hostCase) hostName(id uuid.UUID) string {
	if h := c.Peers.host(id); h != nil && h.Hostname() != "" {
		return h.Hostname()
	}
	return id.String()
}

// some lists the first few names, so that a message about a thousand hosts stays one.
func some(names []string) string {
	if len(names) <= maxNamesInMessage {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamesInMessage], ", "), len(names)-maxNamesInMessage)
}
