// Package nodeaddress decides by which address a node belongs to its cluster. The hint for its kubelet, the
// machine networks of the install-config and the address of the bootstrap host follow from one decision: where
// they differ, etcd refuses its members, because their connections come from an address that their certificates
// do not have (docs/reference/ignition.md, "Address of a node").
package nodeaddress

import (
	"net/netip"
	"slices"

	"github.com/google/uuid"

	"slipway/internal/model"
)

// Plan holds the addresses of a cluster's nodes.
type Plan struct {
	// MachineNetworks are the cluster's own, else the networks of the bootstrap host's address, one of each family of the cluster, primary
	// first. Empty while no host has a default route.
	MachineNetworks []netip.Prefix
	// Bootstrap is the address of the bootstrap host or the single node; the zero value while it is unknown.
	Bootstrap netip.Addr
	// Hints are base addresses of the networks that nodes take their address from. A node without one finds its address by the virtual
	// addresses of the cluster, or takes the address of its default route.
	Hints map[uuid.UUID]netip.Addr
}

// Of plans the addresses of a cluster's nodes. Where the user balances the load, a node has an address that the other hosts reach, on a
// NIC with a default route, and no two nodes would reach each other over a network other than the network of their addresses. Machine
// networks of the user count more than routes.
func Of(c *model.Cluster, hosts []*model.Host) Plan {
	c = c.Effective()
	p := Plan{MachineNetworks: slices.Clone(c.MachineNetworks), Hints: map[uuid.UUID]netip.Addr{}}
	first := bootstrapOf(hosts)
	var assigned map[uuid.UUID]address
	if hinted(c) {
		assigned = assign(c, hosts)
		for id, a := range assigned {
			p.Hints[id] = a.prefix.Masked().Addr()
		}
	}
	if len(p.MachineNetworks) == 0 && first != nil && (c.Platform.Type != "baremetal" || c.SingleNode()) {
		p.MachineNetworks = networksOf(c, first, assigned)
	}
	if c.SingleNode() && len(p.MachineNetworks) > 0 {
		for _, h := range hosts {
			p.Hints[h.ID] = p.MachineNetworks[0].Masked().Addr()
		}
	}
	if first != nil && (first.Bootstrap || c.SingleNode()) {
		p.Bootstrap = addressIn(p.MachineNetworks, first, assigned)
	}
	return p
}

// hinted reports whether nodes find their address neither by virtual addresses nor by a single machine network.
func hinted(c *model.Cluster) bool {
	return !c.SingleNode() && (c.Platform.Type == "none" || c.LoadBalancer == "user-managed")
}

// bootstrapOf returns the bootstrap host; while none is chosen, the first host that could be.
func bootstrapOf(hosts []*model.Host) *model.Host {
	var first *model.Host
	for _, h := range hosts {
		if h.Inventory == nil {
			continue
		}
		if h.Bootstrap {
			return h
		}
		role := h.EffectiveRole()
		could := role != model.RoleWorker && role != model.RoleArbiter
		if could && (first == nil || rank(h) < rank(first)) {
			first = h
		}
	}
	return first
}

// networksOf lists the networks of a host that its cluster works in: the network of the assigned address, and the networks of its best
// default routes in the other families.
func networksOf(c *model.Cluster, h *model.Host, assigned map[uuid.UUID]address) []netip.Prefix {
	var out []netip.Prefix
	for _, is4 := range familiesOf(c) {
		if a, ok := assigned[h.ID]; ok && a.prefix.Addr().Is4() == is4 {
			out = append(out, a.prefix.Masked())
			continue
		}
		if all := routed(h, is4); len(all) > 0 {
			out = append(out, all[0].prefix.Masked())
		}
	}
	return out
}

// addressIn returns the address of a host that it was assigned, else the one in the first machine network.
func addressIn(networks []netip.Prefix, h *model.Host, assigned map[uuid.UUID]address) netip.Addr {
	if a, ok := assigned[h.ID]; ok {
		return a.prefix.Addr()
	}
	if len(networks) == 0 {
		return netip.Addr{}
	}
	for _, a := range addressesOf(h) {
		if networks[0].Contains(a.prefix.Addr()) {
			return a.prefix.Addr()
		}
	}
	return netip.Addr{}
}

// familiesOf lists the families of a cluster, primary first: whether each is IPv4. Without networks of the
// cluster both are possible.
func familiesOf(c *model.Cluster) []bool {
	for _, networks := range [][]netip.Prefix{c.MachineNetworks, c.ServiceNetworks} {
		var out []bool
		for _, n := range networks {
			if is4 := n.Addr().Is4(); !slices.Contains(out, is4) {
				out = append(out, is4)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return []bool{true, false}
}
