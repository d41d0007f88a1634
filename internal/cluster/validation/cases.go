package validation

import (
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// userManaged is the load balancer type of clusters that bring their own.
const userManaged = "user-managed"

// hostCase is a host under evaluation with what several rules derive from its facts.
type hostCase struct {
	HostFacts
	inv   *wire.Inventory // nil until it has CPU and memory
	nics  []hardware.NIC
	role  model.Role
	req   model.Requirements // of the role, with what operators add
	links *linkFaults        // read when a rule needs them, see faults
}

// newHostCase evaluates a host of the cluster as it will be installed.
func newHostCase(f HostFacts) *hostCase {
	f.Cluster = f.Cluster.Effective()
	c := &hostCase{HostFacts: f, role: f.Host.EffectiveRole()}
	if validInventory(f.Host.Inventory) {
		c.inv = f.Host.Inventory
	}
	if f.Cluster != nil && f.Peers == nil {
		c.Peers = NewPeers(f.Cluster, []*model.Host{f.Host})
	}
	if c.Peers != nil {
		c.nics = c.Peers.nicsOf(f.Host.ID)
	}
	if c.nics == nil {
		c.nics = hardware.NICs(f.Host.Inventory)
	}
	c.req = RequirementsOf(f.Requirements, c.role, f.Cluster, f.Host.Inventory, f.Options)
	if c.Peers != nil {
		c.req = c.Peers.operators.Requirements(c.req, f.Host, c.role)
	}
	return c
}

func validInventory(inv *wire.Inventory) bool {
	return inv != nil && inv.CPU.Count > 0 && inv.Memory.PhysicalBytes > 0
}

// RequirementsOf picks the requirements of a role: single-node requirements for the control plane of a cluster of one, small-worker
// requirements for aarch64 machines of the products named in opts. A role that is not known yet counts as worker.
func RequirementsOf(
	all model.RoleRequirements,
	role model.Role,
	cluster *model.Cluster,
	inv *wire.Inventory,
	opts Options,
) model.Requirements {
	if cluster != nil && !cluster.DayTwo() && cluster.SingleNode() && role != model.RoleWorker {
		return all.SNO
	}
	switch role {
	case model.RoleMaster, model.RoleBootstrap:
		return all.Master
	case model.RoleArbiter:
		return all.Arbiter
	}
	if inv != nil && isARM(inv.CPU.Architecture) && slices.Contains(opts.EdgeProducts, inv.SystemVendor.ProductName) {
		return all.EdgeWorker
	}
	return all.Worker
}

func isARM(arch string) bool { return arch == "aarch64" || arch == "arm64" }

// dayTwo reports whether the host joins a cluster that exists already.
func (c *hostCase) dayTwo() bool {
	return c.Host.DayTwo() || c.Cluster != nil && c.Cluster.DayTwo()
}

func (c *hostCase) singleNode() bool { return !c.dayTwo() && c.Cluster.SingleNode() }

// externalBalancer reports whether the user brings the load balancer.
func externalBalancer(c *model.Cluster) bool { return c.LoadBalancer == userManaged }

// clusterCase is a cluster under evaluation.
type clusterCase struct {
	ClusterFacts
	stated    *model.Cluster // without its override
	operators *operators.Plan
}

// newClusterCase evaluates a cluster as it will be installed.
func newClusterCase(f ClusterFacts) *clusterCase {
	stated := f.Cluster
	f.Cluster = f.Cluster.Effective()
	if f.Peers == nil {
		f.Peers = NewPeers(f.Cluster, f.Hosts)
	}
	return &clusterCase{ClusterFacts: f, stated: stated, operators: f.Peers.operators.With(f.Options.Operators)}
}

// networkList writes networks for a message.
func networkList(networks []netip.Prefix) string {
	texts := make([]string, len(networks))
	for i, n := range networks {
		texts[i] = n.String()
	}
	return strings.Join(texts, ", ")
}
