package netns_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/test/bench/netlab"
)

// The addresses of the network of the hosts. The rest, from firstHost on, are theirs.
const (
	network       = "10.77.0.0/24"
	gateway       = "10.77.0.1" // also the service, DNS and a time server
	secondClock   = "10.77.0.2"
	wildcardDNS   = "10.77.0.3" // answers every name below the cluster's domain
	emptyDNS      = "10.77.0.4" // knows no name at all
	apiVIP        = "10.77.0.5"
	ingressVIP    = "10.77.0.6"
	nodeConfigs   = "10.77.0.7" // the machine config server of a cluster that hosts join
	firstHost     = 11
	maxHosts      = 180
	otherNetwork  = "10.78.0.0/24"
	otherGateway  = "10.78.0.1"
	overlap       = "10.77.0.193/27" // inside the network, where no host is
	clusterName   = "netns"
	clusterDomain = "bench.example"
	// jumbo is the MTU of hosts: only one that is not 1500 is checked by agents.
	jumbo    = 9000
	ethernet = 1500
)

// lan is the network of the hosts: a namespace with a bridge, which is also their gateway.
type lan struct {
	*netlab.Space
	dir    string
	clocks [2]*netlab.Clock
	mtu    int // of hosts
}

const gatewayMAC = "52:54:77:ff:00:01"

// newLAN makes the network with its DHCP, DNS and time servers.
func newLAN(t *testing.T, dir string, hosts, mtu int) *lan {
	t.Helper()
	l := &lan{Space: netlab.NewSpace(t, "lan"), dir: dir, mtu: mtu}
	require.NoError(t, l.All(
		"link add br0 type bridge", "link set br0 address "+gatewayMAC, fmt.Sprintf("link set br0 mtu %d", ethernet),
		"addr add "+gateway+"/24 dev br0", "addr add "+secondClock+"/24 dev br0", "addr add "+wildcardDNS+"/24 dev br0",
		"addr add "+emptyDNS+"/24 dev br0", "addr add "+nodeConfigs+"/24 dev br0",
		"addr add "+otherGateway+"/24 dev br0", "link set br0 up",
		// The other VLAN of a switch: the same gateway, and none of the hosts.
		"link add br1 type bridge", "link set br1 address "+gatewayMAC, "link set br1 up",
	))
	require.NoError(t, l.Inside(func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1\n"), 0o644) }))
	domain := clusterName + "." + clusterDomain
	dhcp := []string{
		"--dhcp-authoritative", "--dhcp-range=10.77.0.11,10.77.0.254,255.255.255.0,12h", "--dhcp-option=option:router," + gateway,
		"--dhcp-leasefile=" + filepath.Join(dir, "leases"),
		"--host-record=api." + domain + "," + apiVIP, "--host-record=api-int." + domain + "," + apiVIP,
		"--host-record=console-openshift-console.apps." + domain + "," + ingressVIP,
	}
	for i := range hosts {
		dhcp = append(dhcp, fmt.Sprintf("--dhcp-host=%s,%s,%s", hostMAC(i), hostAddress(i), hostName(i)))
	}
	l.dnsmasq(t, gateway, dhcp...)
	l.dnsmasq(t, wildcardDNS, "--address=/"+domain+"/"+ingressVIP)
	l.dnsmasq(t, emptyDNS)
	l.clocks = [2]*netlab.Clock{netlab.NewClock(t, l.Space, gateway), netlab.NewClock(t, l.Space, secondClock)}
	return l
}

func (l *lan) dnsmasq(t *testing.T, address string, args ...string) {
	t.Helper()
	l.DNSMasq(t, filepath.Join(l.dir, "dnsmasq.log"), address, append(args, "--local=/"+clusterDomain+"/")...)
}

func hostMAC(i int) string  { return fmt.Sprintf("52:54:77:00:00:%02x", firstHost+i) }
func hostName(i int) string { return fmt.Sprintf("host-%d", i+1) }

func hostAddress(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 77, 0, byte(firstHost + i)})
}
