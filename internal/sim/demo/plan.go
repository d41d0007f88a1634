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
)

const domain = "example.com"

// clusterPlan is a cluster to be installed.
type clusterPlan struct {
	site.Cluster
	hosts []hostPlan
	// api and ingress are its virtual addresses; not valid on a single node.
	api, ingress netip.Addr
}

// hostPlan is a machine and what goes wrong with it.
type hostPlan struct {
	spec   hardware.Spec
	faults sim.Faults
}

func (h hostPlan) troubled() bool {
	f := h.faults
	return len(f.Fail) > 0 || f.Cut > 0 || f.BootLive > 0
}

// troubled says that something is made to go wrong on a host of that name.
func (p clusterPlan) troubled(name string) bool {
	return slices.ContainsFunc(p.hosts, func(h hostPlan) bool { return h.spec.Hostname == name && h.troubled() })
}

// plan says what is installed, and refuses faults of hosts that are not there.
func (k *Command) plan() ([]clusterPlan, error) {
	masters, workers, err := k.counts()
	if err != nil {
		return nil, err
	}
	var plan []clusterPlan
	if masters > 0 {
		c := newPlan("demo", "192.168.111", masters)
		c.add("master", hardware.Master, masters, 20)
		c.add("worker", hardware.Worker, workers, 120)
		c.api, c.ingress = netip.MustParseAddr("192.168.111.5"), netip.MustParseAddr("192.168.111.6")
		plan = append(plan, c.clusterPlan)
	}
	if k.SNO {
		c := newPlan("demo-sno", "192.168.112", 1)
		c.add("sno", hardware.SingleNode, 1, 20)
		plan = append(plan, c.clusterPlan)
	}
	if len(plan) == 0 {
		return nil, errors.New("nothing to install: require --hosts or --sno")
	}
	return plan, k.addFaults(plan)
}

// counts are the masters and workers of --hosts.
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

// planner makes the machines of a plan.
type planner struct {
	clusterPlan
	network string // its first three bytes
}

func newPlan(name, network string, controlPlane int) *planner {
	return &planner{network: network, clusterPlan: clusterPlan{
		Cluster: site.Cluster{Name: name, Domain: domain, ControlPlane: controlPlane, Version: version},
	}}
}

// add makes machines called master-0, master-1..., one alone without a number.
func (p *planner) add(role string, shape hardware.Shape, count, first int) {
	for n := range count {
		name := fmt.Sprintf("%s-%d", role, n)
		if role == "sno" {
			name = role
		}
		spec := hardware.New(name+"."+p.Name, shape, netip.MustParsePrefix(fmt.Sprintf("%s.%d/24", p.network, first+n)),
			netip.MustParseAddr(p.network+".1"))
		spec.Hostname = name
		p.hosts = append(p.hosts, hostPlan{spec: spec, faults: sim.Faults{Fail: map[string]int{}}})
	}
}

// addFaults reads the flags for what goes wrong.
func (k *Command) addFaults(plan []clusterPlan) error {
	apply := func(name, flag string, change func(*sim.Faults)) error {
		var known []string
		for c := range plan {
			for h := range plan[c].hosts {
				if host := &plan[c].hosts[h]; host.spec.Hostname == name {
					change(&host.faults)
					return nil
				}
				known = append(known, plan[c].hosts[h].spec.Hostname)
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
