package demo

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/sim/hardware"
	"slipway/internal/sim/site"
	"slipway/internal/wire"
)

// scenario is a kind of cluster to show, on a network of its own.
type scenario struct {
	name string
	what string // for help and documentation
	make func(*planner)
}

// scenarios are in the order in which their networks are numbered, from 192.168.111.0/24 on.
var scenarios = []scenario{
	{"ha", "three masters and two workers", func(p *planner) {
		p.controlPlane(3)
		p.add("worker", hardware.Worker, 2, 120)
		p.virtualAddresses()
	}},
	{"sno", "a single node", func(p *planner) {
		p.ControlPlane = 1
		p.add("sno", hardware.SingleNode, 1, 20)
	}},
	{"compact", "three masters that are the workers too", func(p *planner) {
		p.controlPlane(3)
		p.virtualAddresses()
	}},
	{"arbiter", "two masters, and a small third host for the votes of etcd", func(p *planner) {
		p.controlPlane(2)
		p.add("arbiter", hardware.Arbiter, 1, 60)
		p.virtualAddresses()
	}},
	{"late-binding", "hosts that wait in a pool and are bound to the cluster while they are discovered", func(p *planner) {
		p.controlPlane(3)
		p.virtualAddresses()
		p.lateBinding = true
	}},
	{"day-2", "a compact cluster that two workers are added to once it is installed", func(p *planner) {
		p.controlPlane(3)
		p.virtualAddresses()
		p.add("worker", hardware.Worker, 2, 120)
		p.hosts, p.added = p.hosts[:3], p.hosts[3:]
		p.resolve() // hosts that join reach the cluster by its names
	}},
	{"dual-stack", "three masters and two workers with IPv4 and IPv6", func(p *planner) {
		p.six = fmt.Sprintf("fd00:%d::", p.number)
		p.controlPlane(3)
		p.add("worker", hardware.Worker, 2, 120)
		p.virtualAddresses()
		p.configure = append(p.configure, func(c *wire.ClusterCreateParams) {
			c.MachineNetworks = &[]wire.MachineNetwork{{Cidr: p.network + ".0/24"}, {Cidr: p.six + "/64"}}
		})
	}},
	{"user-managed-networking", "three masters and two workers behind a load balancer and DNS of the user", func(p *planner) {
		p.controlPlane(3)
		p.add("worker", hardware.Worker, 2, 120)
		p.configure = append(p.configure, func(c *wire.ClusterCreateParams) {
			managed := true
			c.UserManagedNetworking = &managed
		})
		p.resolve()
	}},
}

// ScenarioNames are those --scenario takes.
func ScenarioNames() []string {
	names := make([]string, len(scenarios))
	for i, s := range scenarios {
		names[i] = s.name
	}
	return names
}

// planScenario makes the plan of a scenario.
func planScenario(name string) (clusterPlan, error) {
	n := slices.Index(ScenarioNames(), name)
	if n < 0 {
		return clusterPlan{}, fmt.Errorf("read --scenario: require some of %s, found %q", strings.Join(ScenarioNames(), ", "), name)
	}
	p := newPlanner("demo-"+name, 111+n)
	if n == 0 {
		p.Name = "demo"
	}
	scenarios[n].make(p)
	return p.clusterPlan, nil
}

// planner makes the machines of a plan.
type planner struct {
	clusterPlan
	number  int
	network string // its first three bytes
	six     string // the IPv6 network of dual stack, without the host part
}

func newPlanner(name string, number int) *planner {
	return &planner{number: number, network: fmt.Sprintf("192.168.%d", number), clusterPlan: clusterPlan{
		Cluster: site.Cluster{Name: name, Domain: domain, Version: version},
	}}
}

// controlPlane adds the masters.
func (p *planner) controlPlane(count int) {
	p.ControlPlane = count
	p.add("master", hardware.Master, count, 20)
}

// resolve has the user's DNS know the names of the cluster.
func (p *planner) resolve() {
	p.names = map[string][]netip.Addr{}
	for _, name := range []string{"api", "api-int", "console-openshift-console.apps"} {
		p.names[name+"."+p.Name+"."+domain] = []netip.Addr{netip.MustParseAddr(p.network + ".5")}
	}
}

// virtualAddresses are those of the API and of the ingress, one of each family.
func (p *planner) virtualAddresses() {
	for _, network := range []string{p.network + ".", p.six} {
		if network != "" {
			p.api = append(p.api, netip.MustParseAddr(network+"5"))
			p.ingress = append(p.ingress, netip.MustParseAddr(network+"6"))
		}
	}
}
