package demo

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/sim"
	"slipway/internal/sim/hardware"
	"slipway/internal/sim/site"
	"slipway/internal/wire"
)

const domain = "example.com"

// clusterPlan is a cluster to be installed.
type clusterPlan struct {
	site.Cluster
	hosts []hostPlan
	// added join the cluster once it is installed.
	added []hostPlan
	// api and ingress are its virtual addresses; none where the user manages the network.
	api, ingress []netip.Addr
	// names maps each name to the answer of the user's DNS.
	names map[string][]netip.Addr
	// lateBinding hosts belong to no cluster until they are bound.
	lateBinding bool
	// configure changes the definition of the cluster, override its install-config (JSON).
	configure []func(*wire.ClusterCreateParams)
	override  string
	// manifests of the user, by name in the folder openshift.
	manifests map[string]string
	// environment are variables of the service without which it refuses the override, with the refusal.
	environment []string
	refusal     string
	release     release
	// cloud: the credentials in the override belong to a cloud.
	cloud bool
	// claims that the installed cluster must satisfy, beside its nodes.
	claims []claim
}

// hostPlan is a machine and what goes wrong with it.
type hostPlan struct {
	spec   hardware.Spec
	faults sim.Faults
	// othersApprove: it waits for whoever approves its certificate requests.
	othersApprove bool
}

func (h hostPlan) troubled() bool {
	f := h.faults
	return len(f.Fail) > 0 || f.Cut > 0 || f.BootLive > 0
}

// troubled says that something is made to go wrong on a host of that name.
func (p clusterPlan) troubled(name string) bool {
	return slices.ContainsFunc(slices.Concat(p.hosts, p.added), func(h hostPlan) bool { return h.spec.Hostname == name && h.troubled() })
}

// plan says what is installed, and refuses faults of hosts that are not there.
func (k *Command) plan() ([]clusterPlan, error) {
	plan, err := k.clusters()
	if err != nil {
		return nil, err
	}
	if len(plan) == 0 && !k.Keep {
		return nil, errors.New("nothing to install: require --scenario, --hosts or --sno, or --keep for a service without machines")
	}
	return plan, k.addFaults(plan)
}

func (k *Command) clusters() ([]clusterPlan, error) {
	var plan []clusterPlan
	names := k.Scenario
	if len(names) == 0 {
		masters, workers, err := k.counts()
		if err != nil {
			return nil, err
		}
		if masters > 0 {
			p := newPlanner("demo", 111)
			p.controlPlane(masters)
			p.add("worker", hardware.Worker, workers, 120)
			if masters > 1 { // a single node has none
				p.virtualAddresses()
			}
			plan = append(plan, p.clusterPlan)
		}
		if k.SNO {
			names = []string{"sno"}
		}
	}
	for _, name := range names {
		c, err := planScenario(name)
		if err != nil {
			return nil, err
		}
		plan = append(plan, c)
	}
	return plan, nil
}

// counts parses the masters and workers of --hosts.
func (k *Command) counts() (masters, workers int, err error) {
	before, after, two := strings.Cut(k.Hosts, "+")
	m, err := strconv.ParseUint(before, 10, 8)
	w := uint64(0)
	if err == nil && two {
		w, err = strconv.ParseUint(after, 10, 8)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read --hosts: require masters and workers such as 3+2, found %q", k.Hosts)
	}
	return int(m), int(w), nil
}

// add makes machines called master-0, master-1...
func (p *planner) add(role string, shape hardware.Shape, count, first int) {
	for n := range count {
		p.machine(fmt.Sprintf("%s-%d", role, n), shape, first+n)
	}
}

// single makes the machine of a single-node cluster.
func (p *planner) single(name string) {
	p.ControlPlane = 1
	p.machine(name, hardware.SingleNode, 20)
}

// machine makes one with the number as the end of its addresses.
func (p *planner) machine(name string, shape hardware.Shape, number int) {
	spec := hardware.New(name+"."+p.Name, shape, netip.MustParsePrefix(fmt.Sprintf("%s.%d/24", p.network, number)),
		netip.MustParseAddr(p.network+".1"))
	spec.Hostname = name
	if p.six != "" {
		spec.NICs[0].Addresses = append(spec.NICs[0].Addresses, netip.MustParsePrefix(fmt.Sprintf("%s%x/64", p.six, number)))
	}
	p.hosts = append(p.hosts, hostPlan{spec: spec, faults: sim.Faults{Fail: map[string]int{}}})
}

// addFaults reads the flags for what goes wrong.
func (k *Command) addFaults(plan []clusterPlan) error {
	apply := func(name, flag string, change func(*sim.Faults)) error {
		var known []string
		for c := range plan {
			for _, hosts := range [][]hostPlan{plan[c].hosts, plan[c].added} {
				for h := range hosts {
					if hosts[h].spec.Hostname == name {
						change(&hosts[h].faults)
						return nil
					}
					known = append(known, hosts[h].spec.Hostname)
				}
			}
		}
		return fmt.Errorf("read --%s: there is no host %q, only %s", flag, name, strings.Join(known, ", "))
	}
	for _, text := range k.Fail {
		host, step, times, err := sim.ParseFail(text)
		if err == nil {
			err = apply(host, "fail", func(f *sim.Faults) { f.Fail[step] = times })
		}
		if err != nil {
			return err
		}
	}
	for _, text := range k.Disconnect {
		host, d, step, err := sim.ParseCut(text)
		if err == nil {
			err = apply(host, "disconnect", func(f *sim.Faults) { f.Cut, f.CutAt = d, step })
		}
		if err != nil {
			return err
		}
	}
	for _, host := range k.SlowDisk {
		if err := apply(host, "slow-disk", func(f *sim.Faults) { f.SlowDisk = true }); err != nil {
			return err
		}
	}
	for _, host := range k.BootLive {
		if err := apply(host, "boot-live", func(f *sim.Faults) { f.BootLive = 1 }); err != nil {
			return err
		}
	}
	return nil
}
