package validation_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Reports as hosts with bonds and VLANs send them (openshift/assisted-service PR 6149): neighbour discovery is not answered,
// the ping is.
func TestIPv6NetworksFallBackOnL3(t *testing.T) {
	t.Parallel()
	const ipv6, ipv4 = "2001:db8::/64", "192.0.2.0/24"
	answer := func(address string, l2, l3 bool) wire.ConnectivityRemoteHost {
		return wire.ConnectivityRemoteHost{
			L2Connectivity: []wire.L2Connectivity{{OutgoingNic: "bond0.10", RemoteIPAddress: address, Successful: l2}},
			L3Connectivity: []wire.L3Connectivity{{OutgoingNic: "bond0.10", RemoteIPAddress: address, Successful: l3, AverageRttMs: 1.5}},
		}
	}
	tests := map[string]struct {
		networks string
		answers  func(to string) []wire.ConnectivityRemoteHost // to is the last digit of an address
		want     map[string]int                                // members by network
	}{
		"with the ping's answer alone": {
			ipv6, func(to string) []wire.ConnectivityRemoteHost {
				return []wire.ConnectivityRemoteHost{answer("2001:db8::1"+to, false, true)}
			}, map[string]int{ipv6: 3},
		},
		"not without any answer": {
			ipv6, func(to string) []wire.ConnectivityRemoteHost {
				return []wire.ConnectivityRemoteHost{answer("2001:db8::1"+to, false, false)}
			}, map[string]int{ipv6: 0},
		},
		"not with an address of another network": {
			ipv6, func(to string) []wire.ConnectivityRemoteHost {
				return []wire.ConnectivityRemoteHost{answer("2001:db8:1::1"+to, false, true)}
			}, map[string]int{ipv6: 0},
		},
		"in dual-stack, where IPv4 has answers of layer 2": {
			ipv4 + " " + ipv6, func(to string) []wire.ConnectivityRemoteHost {
				return []wire.ConnectivityRemoteHost{answer("192.0.2.1"+to, true, true), answer("2001:db8::1"+to, false, true)}
			}, map[string]int{ipv4: 3, ipv6: 3},
		},
		"while IPv4 stays strict": {
			ipv4 + " " + ipv6, func(to string) []wire.ConnectivityRemoteHost {
				return []wire.ConnectivityRemoteHost{answer("192.0.2.1"+to, false, true), answer("2001:db8::1"+to, false, true)}
			}, map[string]int{ipv4: 0, ipv6: 3},
		},
		"while an IPv4 address written as IPv6 stays strict": {
			ipv4, func(to string) []wire.ConnectivityRemoteHost {
				return []wire.ConnectivityRemoteHost{answer("::ffff:192.0.2.1"+to, false, true)}
			}, map[string]int{ipv4: 0},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, hosts := fleet(3)
			c.MachineNetworks = nil
			for text := range strings.FieldsSeq(test.networks) {
				c.MachineNetworks = append(c.MachineNetworks, netip.MustParsePrefix(text))
			}
			for from, h := range hosts {
				var sent wire.ConnectivityReport
				for to, other := range hosts {
					if to == from {
						continue
					}
					remote := wire.ConnectivityRemoteHost{HostID: other.ID}
					for _, a := range test.answers(string(rune('1' + to))) {
						remote.L2Connectivity = append(remote.L2Connectivity, a.L2Connectivity...)
						remote.L3Connectivity = append(remote.L3Connectivity, a.L3Connectivity...)
					}
					sent.RemoteHosts = append(sent.RemoteHosts, remote)
				}
				h.Connectivity = model.PackConnectivity(sent)
			}
			got := validation.Connectivity(c, hosts)
			for network, members := range test.want {
				require.Len(t, got.Majority[network], members, network)
			}
			c.Connectivity = got
			result, _ := find(validation.Host(hostFacts(c, hosts)), "belongs-to-majority-group")
			want := model.ValidationSuccess
			for _, members := range test.want {
				if members == 0 {
					want = model.ValidationFailure
				}
			}
			require.Equal(t, want, result.Status, result.Message)
		})
	}
}
