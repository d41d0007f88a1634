package validation

import (
	"time"

	"slipway/internal/cluster/features"
	"slipway/internal/model"
)

// maxClockSpread is the maximum difference between the clocks of two hosts (docs/reference/validation-rules.md,
// "Spread of clocks").
const maxClockSpread = 4 * time.Minute

func pullSecretSet(c *clusterCase) verdict {
	if c.Cluster.PullSecret == "" {
		return failure("Require a pull secret, found none")
	}
	return success("The pull secret is set")
}

func platformRequirements(c *clusterCase) verdict {
	p := c.Cluster.Platform
	if p.Type == platformExternal && p.ExternalName == externalOCI && !c.CustomManifests {
		return failure("Require the manifests of the Oracle cloud's drivers, found none")
	}
	if c.WaitingNetworks {
		return failure("Require MAC and IP addresses of the hosts in static_network_config, found the placeholders that a client sends first")
	}
	return success("The platform %s needs nothing else", platformName(p))
}

// installingHosts were ready: a good installation is no reason for a warning.
var installingHosts = model.HostStatuses{
	model.HostInstalling, model.HostInstallingInProgress, model.HostInstallingPendingUserAction, model.HostInstalled,
}

func allHostsReady(c *clusterCase) verdict {
	var waiting []string
	for _, h := range c.Hosts {
		if !model.ReadyHosts.Has(h.Status) && !installingHosts.Has(h.Status) {
			waiting = append(waiting, hostLabel(h)+" is "+string(h.Status))
		}
	}
	if len(waiting) > 0 {
		return failure("Require every host to be ready, %d of %d are not: %s", len(waiting), len(c.Hosts), some(waiting))
	}
	return success("All %d hosts are ready", len(c.Hosts))
}

func hostLabel(h *model.Host) string {
	if name := h.Hostname(); name != "" {
		return name
	}
	return h.ID.String()
}

// roleCount counts the hosts of each role.
type roleCount struct{ masters, arbiters, workers int }

// roles counts a host that has no role yet as a master while there are too few and it can be one, else as a worker.
func (c *clusterCase) roles() roleCount {
	var n roleCount
	var open []*model.Host
	for _, h := range c.Hosts {
		switch h.EffectiveRole() {
		case model.RoleMaster, model.RoleBootstrap:
			if h.Role != model.RoleAutoAssign || c.canBeMaster(h) {
				n.masters++
			}
		case model.RoleArbiter:
			n.arbiters++
		case model.RoleWorker:
			n.workers++
		default:
			open = append(open, h)
		}
	}
	for _, h := range open {
		if n.masters < c.Cluster.ControlPlaneCount && c.canBeMaster(h) {
			n.masters++
		} else {
			n.workers++
		}
	}
	return n
}

func (c *clusterCase) canBeMaster(h *model.Host) bool {
	return CanTake(model.RoleMaster, c.Cluster, h, c.operators, c.Requirements, c.Options)
}

func mastersCount(c *clusterCase) verdict {
	n, required := c.roles(), c.Cluster.ControlPlaneCount
	if n.arbiters > 0 {
		if err := features.CheckArbiter(c.Cluster); err != nil {
			return failure("Require other roles for %d arbiters: %s", n.arbiters, err)
		}
	}
	switch {
	case c.Cluster.DayTwo():
		return success("The cluster has a control plane already")
	case n.masters != required:
		return failure("Require %d control plane hosts, found %d", required, n.masters)
	case required == fencingControlPlanes && n.arbiters == 0 && !Fenced(c.Hosts):
		return failure("Require an arbiter or fencing credentials for a control plane of %d, found neither", required)
	case required == 1 && n.workers > 0:
		return failure("Require a single node without workers, found %d", n.workers)
	}
	return success("Found %d control plane hosts", n.masters)
}

func clocksAgree(c *clusterCase) verdict {
	var first, last int64
	seen := false
	for _, h := range c.Hosts {
		// Hosts check in at different times: each clock is compared with the service's.
		offset, known := ClockReading{h.Timestamp, h.CheckedInAt}.seconds()
		if !known {
			continue
		}
		if !seen {
			first, last, seen = offset, offset, true
		}
		first, last = min(first, offset), max(last, offset)
	}
	if spread := time.Duration(last-first) * time.Second; spread > maxClockSpread {
		return failure("Require the clocks of the hosts within %s, they are %s apart", maxClockSpread, spread)
	}
	return success("The clocks of the hosts agree")
}

// Fenced reports whether every control plane host among hosts has fencing credentials:
// two of them can then do without an arbiter.
func Fenced(hosts []*model.Host) bool {
	fenced := false
	for _, h := range hosts {
		if h.EffectiveRole() != model.RoleMaster {
			continue
		}
		if h.Fencing == nil {
			return false
		}
		fenced = true
	}
	return fenced
}
