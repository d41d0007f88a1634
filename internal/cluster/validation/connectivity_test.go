package validation_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/nodeaddress"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

const machineNetwork = "192.168.8.0/21"

func ids(numbers ...int) []uuid.UUID {
	out := make([]uuid.UUID, len(numbers))
	for i, n := range numbers {
		out[i] = hostID(n)
	}
	return out
}

// cut removes all links between two hosts, in the given directions.
func cut(hosts []*model.Host, from, to int) {
	report(hosts[from], func(links []wire.ConnectivityRemoteHost) []wire.ConnectivityRemoteHost {
		return slices.DeleteFunc(links, func(r wire.ConnectivityRemoteHost) bool { return r.HostID == hostID(to) })
	})
}

func TestConnectivityGroups(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		hosts  int
		change func([]*model.Host)
		want   []uuid.UUID
	}{
		{"has all hosts when all reach each other", 5, nil, ids(0, 1, 2, 3, 4)},
		{"is empty with two hosts", 2, nil, ids()},
		{"is empty without reports", 5, func(h []*model.Host) {
			for i := range h {
				h[i].Connectivity = nil
			}
		}, ids()},
		{"leaves out an unreachable host", 5, func(h []*model.Host) {
			for i := range 4 {
				cut(h, i, 4)
			}
		}, ids(0, 1, 2, 3)},
		{"leaves out a host that reaches no other", 5, func(h []*model.Host) {
			h[2].Connectivity = model.PackConnectivity(wire.ConnectivityReport{})
		}, ids(0, 1, 3, 4)},
		{"leaves out one end of a broken link", 4, func(h []*model.Host) { cut(h, 3, 0) }, ids(0, 1, 2)},
		{"takes the larger of two islands", 7, func(h []*model.Host) { islands(h, 3) }, ids(3, 4, 5, 6)},
		{"is empty when islands are too small", 4, func(h []*model.Host) { islands(h, 2) }, ids()},
		{"ignores hosts that left the cluster", 3, func(h []*model.Host) {
			report(h[0], func(links []wire.ConnectivityRemoteHost) []wire.ConnectivityRemoteHost {
				return append(links, link(newHost(9), hostIP(9)))
			})
		}, ids(0, 1, 2)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, hosts := fleet(tt.hosts)
			if tt.change != nil {
				tt.change(hosts)
			}
			got := validation.Connectivity(c, hosts)
			require.Equal(t, tt.want, got.Majority[machineNetwork])
			require.Equal(t, tt.want, got.Majority["IPv4"])
			require.Equal(t, ids(), got.Majority["IPv6"])
			require.Len(t, got.L3ConnectedAddresses, len(tt.want))
		})
	}
}

// islands cuts the first n hosts off from the rest.
func islands(hosts []*model.Host, n int) {
	for i := range hosts {
		for j := range hosts {
			if i < n != (j < n) {
				cut(hosts, i, j)
			}
		}
	}
}

func TestConnectivityOfTwoWithFencing(t *testing.T) {
	t.Parallel()
	c, hosts := fleet(2)
	c.ControlPlaneCount = 2
	require.Empty(t, validation.Connectivity(c, hosts).Majority[machineNetwork], "an arbiter is still to come")
	for _, h := range hosts {
		h.Fencing = &model.FencingCredentials{}
	}
	require.Equal(t, ids(0, 1), validation.Connectivity(c, hosts).Majority[machineNetwork])
}

func TestConnectedAddressesAreReachedByAll(t *testing.T) {
	t.Parallel()
	c, hosts := fleet(3)
	// The second address of host 0 is reached by host 1 only.
	report(hosts[1], func(links []wire.ConnectivityRemoteHost) []wire.ConnectivityRemoteHost {
		links[0].L3Connectivity = append(links[0].L3Connectivity, wire.L3Connectivity{RemoteIPAddress: "10.0.0.1", Successful: true})
		return links
	})
	got := validation.Connectivity(c, hosts)
	require.Equal(t, []string{hostIP(0)}, got.L3ConnectedAddresses[hostID(0)])
}

func TestIPCollisions(t *testing.T) {
	t.Parallel()
	c, hosts := fleet(3)
	require.Empty(t, validation.Connectivity(c, hosts).IPCollisions)
	report(hosts[1], func(links []wire.ConnectivityRemoteHost) []wire.ConnectivityRemoteHost {
		l2 := links[0].L2Connectivity
		same := l2[0]
		same.RemoteMac = "52:54:00:00:00:00" // the same in other letters
		other := l2[0]
		other.RemoteMac = "AA:00:00:00:00:01"
		links[0].L2Connectivity = append(l2, same, other)
		return links
	})
	require.Equal(
		t,
		map[string][]string{hostIP(0): {"52:54:00:00:00:00", "aa:00:00:00:00:01"}},
		validation.Connectivity(c, hosts).IPCollisions,
	)
}

