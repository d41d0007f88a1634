package steps_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/testing/await"
	"slipway/internal/wire"
)

const (
	peerAddress = "10.67.0.12"
	peerIPv6    = "fd67::12"
	otherID     = "aaaaaaaa-0000-4000-8000-000000000001"
)

func TestVirtualAddressesInUseAreSeen(t *testing.T) {
	t.Parallel()
	h := newHost(t, "vips")
	peer := h.lan.plug(t, "vips-peer", peerAddress, peerIPv6)
	// It answers no ping, as hosts behind a firewall do not.
	require.NoError(t, peer.Inside(func() error {
		return errors.Join(
			os.WriteFile("/proc/sys/net/ipv4/icmp_echo_ignore_all", []byte("1"), 0),
			os.WriteFile("/proc/sys/net/ipv6/icmp/echo_ignore_all", []byte("1"), 0),
		)
	}))
	h.start(t)
	found := answer[wire.VerifyVipsResponse](t, h, wire.StepTypeVerifyVips, argument(t, wire.VerifyVipsRequest{
		{Vip: "10.67.0.5", VipType: wire.API},
		{Vip: peerAddress, VipType: wire.Ingress},
		{Vip: hostAddress, VipType: wire.Ingress},
		{Vip: "fd67::5", VipType: wire.API},
		{Vip: peerIPv6, VipType: wire.Ingress},
	}))
	var verdicts []string
	for _, vip := range found {
		verdicts = append(verdicts, fmt.Sprintf("%s %s %s", vip.Vip, vip.VipType, vip.Verification))
	}
	require.Equal(t, []string{
		"10.67.0.5 api succeeded", peerAddress + " ingress failed", hostAddress + " ingress failed", "fd67::5 api succeeded",
		peerIPv6 + " ingress failed",
	}, verdicts)
}

func TestFreeAddressesAreThoseNobodyAnswersFor(t *testing.T) {
	t.Parallel()
	h := newHost(t, "scan")
	h.lan.plug(t, "scan-peer", peerAddress)
	h.start(t)
	found := answer[wire.FreeNetworksAddresses](t, h, wire.StepTypeFreeNetworkAddresses, `["10.67.0.0/28"]`)
	require.Len(t, found, 1)
	require.Equal(t, "10.67.0.0/28", found[0].Network)
	require.Equal(t, []string{
		"10.67.0.2", "10.67.0.3", "10.67.0.4", "10.67.0.5", "10.67.0.6", "10.67.0.7", "10.67.0.8", "10.67.0.9", "10.67.0.10",
		"10.67.0.13", "10.67.0.14",
	}, found[0].FreeAddresses, "not the addresses of the network, the gateway, the peer, the host and all")
}

// toHost makes the request for the connectivity to one host.
func toHost(mac string, addresses ...string) string {
	return fmt.Sprintf(
		`[{"host_id":%q,"nics":[{"name":"eth0","mac":%q,"ip_addresses":["%s"]}]}]`,
		otherID,
		mac,
		strings.Join(addresses, `","`),
	)
}

func TestConnectivityIsMeasuredInBothFamilies(t *testing.T) {
	t.Parallel()
	h := newHost(t, "near", "ping")
	h.lan.plug(t, "near-peer", peerAddress, peerIPv6)
	h.start(t)
	found := answer[wire.ConnectivityReport](
		t,
		h,
		wire.StepTypeConnectivityCheck,
		toHost("52:54:67:00:00:02", peerAddress, peerIPv6, "10.67.0.200", "192.0.2.1"),
	)
	require.Len(t, found.RemoteHosts, 1)
	peer := found.RemoteHosts[0]
	require.Equal(t, otherID, peer.HostID.String())
	near := []wire.L2Connectivity{
		{
			OutgoingIPAddress: hostAddress,
			OutgoingNic:       "eth0",
			RemoteIPAddress:   peerAddress,
			RemoteMac:         "52:54:67:00:00:02",
			Successful:        true,
		},
		{OutgoingIPAddress: hostAddress, OutgoingNic: "eth0", RemoteIPAddress: "10.67.0.200"},
		{
			OutgoingIPAddress: hostIPv6,
			OutgoingNic:       "eth0",
			RemoteIPAddress:   peerIPv6,
			RemoteMac:         "52:54:67:00:00:02",
			Successful:        true,
		},
	}
	require.Equal(t, near, peer.L2Connectivity)
	require.Len(t, peer.L3Connectivity, 4)
	for _, l3 := range peer.L3Connectivity {
		there := l3.RemoteIPAddress == peerAddress || l3.RemoteIPAddress == peerIPv6
		require.Equal(t, there, l3.Successful, l3.RemoteIPAddress)
		if there {
			require.Positive(t, l3.AverageRttMs)
			require.Zero(t, l3.PacketLossPercentage)
		} else {
			require.InDelta(t, 100, l3.PacketLossPercentage, 0)
		}
	}
	require.Empty(t, peer.MtuReport, "everybody has 1500")
}

