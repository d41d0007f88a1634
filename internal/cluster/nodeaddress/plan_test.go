package nodeaddress_test

import (
	"net/netip"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// machine is a host in a line: its NICs with their addresses and, where it has a default route, the metric of it.
type machine struct {
	role        model.Role
	bootstrap   bool
	nics        map[string][]string
	routes      map[string]int32 // IPv4, by NIC
	routes6     map[string]int32
	noGateway   bool
	unreachable []string // addresses that other hosts do not reach
}

func id(i int) uuid.UUID { return uuid.UUID{0: byte(i + 1)} }

func (m machine) host(i int) *model.Host {
	inv := &wire.Inventory{}
	for _, name := range []string{"eth0", "eth1", "eth2"} {
		nic := wire.Interface{Name: name}
		for _, text := range m.nics[name] {
			if netip.MustParsePrefix(text).Addr().Is4() {
				nic.Ipv4Addresses = append(nic.Ipv4Addresses, text)
			} else {
				nic.Ipv6Addresses = append(nic.Ipv6Addresses, text)
			}
		}
		inv.Interfaces = append(inv.Interfaces, nic)
		if metric, ok := m.routes[name]; ok {
			r := wire.Route{Destination: "0.0.0.0", Family: 2, Interface: name, Metric: metric, Gateway: "192.0.2.1"}
			if m.noGateway {
				r.Gateway = ""
			}
			inv.Routes = append(inv.Routes, r)
		}
		if metric, ok := m.routes6[name]; ok {
			inv.Routes = append(inv.Routes, wire.Route{Destination: "::", Family: 10, Interface: name, Metric: metric, Gateway: "fe80::1"})
		}
	}
	return &model.Host{ID: id(i), Role: m.role, Bootstrap: m.bootstrap, Inventory: inv}
}

func (m machine) reached() []string {
	var out []string
	for _, nic := range []string{"eth0", "eth1", "eth2"} {
		for _, text := range m.nics[nic] {
			a := netip.MustParsePrefix(text).Addr().String()
			cut := false
			for _, u := range m.unreachable {
				cut = cut || u == a
			}
			if !cut {
				out = append(out, a)
			}
		}
	}
	return out
}

// storageAndUplink has a storage network without a gateway on its first NIC, and its uplink on the second.
func storageAndUplink(role model.Role, last string) machine {
	return machine{
		role:   role,
		nics:   map[string][]string{"eth0": {"10.0.0." + last + "/24"}, "eth1": {"192.168.1." + last + "/24"}},
		routes: map[string]int32{"eth1": 100},
	}
}

// twoUplinks has default routes on both NICs; the second is the better one.
func twoUplinks(last string) machine {
	return machine{
		role:   model.RoleMaster,
		nics:   map[string][]string{"eth0": {"10.0.0." + last + "/24"}, "eth1": {"192.168.1." + last + "/24"}},
		routes: map[string]int32{"eth0": 200, "eth1": 100},
	}
}

func first(m machine) machine { m.bootstrap = true; return m }

type want struct {
	networks  []string
	bootstrap string
	hints     map[int]string
}

func TestAddressesOfNodes(t *testing.T) {
	t.Parallel()
	none := model.Platform{Type: "none"}
	v4 := []string{"172.30.0.0/16"}
	master := model.RoleMaster
	for name, c := range map[string]struct {
		cluster          model.Cluster
		service, machine []string
		hosts            []machine
		want             want
	}{
		"the NIC with the default route, not the lowest address": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{
				first(storageAndUplink(master, "11")), storageAndUplink(master, "12"), storageAndUplink(master, "13"),
				storageAndUplink(model.RoleWorker, "14"),
			},
			want{
				[]string{"192.168.1.0/24"},
				"192.168.1.11",
				map[int]string{0: "192.168.1.0", 1: "192.168.1.0", 2: "192.168.1.0", 3: "192.168.1.0"},
			},
		},
		"the lower metric of two default routes": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{first(twoUplinks("11")), twoUplinks("12"), twoUplinks("13")},
			want{[]string{"192.168.1.0/24"}, "192.168.1.11", map[int]string{0: "192.168.1.0", 1: "192.168.1.0", 2: "192.168.1.0"}},
		},
		"the worse route where one host has no other": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{first(twoUplinks("11")), twoUplinks("12"), {
				role: master, nics: map[string][]string{"eth0": {"10.0.0.13/24"}}, routes: map[string]int32{"eth0": 100},
			}},
			want{[]string{"10.0.0.0/24"}, "10.0.0.11", map[int]string{0: "10.0.0.0", 1: "10.0.0.0", 2: "10.0.0.0"}},
		},
		"no hint where a host's default route leaves the network that the others share": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{first(storageAndUplink(master, "11")), storageAndUplink(master, "12"), {
				role:   master,
				nics:   map[string][]string{"eth0": {"10.0.0.13/24"}, "eth1": {"192.168.1.13/24"}},
				routes: map[string]int32{"eth0": 100},
			}},
			want{[]string{"192.168.1.0/24"}, "192.168.1.11", nil},
		},
		"routed networks of racks": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{
				{role: master, bootstrap: true, nics: map[string][]string{"eth0": {"10.1.0.11/24"}}, routes: map[string]int32{"eth0": 1}},
				{role: master, nics: map[string][]string{"eth0": {"10.2.0.11/24"}}, routes: map[string]int32{"eth0": 1}},
				{role: master, nics: map[string][]string{"eth0": {"10.3.0.11/24"}}, routes: map[string]int32{"eth0": 1}},
			},
			want{[]string{"10.1.0.0/24"}, "10.1.0.11", map[int]string{0: "10.1.0.0", 1: "10.2.0.0", 2: "10.3.0.0"}},
		},
		"no default route anywhere": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{
				{role: master, bootstrap: true, nics: map[string][]string{"eth0": {"10.1.0.11/24"}}},
				{role: master, nics: map[string][]string{"eth0": {"10.1.0.12/24"}}},
			},
			want{},
		},
		"a default route without a gateway is none": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{{
				role: master, bootstrap: true, nics: map[string][]string{"eth0": {"10.1.0.11/24"}},
				routes: map[string]int32{"eth0": 1}, noGateway: true,
			}},
			want{},
		},
		"an address that the others do not reach is not a node's": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{
				func() machine { m := first(twoUplinks("11")); m.unreachable = []string{"192.168.1.11"}; return m }(),
				twoUplinks("12"), twoUplinks("13"),
			},
			want{[]string{"10.0.0.0/24"}, "10.0.0.11", map[int]string{0: "10.0.0.0", 1: "10.0.0.0", 2: "10.0.0.0"}},
		},
		"before reports about reachability the default route counts": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{func() machine {
				m := first(storageAndUplink(master, "11"))
				m.unreachable = []string{"10.0.0.11", "192.168.1.11"}
				return m
			}()},
			want{[]string{"192.168.1.0/24"}, "192.168.1.11", nil},
		},
		"both families of a dual-stack cluster, the primary in the hint": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			[]string{"172.30.0.0/16", "fd02::/112"},
			nil,
			[]machine{{
				role: master, bootstrap: true, routes: map[string]int32{"eth1": 100}, routes6: map[string]int32{"eth1": 100},
				nics: map[string][]string{"eth0": {"10.0.0.11/24", "fd01::11/64"}, "eth1": {"192.168.1.11/24", "fd00::11/64"}},
			}},
			want{[]string{"192.168.1.0/24", "fd00::/64"}, "192.168.1.11", map[int]string{0: "192.168.1.0"}},
		},
		"IPv6 first": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			[]string{"fd02::/112", "172.30.0.0/16"},
			nil,
			[]machine{{
				role: master, bootstrap: true, routes: map[string]int32{"eth1": 100}, routes6: map[string]int32{"eth1": 100},
				nics: map[string][]string{"eth1": {"192.168.1.11/24", "fd00::11/64"}},
			}},
			want{[]string{"fd00::/64", "192.168.1.0/24"}, "fd00::11", map[int]string{0: "fd00::"}},
		},
		"addresses by router advertisement do not make an IPv4 cluster dual-stack": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{{
				role: master, bootstrap: true, routes: map[string]int32{"eth1": 100}, routes6: map[string]int32{"eth1": 100},
				nics: map[string][]string{"eth1": {"192.168.1.11/24", "2001:db8::11/64"}},
			}},
			want{[]string{"192.168.1.0/24"}, "192.168.1.11", map[int]string{0: "192.168.1.0"}},
		},
		"an address by DHCPv6 beside the network of its link": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			[]string{"fd02::/112"},
			nil,
			[]machine{
				{
					role: master, bootstrap: true, routes6: map[string]int32{"eth1": 100},
					nics: map[string][]string{"eth1": {"fd00::11/128", "fd00::5054:ff:fe00:11/64"}},
				},
				{
					role: master, routes6: map[string]int32{"eth1": 100},
					nics: map[string][]string{"eth1": {"fd00::12/128", "fd00::5054:ff:fe00:12/64"}},
				},
			},
			want{[]string{"fd00::11/128"}, "fd00::11", map[int]string{0: "fd00::11", 1: "fd00::12"}},
		},
		"machine networks of the user count more than routes": {
			model.Cluster{ControlPlaneCount: 3, Platform: model.Platform{Type: "baremetal"}, LoadBalancer: "user-managed"},
			v4,
			[]string{"10.0.0.0/24", "10.9.0.0/24"},
			[]machine{first(storageAndUplink(master, "11")), storageAndUplink(master, "12"), {
				role: master, nics: map[string][]string{"eth0": {"10.9.0.13/24"}}, routes: map[string]int32{"eth0": 100},
			}},
			want{[]string{"10.0.0.0/24", "10.9.0.0/24"}, "10.0.0.11", map[int]string{0: "10.0.0.0", 1: "10.0.0.0", 2: "10.9.0.0"}},
		},
		"a host outside the machine networks has no hint": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4,
			[]string{"10.8.0.0/24"},
			[]machine{first(twoUplinks("11"))},
			want{[]string{"10.8.0.0/24"}, "", nil},
		},
		"virtual addresses need no hints": {
			model.Cluster{ControlPlaneCount: 3, Platform: model.Platform{Type: "baremetal"}},
			v4,
			[]string{"192.168.1.0/24"},
			[]machine{first(storageAndUplink(master, "11")), storageAndUplink(master, "12")},
			want{[]string{"192.168.1.0/24"}, "192.168.1.11", nil},
		},
		"virtual addresses that are not set yet": {
			model.Cluster{ControlPlaneCount: 3, Platform: model.Platform{Type: "baremetal"}},
			v4, nil,
			[]machine{first(storageAndUplink(master, "11"))},
			want{},
		},
		"an external platform takes the default route and no hint": {
			model.Cluster{ControlPlaneCount: 3, Platform: model.Platform{Type: "external"}},
			v4, nil,
			[]machine{first(storageAndUplink(master, "11")), storageAndUplink(master, "12")},
			want{[]string{"192.168.1.0/24"}, "192.168.1.11", nil},
		},
		"a single node has the network of its best default route": {
			model.Cluster{ControlPlaneCount: 1, Platform: none},
			v4, nil,
			[]machine{first(twoUplinks("11"))},
			want{[]string{"192.168.1.0/24"}, "192.168.1.11", map[int]string{0: "192.168.1.0"}},
		},
		"a single node with a machine network of the user": {
			model.Cluster{ControlPlaneCount: 1, Platform: none},
			v4,
			[]string{"10.0.0.0/24"},
			[]machine{storageAndUplink(master, "11")},
			want{[]string{"10.0.0.0/24"}, "10.0.0.11", map[int]string{0: "10.0.0.0"}},
		},
		"while no bootstrap host is chosen a control plane host counts": {
			model.Cluster{ControlPlaneCount: 3, Platform: none},
			v4, nil,
			[]machine{storageAndUplink(model.RoleWorker, "14"), twoUplinks("11")},
			want{[]string{"192.168.1.0/24"}, "", map[int]string{0: "192.168.1.0", 1: "192.168.1.0"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.cluster.ServiceNetworks, c.cluster.MachineNetworks = prefixes(c.service), prefixes(c.machine)
			c.cluster.Connectivity.L3ConnectedAddresses = map[uuid.UUID][]string{}
			var hosts []*model.Host
			for i, m := range c.hosts {
				hosts = append(hosts, m.host(i))
				c.cluster.Connectivity.L3ConnectedAddresses[id(i)] = m.reached()
			}
			got := nodeaddress.Of(&c.cluster, hosts)
			require.Equal(t, prefixes(c.want.networks), got.MachineNetworks)
			bootstrap := ""
			if got.Bootstrap.IsValid() {
				bootstrap = got.Bootstrap.String()
			}
			require.Equal(t, c.want.bootstrap, bootstrap)
			hints := map[int]string{}
			for i := range c.hosts {
				if hint, ok := got.Hints[id(i)]; ok {
					hints[i] = hint.String()
				}
			}
			if c.want.hints == nil {
				c.want.hints = map[int]string{}
			}
			require.Equal(t, c.want.hints, hints)
		})
	}
}

