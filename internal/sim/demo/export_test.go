package demo

import "net/netip"

// Machine is a machine of the plan, for tests.
type Machine struct {
	Cluster, Host, Address string
	Troubled               bool
}

// Plan lists the machines a command would play.
func (k *Command) Plan() ([]Machine, error) {
	plan, err := k.plan()
	var machines []Machine
	for _, c := range plan {
		for _, h := range c.hosts {
			machines = append(machines, Machine{
				Cluster: c.Name, Host: h.spec.Hostname, Address: h.spec.NICs[0].Addresses[0].Addr().String(), Troubled: h.troubled(),
			})
		}
	}
	return machines, err
}

// ReadyLine takes the addresses from what the service prints when it is ready.
func ReadyLine(line string) []string {
	found := ready.FindStringSubmatch(line)
	if found == nil {
		return nil
	}
	return found[1:]
}

// VirtualAddresses lists the virtual addresses of the clusters that a command would play.
func (k *Command) VirtualAddresses() (all []netip.Addr) {
	plan, _ := k.plan()
	for _, c := range plan {
		all = append(all, append(c.api, c.ingress...)...)
	}
	return all
}
