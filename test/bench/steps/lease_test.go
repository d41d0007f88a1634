package steps_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/wire"
)

const (
	apiMAC     = "02:00:00:00:00:0a"
	ingressMAC = "02:00:00:00:00:0b"
)

var leaseRequest = wire.DhcpAllocationRequest{Interface: "eth0", APIVipMac: apiMAC, IngressVipMac: ingressMAC}

// dnsmasq starts a DHCP and name server in the network, which reports what it does.
func (l *lan) dnsmasq(t *testing.T, address string, args ...string) (log string) {
	t.Helper()
	log = filepath.Join(l.dir, "dnsmasq-"+address+".log")
	l.DNSMasq(t, log, address, args...)
	return log
}

// serveLeases starts a DHCP server for the virtual addresses.
func (l *lan) serveLeases(t *testing.T) (log string) {
	t.Helper()
	return l.dnsmasq(
		t,
		gateway,
		"--log-dhcp",
		"--dhcp-authoritative",
		"--dhcp-range=10.67.0.50,10.67.0.99,12h",
		"--dhcp-leasefile="+filepath.Join(l.dir, "leases"),
	)
}

func count(t *testing.T, file, text string) int {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	return strings.Count(string(content), text)
}

func TestDHCPClientLeasesVirtualAddresses(t *testing.T) {
	t.Parallel()
	h := newHost(t, "lease", "dnsmasq")
	log := h.lan.serveLeases(t)
	h.start(t)
	first := answer[wire.DhcpAllocationResponse](t, h, wire.StepTypeDhcpLeaseAllocate, argument(t, leaseRequest))
	pool := netip.MustParsePrefix("10.67.0.0/24")
	require.True(t, pool.Contains(netip.MustParseAddr(first.APIVipAddress)))
	require.True(t, pool.Contains(netip.MustParseAddr(first.IngressVipAddress)))
	require.NotEqual(t, first.APIVipAddress, first.IngressVipAddress)
	require.Contains(t, first.APIVipLease, "fixed-address "+first.APIVipAddress+";")
	require.Equal(
		t,
		1,
		count(t, log, "DHCPACK(br0) "+first.IngressVipAddress+" "+ingressMAC+" 02-00-00-00-00-0b-ingress"),
		"the name the lease is known by",
	)

	// With what the service remembers the addresses are asked for, without looking for others.
	again := leaseRequest
	again.APIVipLease, again.IngressVipLease = first.APIVipLease, first.IngressVipLease
	second := answer[wire.DhcpAllocationResponse](t, h, wire.StepTypeDhcpLeaseAllocate, argument(t, again))
	require.Equal(t, first.APIVipAddress, second.APIVipAddress)
	require.Equal(t, first.IngressVipAddress, second.IngressVipAddress)
	require.Equal(t, 1, strings.Count(second.APIVipLease, "lease {"), "only the lease that holds")
	require.Equal(t, 2, count(t, log, "DHCPDISCOVER(br0)"), "none of the second step")

	require.Empty(t, h.processes(t), "no client is left")
	require.Error(t, h.IP("link", "show", "api"))
	require.Error(t, h.IP("link", "show", "ingress"))
}

func TestTwoLeaseStepsDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	h := newHost(t, "leases", "dnsmasq")
	h.lan.serveLeases(t)
	h.start(t)
	// Of a step that was cut short.
	require.NoError(t, h.All("link add api link eth0 type macvlan"))
	h.Give("lease-1", wire.StepTypeDhcpLeaseAllocate, argument(t, leaseRequest))
	h.Give("lease-2", wire.StepTypeDhcpLeaseAllocate, argument(t, leaseRequest))
	for _, id := range []string{"lease-1", "lease-2"} {
		reply := h.AwaitReply(t, id)
		require.Zero(t, reply.ExitCode, reply.Error)
	}
	require.Empty(t, h.processes(t))
}

func TestNoLeaseWithoutAServer(t *testing.T) {
	t.Parallel()
	h := newHost(t, "nolease")
	h.start(t)
	known := leaseRequest
	known.APIVipLease = "lease {\n  interface \"api\";\n  fixed-address 10.67.0.60;\n  option subnet-mask 255.255.255.0;\n" +
		"  renew never;\n  rebind never;\n  expire never;\n}\n"
	reply := h.ask(t, wire.StepTypeDhcpLeaseAllocate, argument(t, known))
	require.Equal(t, 124, reply.ExitCode, reply.Output)
	require.Contains(t, reply.Error, "lease the api address")
	require.Empty(t, reply.Output, "a lease without confirmation")
	require.Empty(t, h.processes(t))
	require.Error(t, h.IP("link", "show", "api"))
}