func TestAStrangerOnTheSameAddressIsSeen(t *testing.T) {
	t.Parallel()
	h := newHost(t, "double", "ping")
	h.lan.plug(t, "double-1", peerAddress, peerIPv6)
	h.lan.plug(t, "double-2", peerAddress, peerIPv6)
	h.start(t)
	found := answer[wire.ConnectivityReport](
		t,
		h,
		wire.StepTypeConnectivityCheck,
		toHost("52:54:67:00:00:02", peerAddress, peerIPv6),
	)
	var seen []string
	for _, l2 := range found.RemoteHosts[0].L2Connectivity {
		seen = append(seen, fmt.Sprintf("%s %s %t", l2.RemoteIPAddress, l2.RemoteMac, l2.Successful))
	}
	require.Equal(t, []string{
		peerAddress + " 52:54:67:00:00:02 true", peerAddress + " 52:54:67:00:00:03 false",
		peerIPv6 + " 52:54:67:00:00:02 true", peerIPv6 + " 52:54:67:00:00:03 false",
	}, seen)
}

func TestAHoleForLargePacketsIsSeen(t *testing.T) {
	t.Parallel()
	h := newHost(t, "mtu", "ping")
	peer := h.lan.plug(t, "mtu-peer", peerAddress, peerIPv6)
	for _, port := range []string{"br0", "v1", "v2"} {
		require.NoError(t, h.lan.IP("link", "set", port, "mtu", "9000"))
	}
	require.NoError(t, peer.IP("link", "set", "eth0", "mtu", "9000"))
	require.NoError(t, h.IP("link", "set", "eth0", "mtu", "9000"))
	h.start(t)
	mtu := func() map[string]bool {
		found := answer[wire.ConnectivityReport](t, h, wire.StepTypeConnectivityCheck, toHost("52:54:67:00:00:02", peerAddress, peerIPv6))
		passed := map[string]bool{}
		for _, report := range found.RemoteHosts[0].MtuReport {
			require.Equal(t, "eth0", report.OutgoingNic)
			passed[report.RemoteIPAddress] = report.MtuSuccessful
		}
		return passed
	}
	require.Equal(t, map[string]bool{peerAddress: true, peerIPv6: true}, mtu())
	require.NoError(t, h.lan.IP("link", "set", "v2", "mtu", "1500"))
	require.Equal(t, map[string]bool{peerAddress: false, peerIPv6: false}, mtu())
}

func TestNamesAreAskedForAsTheyAre(t *testing.T) {
	t.Parallel()
	h := newHost(t, "names", "dnsmasq")
	h.lan.dnsmasq(t, gateway, "--local=/bench.example/", "--host-record=api.c.bench.example,10.67.0.5,fd67::5",
		"--host-record=lb.bench.example,10.67.0.6", "--cname=console.apps.c.bench.example,lb.bench.example")
	// A name server that refuses everything, as one without an upstream does.
	require.NoError(t, h.lan.IP("addr", "add", "10.67.0.3/24", "dev", "br0"))
	h.lan.dnsmasq(t, "10.67.0.3")
	h.start(t)
	ask := func() map[string]string {
		found := answer[wire.DomainResolutionResponse](
			t,
			h,
			wire.StepTypeDomainResolution,
			`{"domains":[{"domain_name":"api.c.bench.example"},{"domain_name":"console.apps.c.bench.example"},{"domain_name":"unknown.bench.example"}]}`,
		)
		names := map[string]string{}
		for _, entry := range found.Resolutions {
			names[entry.DomainName] = strings.Join(append(append(entry.Ipv4Addresses, entry.Ipv6Addresses...), entry.Cnames...), " ")
		}
		return names
	}
	await.True(t, func() bool { return ask()["api.c.bench.example"] != "" }, "the name server is up")
	require.Equal(t, map[string]string{
		"api.c.bench.example": "10.67.0.5 fd67::5", "console.apps.c.bench.example": "10.67.0.6 lb.bench.example.",
		"unknown.bench.example": "",
	}, ask())

	nothing := map[string]string{"api.c.bench.example": "", "console.apps.c.bench.example": "", "unknown.bench.example": ""}
	for name, server := range map[string]string{
		"one that refuses": "10.67.0.3", "one that is not there": "10.67.0.99", "no server behind the address": hostAddress,
	} {
		h.nameServer(t, server)
		await.True(t, func() bool { return ask()["api.c.bench.example"] == "" }, name)
		require.Equal(t, nothing, ask(), name)
	}
	require.NoError(t, os.WriteFile(h.dir+"/resolv.conf", nil, 0o644))
	require.Equal(t, nothing, ask(), "no server at all")
	h.nameServer(t, gateway)
	await.True(t, func() bool { return ask()["api.c.bench.example"] != "" }, "the right one is found again")
}
