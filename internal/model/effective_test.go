package model_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/model"
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, text := range list {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

func TestEffectiveClustersHaveTheNetworksOfTheirOverride(t *testing.T) {
	t.Parallel()
	type networks struct {
		kind               string
		pods               []model.ClusterNetwork
		machines, services []netip.Prefix
	}
	pods := func(cidr string, prefix int) []model.ClusterNetwork {
		return []model.ClusterNetwork{{CIDR: netip.MustParsePrefix(cidr), HostPrefix: prefix}}
	}
	own := networks{"OVNKubernetes", pods("10.128.0.0/22", 24), prefixes("192.0.2.0/24"), prefixes("172.30.0.0/16")}
	with := func(change func(*networks)) networks {
		out := own
		change(&out)
		return out
	}
	for override, want := range map[string]networks{
		"":                  own,
		`{"fips":true}`:     own,
		`{"networking":{}}`: own,
		`{"networking":{"clusterNetworkMTU":1400,"clusterNetwork":null}}`: own,
		`{"networking":`: own,
		`{"networking":{"serviceNetwork":["172.30.0.0"]}}`: own,
		`{"networking":{"networkType":"Calico"}}`: with(func(n *networks) {
			n.kind = "Calico"
		}),
		`{"Networking":{"networktype":"Cilium"}}`: with(func(n *networks) {
			n.kind = "Cilium"
		}),
		`{"networking":{"networkType":""}}`: with(func(n *networks) {
			n.kind = "None"
		}),
		`{"networking":{"clusterNetwork":[{"hostPrefix":26}]}}`: with(func(n *networks) {
			n.pods = pods("10.128.0.0/22", 26)
		}),
		`{"networking":{"clusterNetwork":[{"cidr":"10.0.0.0/14"}]}}`: with(func(n *networks) {
			n.pods = pods("10.0.0.0/14", 24)
		}),
		`{"networking":{"machineNetwork":[{"cidr":"198.51.100.0/24"}]}}`: with(func(n *networks) {
			n.machines = prefixes("198.51.100.0/24")
		}),
		`{"networking":{"serviceNetwork":["172.30.0.0/16","fd02::/112"]}}`: with(func(n *networks) {
			n.services = prefixes("172.30.0.0/16", "fd02::/112")
		}),
		`{"networking":{"clusterNetwork":[{"cidr":"fd01::/48","hostPrefix":64}]}}`: with(func(n *networks) {
			n.pods = pods("fd01::/48", 64)
		}),
	} {
		c := &model.Cluster{
			Name: "one", InstallConfigOverride: override, NetworkType: own.kind, ClusterNetworks: own.pods, MachineNetworks: own.machines,
			ServiceNetworks: own.services,
		}
		got := c.Effective()
		require.Equal(t, want, networks{got.NetworkType, got.ClusterNetworks, got.MachineNetworks, got.ServiceNetworks}, override)
		require.Equal(t, own, networks{c.NetworkType, c.ClusterNetworks, c.MachineNetworks, c.ServiceNetworks}, "the cluster stays: "+override)
		require.Equal(t, "one", got.Name)
	}
	for override, want := range map[string]model.Proxy{
		`{"proxy":{"httpsProxy":"http://c:3128"}}`:             {HTTP: "http://a:3128", HTTPS: "http://c:3128", NoProxy: "a.example.com"},
		`{"Proxy":{"noproxy":"c.example.com","httpProxy":""}}`: {HTTPS: "http://b:3128", NoProxy: "c.example.com"},
		`{"proxy":null}`: {},
		`{"proxy":{}}`:   {HTTP: "http://a:3128", HTTPS: "http://b:3128", NoProxy: "a.example.com"},
		`{"networking":{"networkType":"Calico"},"proxy":{"x":null}}`: {HTTP: "http://a:3128", HTTPS: "http://b:3128", NoProxy: "a.example.com"},
	} {
		c := &model.Cluster{
			Proxy: model.Proxy{HTTP: "http://a:3128", HTTPS: "http://b:3128", NoProxy: "a.example.com"}, InstallConfigOverride: override,
		}
		require.Equal(t, want, c.Effective().Proxy, override)
	}
	for override, want := range map[string]string{
		`{"platform":{"baremetal":{"loadBalancer":{"type":"UserManaged"}}}}`:           "user-managed",
		`{"platform":{"vsphere":{"loadbalancer":{"type":"OpenShiftManagedDefault"}}}}`: "cluster-managed",
		`{"platform":{"baremetal":{"loadBalancer":null,"hosts":[]}}}`:                  "cluster-managed",
	} {
		c := &model.Cluster{LoadBalancer: "cluster-managed", InstallConfigOverride: override}
		require.Equal(t, want, c.Effective().LoadBalancer, override)
	}
	var none *model.Cluster
	require.Nil(t, none.Effective())
	installed := &model.Cluster{Kind: model.KindAddHostsCluster, InstallConfigOverride: `{"networking":{"networkType":"Calico"}}`}
	require.Same(t, installed, installed.Effective(), "a cluster that is installed")
}