// A host may answer for its address with the MAC address of any of its NICs.
func TestMACAddressesOfOneHostDoNotCollide(t *testing.T) {
	t.Parallel()
	const first, second, foreign = "52:54:00:00:00:00", "52:54:00:00:aa:00", "02:aa:bb:cc:dd:01"
	nic := func(name, mac, current string) wire.Interface {
		return wire.Interface{Name: name, MacAddress: mac, CurrentMacAddress: current, Mtu: 1500, Type: "physical"}
	}
	one, two := hostIP(0), "192.168.8.99"
	spare := []wire.Interface{nic("eth1", "52:54:00:00:AA:00", "")}
	for name, c := range map[string]struct {
		nics    []wire.Interface // of host 0, after its first
		address string
		macs    []string // that answer host 1
		want    []string
	}{
		"two ports of a bond that balances":      {spare, one, []string{first, second}, nil},
		"two NICs in one network":                {spare, one, []string{second, first}, nil},
		"a NIC whose user changed its address":   {[]wire.Interface{nic("eth1", second, foreign)}, one, []string{first, foreign}, nil},
		"a NIC of no host":                       {nil, one, []string{first, second}, []string{first, second}},
		"a NIC of another host":                  {nil, one, []string{first, "52:54:00:00:00:02"}, []string{first, "52:54:00:00:00:02"}},
		"two NICs of the host and another one":   {spare, one, []string{first, second, foreign}, []string{foreign, first, second}},
		"an address that the host does not have": {spare, two, []string{first, second}, []string{first, second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, hosts := fleet(3)
			hosts[0].Inventory.Interfaces = append(hosts[0].Inventory.Interfaces, c.nics...)
			report(hosts[1], func(links []wire.ConnectivityRemoteHost) []wire.ConnectivityRemoteHost {
				entry := links[0].L2Connectivity[0]
				links[0].L2Connectivity = nil
				entry.RemoteIPAddress = c.address
				for _, mac := range c.macs {
					entry.RemoteMac = mac
					links[0].L2Connectivity = append(links[0].L2Connectivity, entry)
				}
				return links
			})
			require.Equal(t, c.want, validation.Connectivity(cluster, hosts).IPCollisions[c.address])
		})
	}
}

// TestGroupsAreAsLargeAsTheLargest compares with a literal search over all sets of hosts.
func TestGroupsAreAsLargeAsTheLargest(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	short := 0
	for range 300 {
		n := 3 + random.IntN(6)
		c, hosts := fleet(n)
		for i := range n {
			for j := range n {
				if i != j && random.IntN(4) == 0 {
					cut(hosts, i, j)
				}
			}
		}
		got := validation.Connectivity(c, hosts).Majority[machineNetwork]
		for _, a := range got {
			for _, b := range got {
				require.True(t, a == b || mutual(hosts, a, b), "members reach each other")
			}
		}
		if largest := largestBySearch(hosts); largest >= 3 && len(got) < largest {
			short++
		}
	}
	require.LessOrEqual(t, short, 15, "a smaller group than possible is rare")
}

func mutual(hosts []*model.Host, a, b uuid.UUID) bool {
	return reach(hosts, a, b) && reach(hosts, b, a)
}

func reach(hosts []*model.Host, from, to uuid.UUID) bool {
	i := slices.IndexFunc(hosts, func(h *model.Host) bool { return h.ID == from })
	return slices.ContainsFunc(
		hosts[i].Connectivity.Unpack().RemoteHosts,
		func(r wire.ConnectivityRemoteHost) bool { return r.HostID == to },
	)
}

func largestBySearch(hosts []*model.Host) int {
	best := 0
	for set := range 1 << len(hosts) {
		var members []uuid.UUID
		for i, h := range hosts {
			if set&(1<<i) != 0 {
				members = append(members, h.ID)
			}
		}
		whole := true
		for i, a := range members {
			for _, b := range members[:i] {
				whole = whole && mutual(hosts, a, b)
			}
		}
		if whole {
			best = max(best, len(members))
		}
	}
	return best
}

