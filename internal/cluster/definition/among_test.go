package definition_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/definition"
	"slipway/internal/model"
	"slipway/internal/wire"
)

// Hosts at 192.0.2.10/24 and .11/24; the existing service refuses the same changes.
func TestChangesOfNetworksFitTheHosts(t *testing.T) {
	t.Parallel()
	var hosts []*model.Host
	for _, address := range []string{"192.0.2.10/24", "192.0.2.11/24"} {
		hosts = append(hosts, &model.Host{RequestedHostname: "m", Inventory: &wire.Inventory{
			Interfaces: []wire.Interface{{Name: "eth0", Ipv4Addresses: []string{address}}},
		}})
	}
	both := map[string]any{
		"cluster_networks": []any{
			map[string]any{"cidr": "10.128.0.0/14", "host_prefix": 23}, map[string]any{"cidr": "fd01::/48", "host_prefix": 64},
		},
		"service_networks": []any{map[string]any{"cidr": "172.30.0.0/16"}, map[string]any{"cidr": "fd02::/112"}},
	}
	ownBalancer := map[string]any{"load_balancer": map[string]any{"type": "user-managed"}}
	vips := func(api, ingress string) string {
		return fmt.Sprintf(`{"api_vips":[{"ip":%q}],"ingress_vips":[{"ip":%q}]}`, api, ingress)
	}
	for name, test := range map[string]struct {
		fields     map[string]any
		body, says string
	}{
		"addresses of no host":    {nil, vips("192.0.2.100", "192.0.2.101"), ""},
		"the address of a host":   {nil, vips("192.0.2.11", "192.0.2.101"), "api_vips: require an address that no host has"},
		"the last of the network": {nil, vips("192.0.2.100", "192.0.2.255"), "found 192.0.2.255 of 192.0.2.0/24"},
		"the network itself":      {nil, vips("192.0.2.0", "192.0.2.9"), "found 192.0.2.0 of 192.0.2.0/24"},
		"a balancer, no networks": {ownBalancer, vips("192.0.2.100", "192.0.2.101"), "machine_networks is required"},
		"a balancer and networks": {
			ownBalancer, `{"machine_networks":[{"cidr":"192.0.2.0/24"}],"api_vips":[{"ip":"192.0.2.100"}],"ingress_vips":[{"ip":"192.0.2.101"}]}`, "",
		},
		"one family of two": {both, `{"machine_networks":[{"cidr":"192.0.2.0/24"}]}`, "machine_networks: require one of each family"},
		"too few addresses": {nil, `{"machine_networks":[{"cidr":"192.0.2.0/30"}]}`, "require room for 5 hosts and virtual addresses, found 2"},
		"just enough":       {nil, `{"machine_networks":[{"cidr":"192.0.2.8/29"}]}`, ""},
		"both families":     {both, `{"machine_networks":[{"cidr":"192.0.2.0/24"},{"cidr":"2001:db8::/64"}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := defined(t, test.fields)
			var p wire.V2ClusterUpdateParams
			require.NoError(t, json.Unmarshal([]byte(test.body), &p))
			_, err := offer(t).Change(c, p, definition.Surroundings{Hosts: hosts})
			if test.says == "" {
				require.NoError(t, err)
				return
			}
			refused(t, err, test.says, name)
		})
	}
}

// Recorded answers of the existing service: test/twin, "create machine_networks".
func TestMachineNetworksOfANewClusterAreInOrder(t *testing.T) {
	t.Parallel()
	v6First := `,"cluster_networks":[{"cidr":"fd01::/48","host_prefix":64},{"cidr":"10.128.0.0/14","host_prefix":23}],` +
		`"service_networks":[{"cidr":"fd02::/112"},{"cidr":"172.30.0.0/16"}]`
	for name, test := range map[string]struct{ networks, more, says string }{
		"both families":              {`{"cidr":"192.0.2.0/24"},{"cidr":"2001:db8::/64"}`, "", ""},
		"IPv6 first as the pods":     {`{"cidr":"2001:db8::/64"},{"cidr":"192.0.2.0/24"}`, v6First, ""},
		"IPv6 first":                 {`{"cidr":"2001:db8::/64"},{"cidr":"192.0.2.0/24"}`, "", "require the family of cluster_networks first"},
		"one family":                 {`{"cidr":"192.0.2.0/24"},{"cidr":"198.51.100.0/24"}`, "", "require one network of each family"},
		"one family with a balancer": {`{"cidr":"192.0.2.0/24"},{"cidr":"198.51.100.0/24"}`, `,"load_balancer":{"type":"user-managed"}`, ""},
		"one family on platform none": {
			`{"cidr":"192.0.2.0/24"},{"cidr":"198.51.100.0/24"}`, `,"platform":{"type":"none"}`, "",
		},
	} {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(`{"machine_networks":[`+test.networks+`]`+test.more+`}`), &fields))
		_, err := define(t, offer(t), fields)
		if test.says == "" {
			require.NoError(t, err, name)
			continue
		}
		refused(t, err, test.says, name)
	}
}
