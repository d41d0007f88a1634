package validation

import (
	"net/netip"

	"github.com/google/uuid"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/cluster/operators"
	"slipway/internal/model"
)

// Peers indexes what rules need of the other hosts of a cluster, looked up instead of searched. Building it walks over the hosts once;
// it is read-only afterwards and may be shared between goroutines.
type Peers struct {
	cluster *model.Cluster
	hosts   []*model.Host
	byID    map[uuid.UUID]int
	nics    [][]hardware.NIC
	names   map[string]int   // hostname to the number of hosts with an inventory that have it
	macs    map[string][]int // MAC address in the machine networks, lower case, to the hosts that have it
	// withInventory counts the hosts that sent an inventory.
	withInventory int
	// majority holds the members of each connectivity group.
	majority map[string]map[uuid.UUID]bool
	// connected holds the families in which a host is reached by the others.
	connected map[uuid.UUID]map[nodeaddress.Family]bool
	// without holds, by family, a host that has no address of it.
	without map[nodeaddress.Family]*model.Host
	// collisions are the addresses that more than one machine answers for.
	collisions map[netip.Addr][]string
	operators  *operators.Plan
}

// NewPeers indexes the hosts of a cluster. The cluster's connectivity groups must come from the same refresh.
func NewPeers(cluster *model.Cluster, hosts []*model.Host) *Peers {
	cluster = cluster.Effective()
	p := &Peers{
		cluster: cluster, hosts: hosts,
		byID:  make(map[uuid.UUID]int, len(hosts)),
		nics:  make([][]hardware.NIC, len(hosts)),
		names: make(map[string]int, len(hosts)),
		macs:  make(map[string][]int, len(hosts)),

		operators: operators.NewPlan(cluster, hosts),
	}
	for i, h := range hosts {
		p.byID[h.ID] = i
		p.nics[i] = hardware.NICs(h.Inventory)
		if h.Inventory != nil {
			p.withInventory++
			p.names[h.Hostname()]++
		}
		if n := hardware.FirstIn(p.nics[i], cluster.MachineNetworks); n >= 0 && p.nics[i][n].Answering() != "" {
			p.macs[p.nics[i][n].Answering()] = append(p.macs[p.nics[i][n].Answering()], i)
		}
	}
	p.without = withoutAddress(hosts, p.nics)
	p.indexConnectivity(cluster.Connectivity)
	return p
}

// withoutAddress finds, for each family, the first host that has no address of it.
func withoutAddress(hosts []*model.Host, nics [][]hardware.NIC) map[nodeaddress.Family]*model.Host {
	out := map[nodeaddress.Family]*model.Host{}
	for i, h := range hosts {
		has := map[nodeaddress.Family]bool{}
		for n := range nics[i] {
			for _, a := range nics[i][n].Addresses {
				has[nodeaddress.FamilyOf(a.Addr())] = true
			}
		}
		for _, f := range families {
			if !has[f] && out[f] == nil {
				out[f] = h
			}
		}
	}
	return out
}

func (p *Peers) indexConnectivity(groups model.ConnectivityGroups) {
	p.majority = make(map[string]map[uuid.UUID]bool, len(groups.Majority))
	for key, ids := range groups.Majority {
		members := make(map[uuid.UUID]bool, len(ids))
		for _, id := range ids {
			members[id] = true
		}
		p.majority[key] = members
	}
	p.connected = make(map[uuid.UUID]map[nodeaddress.Family]bool, len(groups.L3ConnectedAddresses))
	for id, addresses := range groups.L3ConnectedAddresses {
		families := map[nodeaddress.Family]bool{}
		for _, text := range addresses {
			if addr, err := netip.ParseAddr(text); err == nil {
				families[nodeaddress.FamilyOf(addr)] = true
			}
		}
		p.connected[id] = families
	}
	p.collisions = make(map[netip.Addr][]string, len(groups.IPCollisions))
	for text, macs := range groups.IPCollisions {
		if addr, err := netip.ParseAddr(text); err == nil {
			p.collisions[addr.Unmap()] = macs
		}
	}
}

// host returns a host of the cluster by its id, nil when it is unknown.
func (p *Peers) host(id uuid.UUID) *model.Host {
	if i, ok := p.byID[id]; ok {
		return p.hosts[i]
	}
	return nil
}

// sameMAC returns another host with the MAC address that this host has in the machine networks, and the address; nil without one.
func (p *Peers) sameMAC(id uuid.UUID) (*model.Host, string) {
	nics := p.nicsOf(id)
	n := hardware.FirstIn(nics, p.cluster.MachineNetworks)
	if n < 0 {
		return nil, ""
	}
	for _, i := range p.macs[nics[n].Answering()] {
		if p.hosts[i].ID != id {
			return p.hosts[i], nics[n].Answering()
		}
	}
	return nil, ""
}

// nicsOf returns the parsed interfaces of a host.
func (p *Peers) nicsOf(id uuid.UUID) []hardware.NIC {
	if i, ok := p.byID[id]; ok {
		return p.nics[i]
	}
	return nil
}
