package inventory_test

import (
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"slipway/agent/inventory"
)

// linksOnceUp asks until the kernel has reported the carrier, which it does a little later.
// It must ask on the thread that has the namespace.
func linksOnceUp(t *testing.T) []inventory.Link {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for range 500 {
		links, err := inventory.Netlink{}.Links()
		require.NoError(t, err)
		if slices.ContainsFunc(links, func(l inventory.Link) bool { return l.Name == "eno1" && l.HasCarrier }) {
			return links
		}
		<-look.C
	}
	t.Fatal("no carrier within five seconds")
	return nil
}

// TestNetlinkReadsTheKernel asks the real kernel about links and routes made in a network
// namespace of the test's own.
func TestNetlinkReadsTheKernel(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root for a network namespace")
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the test, and the namespace with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	nic := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: "eno1", MTU: 1400, HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 1}}, PeerName: "switch1",
	}
	if err := netlink.LinkAdd(nic); err != nil {
		t.Skipf("the kernel makes no pairs of interfaces: %v", err)
	}
	require.NoError(t, netlink.LinkSetUp(nic))
	port, err := netlink.LinkByName(nic.PeerName)
	require.NoError(t, err)
	require.NoError(t, netlink.LinkSetUp(port))
	addAddress(t, nic, "192.0.2.10/24")
	addAddress(t, nic, "2001:db8::10/64")
	addRoute(t, netlink.Route{LinkIndex: nic.Attrs().Index, Gw: net.ParseIP("192.0.2.1"), Priority: 100})
	addRoute(t, netlink.Route{Dst: ipNet("198.51.100.0/24"), Type: unix.RTN_BLACKHOLE})
	addRoute(t, netlink.Route{Dst: ipNet("203.0.113.0/24"), Table: 100, LinkIndex: nic.Attrs().Index})

	links := linksOnceUp(t)
	n := slices.IndexFunc(links, func(l inventory.Link) bool { return l.Name == "eno1" })
	require.GreaterOrEqual(t, n, 0)
	require.Equal(t, "02:00:00:00:00:01", links[n].MAC.String())
	require.Equal(t, 1400, links[n].MTU)
	require.Equal(t, "veth", links[n].Type)
	require.NotZero(t, links[n].Flags&net.FlagUp)
	require.True(t, links[n].HasCarrier)
	require.Contains(t, links[n].Addresses, netip.MustParsePrefix("192.0.2.10/24"))
	require.Contains(t, links[n].Addresses, netip.MustParsePrefix("2001:db8::10/64"))

	routes, err := inventory.Netlink{}.Routes()
	require.NoError(t, err)
	require.Contains(t, routes, inventory.Route{
		Interface: "eno1", Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("192.0.2.1"), Metric: 100,
	})
	for _, r := range routes {
		require.NotEmpty(t, r.Interface, "%s leads nowhere", r.Destination)
		require.NotEqual(t, "203.0.113.0/24", r.Destination.String(), "another table")
	}
}

func addAddress(t *testing.T, to netlink.Link, text string) {
	t.Helper()
	address, err := netlink.ParseAddr(text)
	require.NoError(t, err)
	address.Flags = unix.IFA_F_NODAD
	require.NoError(t, netlink.AddrAdd(to, address))
}

func addRoute(t *testing.T, route netlink.Route) {
	t.Helper()
	require.NoError(t, netlink.RouteAdd(&route))
}

func ipNet(text string) *net.IPNet {
	_, network, err := net.ParseCIDR(text)
	if err != nil {
		panic(err)
	}
	return network
}

func TestMACAddressOfTheUserIsReportedBesideThePermanentOne(t *testing.T) {
	t.Parallel()
	permanent, given := net.HardwareAddr{2, 0, 0x5e, 0x20, 0, 1}, net.HardwareAddr{2, 0xaa, 0xbb, 0xcc, 0xdd, 1}
	shared := inventory.SharedAddresses([]netlink.Link{
		&netlink.Bond{LinkAttrs: netlink.LinkAttrs{Index: 7}}, &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: 8}, LinkType: "team"},
		&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Index: 9}},
	})
	for name, c := range map[string]struct {
		link         netlink.LinkAttrs
		mac, current net.HardwareAddr
	}{
		"hardware with an address of its user": {netlink.LinkAttrs{PermHWAddr: permanent, HardwareAddr: given}, permanent, given},
		"hardware with its own":                {netlink.LinkAttrs{PermHWAddr: permanent, HardwareAddr: permanent}, permanent, nil},
		"a port of a bond":                     {netlink.LinkAttrs{PermHWAddr: permanent, HardwareAddr: given, MasterIndex: 7}, permanent, nil},
		"a port of a team":                     {netlink.LinkAttrs{PermHWAddr: permanent, HardwareAddr: given, MasterIndex: 8}, permanent, nil},
		"a port of a bridge":                   {netlink.LinkAttrs{PermHWAddr: permanent, HardwareAddr: given, MasterIndex: 9}, permanent, given},
		"a bond, VLAN or bridge":               {netlink.LinkAttrs{HardwareAddr: given}, given, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mac, current := inventory.MACs(&c.link, shared)
			require.Equal(t, c.mac, mac)
			require.Equal(t, c.current, current)
		})
	}
}

func TestInventoryHasBothMACAddresses(t *testing.T) {
	t.Parallel()
	r := record(t, "testdata/hosts/bios-server.txtar")
	r.printed["ip -details -json address"] = `[{"ifindex":2,"ifname":"eno1","flags":["BROADCAST","UP","LOWER_UP"],"mtu":1500,` +
		`"address":"02:aa:bb:cc:dd:01","permaddr":"02:00:5e:20:00:01","link_type":"ether",` +
		`"addr_info":[{"family":"inet","local":"192.0.2.11","prefixlen":24,"scope":"global"}]}]`
	found := inventory.Collect(t.Context(), r.machine(t))
	require.Len(t, found.Interfaces, 1)
	require.Equal(t, "02:00:5e:20:00:01", found.Interfaces[0].MacAddress)
	require.Equal(t, "02:aa:bb:cc:dd:01", found.Interfaces[0].CurrentMacAddress)
}
