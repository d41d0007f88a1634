package standin

import (
	"errors"
	"net/netip"
)

// arbiters is how many hosts only vote.
func (c *config) arbiters() int {
	if c.Arbiter == nil {
		return 0
	}
	return c.Arbiter.Replicas
}

// checkControlPlane wants one, three to five, or two with somebody who decides when they
// lose sight of each other.
func (c *config) checkControlPlane() error {
	n := c.ControlPlane.Replicas
	fenced := 0
	if c.ControlPlane.Fencing != nil {
		fenced = len(c.ControlPlane.Fencing.Credentials)
	}
	var faults []error
	if c.Arbiter != nil {
		if c.Arbiter.Name != "arbiter" || c.Arbiter.Replicas != 1 || n != 2 {
			faults = append(
				faults,
				fault(
					"arbiter",
					"require one replica named arbiter beside two of the control plane, found %d beside %d",
					c.Arbiter.Replicas,
					n,
				),
			)
		}
		if c.Platform.BareMetal == nil && c.Platform.None == nil {
			faults = append(faults, fault("platform", "this platform is not supported with an arbiter"))
		}
	}
	if n == 2 && c.Arbiter == nil && fenced != n {
		faults = append(faults, fault("controlPlane.fencing.credentials", "require credentials of both replicas, found %d", fenced))
	}
	if fenced > 0 && n != 2 {
		faults = append(faults, fault("controlPlane.fencing", "fencing is only supported with two replicas, found %d", n))
	}
	if n > 5 {
		faults = append(faults, fault("controlPlane.replicas", "require at most 5, found %d", n))
	}
	return errors.Join(faults...)
}

// checkFamilies wants pods and services to use the same families of addresses, and
// nodes to have all of them.
func (c *config) checkFamilies() error {
	families := func(cidrs []string) map[bool]int {
		found := map[bool]int{}
		for _, cidr := range cidrs {
			if p, err := netip.ParsePrefix(cidr); err == nil {
				found[p.Addr().Is6()]++
			}
		}
		return found
	}
	var pods, nodes []string
	for _, n := range c.Networking.ClusterNetwork {
		pods = append(pods, n.CIDR)
	}
	for _, n := range c.Networking.MachineNetwork {
		nodes = append(nodes, n.CIDR)
	}
	services := families(c.Networking.ServiceNetwork)
	for six := range services {
		if services[six] > 1 {
			return fault("networking.serviceNetwork", "only one service network can be specified for a family")
		}
		if families(pods)[six] == 0 || families(nodes)[six] == 0 {
			return fault("networking", "dual-stack: cluster, service and machine networks must have the same families")
		}
	}
	return nil
}

// topologies are those that other operators decide by: one replica of what runs on
// workers where there is only one.
func (s *state) topologies() (controlPlane, infrastructure string) {
	const many, one = "HighlyAvailable", "SingleReplica"
	switch n := s.Config.ControlPlane.Replicas; {
	case n == 1:
		return one, one
	case s.Config.Arbiter != nil:
		return "HighlyAvailableArbiter", many
	case n == 2:
		return "DualReplica", many
	case s.Config.Compute[0].Replicas == 1:
		return many, one
	}
	return many, many
}

// platformType is the name of the platform in the cluster's own objects.
func (s *state) platformType() string {
	switch p := s.Config.Platform; {
	case p.BareMetal != nil:
		return "BareMetal"
	case p.VSphere != nil:
		return "VSphere"
	case p.Nutanix != nil:
		return "Nutanix"
	case p.External != nil:
		return "External"
	}
	return "None"
}

// roles are those whose nodes have a config of their own.
func (s *state) roles() []string {
	if s.Config.Arbiter != nil {
		return []string{"master", "worker", "arbiter"}
	}
	return []string{"master", "worker"}
}