func prefixes(texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// TestAddressesOfManyHosts holds the search to a bound: without one it would try two addresses of sixty hosts in
// every combination.
func TestAddressesOfManyHosts(t *testing.T) {
	t.Parallel()
	c := model.Cluster{ControlPlaneCount: 3, Platform: model.Platform{Type: "none"}, ServiceNetworks: prefixes([]string{"172.30.0.0/16"})}
	c.Connectivity.L3ConnectedAddresses = map[uuid.UUID][]string{}
	var hosts []*model.Host
	for i := range 61 {
		last := netip.AddrFrom4([4]byte{byte(10 + i), 0, 0, 1}).String()
		m := machine{
			role: model.RoleWorker, nics: map[string][]string{"eth0": {last + "/24"}},
			routes: map[string]int32{"eth0": 100},
		}
		if i < 60 { // apart from each other; only the last two cannot be agreed upon
			m.nics["eth1"] = []string{netip.AddrFrom4([4]byte{byte(100 + i), 0, 0, 1}).String() + "/24"}
			m.routes["eth1"] = 200
		} else {
			m.nics["eth1"] = []string{"10.0.0.2/24", "100.0.0.2/24"}
		}
		hosts = append(hosts, m.host(i))
		c.Connectivity.L3ConnectedAddresses[id(i)] = m.reached()
	}
	hosts[0].Bootstrap, hosts[0].Role = true, model.RoleMaster
	got := nodeaddress.Of(&c, hosts)
	require.Empty(t, got.Hints)
	require.Equal(t, prefixes([]string{"10.0.0.0/24"}), got.MachineNetworks)
}
