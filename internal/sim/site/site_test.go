package site_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/sim/site"
)

func open(t *testing.T) *site.Site {
	t.Helper()
	s, err := site.Open(t.TempDir())
	require.NoError(t, err)
	return s
}

func station(machine, mac, address string) site.Station {
	return site.Station{Machine: machine, MAC: mac, Address: netip.MustParsePrefix(address)}
}

func TestStationsAnswerWhileTheyAreAttached(t *testing.T) {
	t.Parallel()
	s := open(t)
	one, two := station("one", "52:54:00:00:00:01", "192.0.2.1/24"), station("two", "52:54:00:00:00:02", "192.0.2.2/24")
	require.NoError(t, s.Attach(one, two))
	require.Equal(t, []site.Station{one}, s.Stations(one.Address.Addr()))
	require.NoError(t, s.Detach(one))
	require.NoError(t, s.Detach(one), "twice is no error")
	require.Empty(t, s.Stations(one.Address.Addr()))
}

func TestTwoMachinesMayClaimOneAddress(t *testing.T) {
	t.Parallel()
	s := open(t)
	one, two := station("one", "52:54:00:00:00:01", "192.0.2.1/24"), station("two", "52:54:00:00:00:02", "192.0.2.1/24")
	require.NoError(t, s.Attach(one, two))
	require.Equal(t, []site.Station{one, two}, s.Stations(one.Address.Addr()))
}

func TestAPIIsReachableOnlyInTheLifeThatWasStartedLast(t *testing.T) {
	t.Parallel()
	s := open(t)
	require.Empty(t, s.API())
	require.NoError(t, s.PublishAPI(site.ControlPlane{Life: "one", URL: "http://one"}))
	require.Empty(t, s.API(), "it was not started")
	require.NoError(t, s.StartControlPlane("one"))
	require.Equal(t, "http://one", s.API())
	require.NoError(t, s.NoteFetch(netip.MustParseAddr("192.0.2.9"), "master"))
	require.NoError(t, s.StartControlPlane("one"))
	require.Equal(t, map[netip.Addr]string{netip.MustParseAddr("192.0.2.9"): "master"}, s.Fetches(), "the same life continues")
	require.False(t, s.HandedOver())
	require.NoError(t, s.Leave("one"))
	require.True(t, s.Away())
	require.Empty(t, s.API(), "the bootstrap host has left, and no master has the address yet")
	require.Equal(t, "http://one", s.Address())
	require.NoError(t, s.HandOver("one"))
	require.True(t, s.HandedOver())
	require.Equal(t, "http://one", s.API())
	require.NoError(t, s.StartControlPlane("two"))
	require.Empty(t, s.API())
	require.Empty(t, s.Fetches())
	require.False(t, s.HandedOver(), "another life begins anew")
	require.False(t, s.Away())
}

func TestResolverKnowsTheNamesOfTheSiteAlone(t *testing.T) {
	t.Parallel()
	s := open(t)
	require.NoError(t, s.SetNames(map[string][]netip.Addr{
		"api.test.example.com": {netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")},
	}))
	r := site.Resolver{Site: s}
	found, err := r.LookupNetIP(t.Context(), "ip4", "api.test.example.com.")
	require.NoError(t, err)
	require.Equal(t, []netip.Addr{netip.MustParseAddr("192.0.2.5")}, found)
	names, err := r.LookupAddr(t.Context(), "2001:db8::5")
	require.NoError(t, err)
	require.Equal(t, []string{"api.test.example.com."}, names)
	_, err = r.LookupNetIP(t.Context(), "ip", "example.org")
	var missing *net.DNSError
	require.ErrorAs(t, err, &missing)
	require.True(t, missing.IsNotFound)
	_, err = r.LookupCNAME(t.Context(), "example.org")
	require.ErrorAs(t, err, &missing)
}