func TestHostNetworks(t *testing.T) {
	t.Parallel()
	hosts := []*model.Host{newHost(0), newHost(1), {ID: hostID(2)}}
	hosts[1].Inventory.Interfaces = append(
		hosts[1].Inventory.Interfaces,
		wire.Interface{Name: "eth1", Ipv4Addresses: []string{"10.0.0.7/24", "bad"}, Ipv6Addresses: []string{"fd00::7/64"}},
	)
	require.Equal(t, []model.HostNetwork{
		{CIDR: netip.MustParsePrefix("10.0.0.0/24"), HostIDs: ids(1)},
		{CIDR: netip.MustParsePrefix(machineNetwork), HostIDs: ids(0, 1)},
		{CIDR: netip.MustParsePrefix("fd00::/64"), HostIDs: ids(1)},
	}, nodeaddress.HostNetworks(hosts))
}

func TestMachineNetworks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*model.Cluster, []*model.Host)
		want   []netip.Prefix
	}{
		{"are those that hold the API VIPs", nil, prefixes(machineNetwork)},
		{"are unknown while no host is in the VIP's network", func(c *model.Cluster, _ []*model.Host) { c.APIVIPs = vip("10.1.1.1") }, nil},
		{"are unknown without VIPs", func(c *model.Cluster, _ []*model.Host) { c.APIVIPs, c.IngressVIPs = nil, nil }, nil},
		{
			"come from the ingress VIP when there is no other", func(c *model.Cluster, _ []*model.Host) { c.APIVIPs = nil },
			prefixes(machineNetwork),
		},
		{"are not derived with the user's networking", func(c *model.Cluster, _ []*model.Host) { c.UserManagedNetworking = true }, nil},
		{"prefer the network most hosts are in", func(_ *model.Cluster, h []*model.Host) {
			h[0].Inventory.Interfaces[0].Ipv4Addresses = append(h[0].Inventory.Interfaces[0].Ipv4Addresses, "192.168.8.5/32")
		}, prefixes(machineNetwork)},
		{"come from the default route for a single node", func(c *model.Cluster, h []*model.Host) {
			c.ControlPlaneCount, c.UserManagedNetworking = 1, true
			c.ServiceNetworks = prefixes("172.30.0.0/16", "fd02::/112")
			h[0].Inventory.Interfaces[0].Ipv6Addresses = []string{"fd00::7/64"}
			h[0].Inventory.Routes = append(h[0].Inventory.Routes,
				wire.Route{Destination: "::", Family: 10, Gateway: "fe80::1", Interface: "eth0"})
			h[0].Inventory.Interfaces = append(
				[]wire.Interface{{Name: "ens9", Ipv4Addresses: []string{"10.0.0.7/24"}}}, h[0].Inventory.Interfaces...,
			)
		}, prefixes(machineNetwork, "fd00::/64")},
		{"are of the families of its cluster for a single node", func(c *model.Cluster, h []*model.Host) {
			c.ControlPlaneCount, c.UserManagedNetworking, c.ServiceNetworks = 1, true, prefixes("172.30.0.0/16")
			h[0].Inventory.Interfaces[0].Ipv6Addresses = []string{"fd00::7/64"} // of a router's advertisements
			h[0].Inventory.Routes = append(h[0].Inventory.Routes,
				wire.Route{Destination: "::", Family: 10, Gateway: "fe80::1", Interface: "eth0"})
		}, prefixes(machineNetwork)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, hosts := fleet(3)
			if tt.change != nil {
				tt.change(c, hosts)
			}
			require.Equal(t, tt.want, nodeaddress.MachineNetworks(c, hosts))
		})
	}
}

func BenchmarkConnectivity(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		c, hosts := fleet(n)
		b.Run(fmt.Sprintf("hosts=%d", n), func(b *testing.B) {
			for b.Loop() {
				validation.Connectivity(c, hosts)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n*n), "ns/link")
		})
	}
}

func BenchmarkHost(b *testing.B) {
	for _, n := range []int{10, 1000} {
		c, hosts := fleet(n)
		facts := hostFacts(c, hosts)
		b.Run(fmt.Sprintf("hosts=%d", n), func(b *testing.B) {
			for b.Loop() {
				validation.Host(facts)
			}
		})
	}
}

func BenchmarkRefresh(b *testing.B) {
	for _, n := range []int{10, 1000} {
		c, hosts := fleet(n)
		b.Run(fmt.Sprintf("hosts=%d", n), func(b *testing.B) {
			for b.Loop() {
				facts := hostFacts(c, hosts)
				for _, h := range hosts {
					facts.Host = h
					validation.Host(facts)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/host")
		})
	}
}
