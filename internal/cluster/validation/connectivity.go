package validation

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"

	"slipway/internal/cluster/hardware"
	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Connectivity computes from the connectivity reports of a cluster's hosts which of
// them reach each other. Majority has one group for each machine network (layer 2; in an IPv6 network also layer 3, because
// neighbour discovery often goes unanswered on bonds and VLANs) and
// one for each address family (layer 3); a group is empty while it would have fewer
// than three members (two in a control plane of two with fencing), and one of a family while a host has sent no address of
// it, as in the existing service. L3ConnectedAddresses are the
// addresses of a host that all others of its family's group reach. IPCollisions are
// addresses that more than one MAC answered for, unless all are NICs of one host that has the address.
//
// It needs time in proportion to the size of the reports; groups are computed on
// bit sets, and hosts that all reach each other need one pass.
func Connectivity(cluster *model.Cluster, hosts []*model.Host) model.ConnectivityGroups {
	l := newLinks(cluster, hosts)
	l.read()
	minimum, without := groupMinimum(cluster, hosts), withoutAddress(hosts, l.nics)
	out := model.ConnectivityGroups{
		Majority:             make(map[string][]uuid.UUID, len(l.graphs)),
		L3ConnectedAddresses: map[uuid.UUID][]string{},
		IPCollisions:         l.collisions(),
	}
	for i, g := range l.graphs {
		members := g.largestGroup()
		f := i - len(l.networks)
		if len(members) < minimum || f >= 0 && without[families[f]] != nil {
			members = nil
		}
		out.Majority[l.keys[i]] = l.ids(members)
		if f >= 0 {
			l.connectedAddresses(families[f], members, out.L3ConnectedAddresses)
		}
	}
	return out
}

var families = []nodeaddress.Family{nodeaddress.FamilyIPv4, nodeaddress.FamilyIPv6}

// links collects who reported to reach whom.
type links struct {
	hosts    []*model.Host
	nics     [][]hardware.NIC
	index    map[uuid.UUID]int
	networks []netip.Prefix
	keys     []string // of graphs: the networks, then the families
	graphs   []*graph
	// reached holds, by address of a host, which hosts reach it.
	reached []map[netip.Addr]bitset
	// macs holds, by address, the MACs that answered for it.
	macs map[netip.Addr][]string
	// parsed remembers addresses: each appears in the report of every host.
	parsed map[string]netip.Addr
}

func newLinks(cluster *model.Cluster, hosts []*model.Host) *links {
	l := &links{
		hosts: hosts, networks: cluster.Effective().MachineNetworks,
		index:   make(map[uuid.UUID]int, len(hosts)),
		reached: make([]map[netip.Addr]bitset, len(hosts)),
		macs:    map[netip.Addr][]string{},
		parsed:  make(map[string]netip.Addr, len(hosts)),
	}
	for i, h := range hosts {
		l.nics = append(l.nics, hardware.NICs(h.Inventory))
		l.index[h.ID] = i
		l.reached[i] = map[netip.Addr]bitset{}
	}
	for _, n := range l.networks {
		l.keys = append(l.keys, n.String())
	}
	for _, f := range families {
		l.keys = append(l.keys, string(f))
	}
	for range l.keys {
		l.graphs = append(l.graphs, newGraph(len(hosts)))
	}
	return l
}

func (l *links) read() {
	for from, h := range l.hosts {
		for remote := range h.Connectivity.Remotes() {
			l.readMACs(remote.L2Connectivity)
			to, known := l.index[remote.HostID]
			if !known || to == from {
				continue // a report may name hosts that are gone
			}
			l.readL2(from, to, remote.L2Connectivity)
			l.readL3(from, to, remote.L3Connectivity)
		}
	}
}

func (l *links) addr(text string) (netip.Addr, bool) {
	if a, ok := l.parsed[text]; ok {
		return a, a.IsValid()
	}
	a, _ := hardware.ParseAddr(text)
	l.parsed[text] = a
	return a, a.IsValid()
}

// readMACs keeps the MACs that answered for an address, most often a single one.
func (l *links) readMACs(entries []wire.L2Connectivity) {
	for i := range entries {
		e := &entries[i]
		address, ok := l.addr(e.RemoteIPAddress)
		if e.RemoteMac == "" || !ok {
			continue
		}
		known := l.macs[address]
		if !slices.ContainsFunc(known, func(mac string) bool { return strings.EqualFold(mac, e.RemoteMac) }) {
			l.macs[address] = append(known, strings.ToLower(e.RemoteMac))
		}
	}
}

func (l *links) readL2(from, to int, entries []wire.L2Connectivity) {
	for i := range entries {
		if !entries[i].Successful {
			continue
		}
		a, ok := l.addr(entries[i].RemoteIPAddress)
		if !ok {
			continue
		}
		for n, network := range l.networks {
			if network.Contains(a) {
				l.graphs[n].reaches(from, to)
			}
		}
	}
}

func (l *links) readL3(from, to int, entries []wire.L3Connectivity) {
	for i := range entries {
		if !entries[i].Successful {
			continue
		}
		a, ok := l.addr(entries[i].RemoteIPAddress)
		if !ok {
			continue
		}
		l.graphs[len(l.networks)+slices.Index(families, nodeaddress.FamilyOf(a))].reaches(from, to)
		for n, network := range l.networks {
			if a.Is6() && network.Contains(a) {
				l.graphs[n].reaches(from, to)
			}
		}
		by, ok := l.reached[to][a]
		if !ok {
			by = newBitset(len(l.hosts))
			l.reached[to][a] = by
		}
		by.set(from)
	}
}

// connectedAddresses adds the addresses of a family that all other members reach.
func (l *links) connectedAddresses(f nodeaddress.Family, members []int, to map[uuid.UUID][]string) {
	for _, m := range members {
		var found []netip.Addr
		for a, by := range l.reached[m] {
			if nodeaddress.FamilyOf(a) == f && by.containsAll(members, m) {
				found = append(found, a)
			}
		}
		slices.SortFunc(found, netip.Addr.Compare)
		id := l.hosts[m].ID
		for _, a := range found {
			to[id] = append(to[id], a.String())
		}
	}
}

func (l *links) ids(members []int) []uuid.UUID {
	out := make([]uuid.UUID, len(members))
	for i, m := range members {
		out[i] = l.hosts[m].ID
	}
	slices.SortFunc(out, func(a, b uuid.UUID) int { return cmp.Compare(a.String(), b.String()) })
	return out
}

func (l *links) collisions() map[string][]string {
	out := map[string][]string{}
	for addr, macs := range l.macs {
		if len(macs) > 1 && !l.ofOneHost(addr, macs) {
			out[addr.String()] = slices.Sorted(slices.Values(macs))
		}
	}
	return out
}

// ofOneHost reports whether a host has an address and all MACs that answer for it: each port of a bond that balances by ARP answers
// some hosts (Linux, networking/bonding, "balance-alb"), and two NICs in one network answer for each other.
func (l *links) ofOneHost(addr netip.Addr, macs []string) bool {
	return slices.ContainsFunc(l.nics, func(nics []hardware.NIC) bool {
		return hardware.Owns(nics, addr) && !slices.ContainsFunc(macs, func(mac string) bool { return !hardware.HasMAC(nics, mac) })
	})
}
