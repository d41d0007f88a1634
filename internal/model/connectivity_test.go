package model_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// reportOn makes the report of a host with one link to each of n others.
func reportOn(n int) wire.ConnectivityReport {
	report := wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{}}
	for i := range n {
		address, mac := fmt.Sprintf("192.0.%d.%d", 2+i/250, 1+i%250), fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&0xff)
		report.RemoteHosts = append(report.RemoteHosts, wire.ConnectivityRemoteHost{
			HostID: uuid.NewSHA1(uuid.NameSpaceURL, []byte(address)),
			L2Connectivity: []wire.L2Connectivity{{
				OutgoingIPAddress: "192.0.2.250", OutgoingNic: "eth0", RemoteIPAddress: address, RemoteMac: mac, Successful: true,
			}},
			L3Connectivity: []wire.L3Connectivity{{RemoteIPAddress: address, AverageRttMs: 0.37, Successful: true}},
		})
	}
	return report
}

func TestPackedReportsComeBackAsTheyWereSent(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]wire.ConnectivityReport{
		"one without hosts":    {RemoteHosts: []wire.ConnectivityRemoteHost{}},
		"one of hundreds":      reportOn(300),
		"a host without links": {RemoteHosts: []wire.ConnectivityRemoteHost{{HostID: uuid.New()}}},
		"texts of every kind": {RemoteHosts: []wire.ConnectivityRemoteHost{{
			HostID: uuid.New(),
			L2Connectivity: []wire.L2Connectivity{
				{
					OutgoingIPAddress: "2001:db8::1", OutgoingNic: "fe80::1%eth0", RemoteIPAddress: "2001:DB8::2",
					RemoteMac: "AA:00:00:00:00:01",
				},
				{
					OutgoingIPAddress: "::ffff:192.0.2.1", OutgoingNic: "", RemoteIPAddress: "no address", RemoteMac: "aa-00-00-00-00-01",
					Successful: true,
				},
				{OutgoingIPAddress: "192.0.2.01", RemoteIPAddress: "0.0.0.0", RemoteMac: "02:00:5e:10:00:00:00:01"},
			},
			L3Connectivity: []wire.L3Connectivity{
				{AverageRttMs: 1e-9, PacketLossPercentage: 33.333333, OutgoingNic: "eth0", RemoteIPAddress: "2001:db8::1"},
				{AverageRttMs: -1, PacketLossPercentage: 100, RemoteIPAddress: "2001:db8::1", Successful: true},
			},
			MtuReport: []wire.MtuReport{
				{OutgoingNic: "eth0", RemoteIPAddress: "2001:db8::1", MtuSuccessful: true}, {OutgoingNic: "ünïcode\xff"},
			},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			packed := model.PackConnectivity(report)
			require.Equal(t, report, packed.Unpack())
			require.Equal(t, packed, model.PackConnectivity(packed.Unpack()))
		})
	}
}

func TestReportsAreKeptSmall(t *testing.T) {
	t.Parallel()
	report := reportOn(1000)
	text, err := json.Marshal(report)
	require.NoError(t, err)
	require.Less(t, len(model.PackConnectivity(report)), len(text)/5)
}

func TestNoReportNamesNobody(t *testing.T) {
	t.Parallel()
	require.Empty(t, model.ConnectivityReport(nil).Unpack().RemoteHosts)
	require.NotNil(t, model.PackConnectivity(wire.ConnectivityReport{}), "a report without remote hosts is a report")
}

func TestReportsCutOffOrOfAnotherVersionEndEarly(t *testing.T) {
	t.Parallel()
	whole := model.PackConnectivity(reportOn(3))
	for n := range len(whole) {
		require.Less(t, len(whole[:n].Unpack().RemoteHosts), 3)
	}
	require.Empty(t, append(model.ConnectivityReport{99}, whole[1:]...).Unpack().RemoteHosts)
}

func BenchmarkConnectivityReport(b *testing.B) {
	report := reportOn(1000)
	packed := model.PackConnectivity(report)
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			model.PackConnectivity(report)
		}
	})
	b.Run("read", func(b *testing.B) {
		hosts := 0
		for b.Loop() {
			for range packed.Remotes() {
				hosts++
			}
		}
		b.ReportMetric(float64(len(packed)*b.N)/float64(hosts), "bytes/host")
	})
}
