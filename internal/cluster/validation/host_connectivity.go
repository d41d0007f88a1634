package validation

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/model"
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
	for _, f := range nodeaddress.ClusterFamilies(c.Cluster) {
		if c.Peers.connected[c.Host.ID][f] {
			continue
		}
		if h := c.Peers.without[f]; h != nil {
			return tooFewFirst(c, fmt.Sprintf("Require an %s address of every host, %s has sent none", f, hostLabel(h)))
		}
		return tooFewFirst(c, fmt.Sprintf("Require an %s address that the majority of hosts reach, the host has none", f))
	}
	return success("The majority of hosts reach the host")
}

// groupMinimum returns how many hosts make a majority group.
func groupMinimum(c *model.Cluster, hosts []*model.Host) int {
	masters := 0
	for _, h := range hosts {
		if h.EffectiveRole() == model.RoleMaster {
			masters++
		}
	}
	if c.ControlPlaneCount == fencingControlPlanes && masters == fencingControlPlanes && Fenced(hosts) {
		return fencingMinimum
	}
	return majorityMinimum
}

// tooFewFirst turns a failure into pending while there are too few hosts for a group.
func tooFewFirst(c *hostCase, message string) verdict {
	required := groupMinimum(c.Cluster, c.Peers.hosts)
	if found := len(c.Peers.hosts); found < required {
		return pending("Require at least %d hosts to compare connectivity, found %d", required, found)
	}
	return failure("%s", message)
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
