package validation_test

import (
	"net/netip"

	"slipway/internal/model"
)

// machines moves the machine network; hosts and virtual addresses stay, which other rules notice.
func machines(networks ...string) func(*clusterWorld) {
	return func(w *clusterWorld) { w.c.MachineNetworks = prefixes(networks...) }
}

func services(networks ...string) func(*clusterWorld) {
	return func(w *clusterWorld) { w.c.ServiceNetworks = prefixes(networks...) }
}

func pods(cidr string, hostPrefix int) func(*clusterWorld) {
	return func(w *clusterWorld) {
		w.c.ClusterNetworks = []model.ClusterNetwork{{CIDR: netip.MustParsePrefix(cidr), HostPrefix: hostPrefix}}
	}
}

// twoPods gives the cluster two IPv4 networks of pods.
func twoPods(first, second int) func(*clusterWorld) {
	return func(w *clusterWorld) {
		w.c.ClusterNetworks = []model.ClusterNetwork{
			{CIDR: netip.MustParsePrefix("10.128.0.0/14"), HostPrefix: first}, {CIDR: netip.MustParsePrefix("10.132.0.0/14"), HostPrefix: second},
		}
	}
}

func of(version string, changes ...func(*clusterWorld)) func(*clusterWorld) {
	return func(w *clusterWorld) {
		w.c.OpenShiftVersion = version
		for _, change := range changes {
			change(w)
		}
	}
}

func proxied(http, https string) func(*clusterWorld) {
	return func(w *clusterWorld) { w.c.Proxy = model.Proxy{HTTP: http, HTTPS: https} }
}

// joinSubnet returns networking of an override that moves the join subnet of OVNKubernetes.
func joinSubnet(cidr string) string {
	return `{"ovnKubernetesConfig":{"ipv4":{"internalJoinSubnet":"` + cidr + `"}}}`
}

const apart, sizes = "no-cidrs-overlapping", "network-prefix-valid"

// reservedCases are configs that openshift-install refuses after all other validations pass (openshift/installer,
// pkg/types/validation/installconfig.go), and their neighbours that it takes.
var reservedCases = []clusterCase{
	{
		"machine network in the join subnet", apart,
		of("4.20.1", machines("100.64.0.0/24")), fails, "the machine network 100.64.0.0/24 overlaps",
	},
	{"machine network around it", apart, of("4.20.1", machines("100.0.0.0/8")), fails, "100.64.0.0/16"},
	{"machine network in the transit subnet", apart, of("4.20.1", machines("100.88.0.0/24")), fails, "transit subnet 100.88.0.0/16"},
	{"the second machine network", apart, of("4.20.1", machines("192.168.8.0/21", "100.88.3.0/24")), fails, "100.88.3.0/24"},
	{"machine network in the masquerade subnet", apart, of("4.20.1", machines("169.254.7.0/24")), fails, "masquerade subnet 169.254.0.0/17"},
	{"machine network beside both", apart, of("4.20.1", machines("100.65.0.0/16")), ok, ""},
	{"pods around the join subnet", apart, of("4.20.1", pods("100.64.0.0/14", 23)), fails, "the cluster network 100.64.0.0/14"},
	{"services in the transit subnet", apart, of("4.20.1", services("100.88.0.0/16")), fails, "the service network 100.88.0.0/16"},
	{"pods around the IPv6 join subnet", apart, of("4.20.1", pods("fd98::/48", 64), services("fd02::/112")), fails, "fd98::/64"},
	{"pods around the IPv6 transit subnet", apart, of("4.20.1", pods("fd97::/48", 64), services("fd02::/112")), fails, "fd97::/64"},
	{"IPv6 pods beside them", apart, of("4.20.1", pods("fd99::/48", 64), services("fd02::/112")), ok, ""},
	{"the first version that refuses", apart, of("4.19.0-rc.1", machines("100.64.0.0/24")), fails, ""},
	{"the last that does not", apart, of("4.18.30", machines("100.64.0.0/24")), ok, ""},
	{"another plug-in", apart, of("4.20.1", machines("100.64.0.0/24"), kind("Calico")), ok, ""},
	{
		"OVN of an override", apart,
		of("4.20.1", overriding(`{"networkType":"ovnkubernetes"}`, machines("100.64.0.0/24"), kind("Calico"))), fails, "",
	},

	{
		"a join subnet elsewhere lifts the rule", apart,
		of("4.20.1", overriding(joinSubnet("100.99.0.0/16"), machines("100.64.0.0/24"))), ok, "",
	},
	{
		"not the rule of the transit subnet", apart,
		of("4.20.1", overriding(joinSubnet("100.99.0.0/16"), machines("100.88.0.0/24"))), fails, "transit",
	},
	{"a join subnet as the machine network", apart, of("4.20.1", overriding(joinSubnet("192.168.8.0/21"))), fails, "internalJoinSubnet"},
	{"a join subnet in the pods'", apart, of("4.20.1", overriding(joinSubnet("10.128.0.0/16"))), fails, "10.128.0.0/16"},
	{"a join subnet around the services", apart, of("4.16.1", overriding(joinSubnet("172.16.0.0/12"))), fails, "the service network"},

	{"HTTP proxy in the services", apart, proxied("http://172.30.0.5:3128", ""), fails, "http_proxy 172.30.0.5"},
	{"HTTPS proxy in the pods", apart, proxied("", "http://user:pass@10.128.0.5:3128"), fails, "https_proxy 10.128.0.5"},
	{"the second proxy", apart, proxied("http://192.0.2.9:3128", "http://172.30.0.5"), fails, "https_proxy"},
	{
		"IPv6 proxy in the services", apart,
		of("4.20.1", pods("fd01::/48", 64), services("fd02::/112"), proxied("http://[fd02::5]:3128", "")), fails, "fd02::5",
	},
	{
		"proxy in the join subnet of an override", apart,
		overriding(joinSubnet("100.99.0.0/16"), proxied("http://100.99.0.9:3128", "")), fails, "in the join network 100.99.0.0/16",
	},
	{"a machine network inside another", apart, machines("192.168.8.0/21", "192.168.9.0/24"), fails, "192.168.8.0/21 overlaps 192.168.9.0/24"},
	{"machine networks side by side", apart, machines("192.168.8.0/22", "192.168.12.0/22"), ok, ""},
	{
		"a machine network of the override around another", apart,
		overriding(`{"machineNetwork":[{"cidr":"192.168.8.0/21"},{"cidr":"192.168.0.0/16"}]}`), fails, "192.168.0.0/16",
	},
	{"proxy with a name", apart, proxied("http://proxy.example.com:3128", "http://proxy.example.com:3128"), ok, ""},
	{"proxy in the machine network", apart, proxied("http://192.168.8.9:3128", ""), ok, ""},

	{"IPv4 parts of two sizes", sizes, of("4.20.1", twoPods(23, 24)), fails, "23 of 10.128.0.0/14 and 24 of 10.132.0.0/14"},
	{"IPv4 parts of one size", sizes, of("4.20.1", twoPods(23, 23)), ok, ""},
	{"IPv4 parts of two sizes before", sizes, of("4.18.30", twoPods(23, 24)), ok, ""},
	{"IPv6 host prefix", sizes, pods("fd01::/48", 120), fails, "Require the host prefix 64"},
	{"IPv6 host prefix of another size", sizes, pods("fd01::/48", 56), fails, "Require the host prefix 64"},
	{"IPv6 host prefix 64", sizes, pods("fd01::/48", 64), ok, ""},
	{"IPv6 services", sizes, services("fd02::/64"), fails, "/112 or smaller"},
	{"IPv6 services of the right size", sizes, services("fd02::/112"), ok, ""},
	{"IPv4 services", sizes, services("10.0.0.0/8"), fails, "/12 or smaller"},
	{"IPv4 services as large as may be", sizes, services("172.16.0.0/12"), ok, ""},
	{"the second service network", sizes, services("172.30.0.0/16", "fd02::/108"), fails, "fd02::/108"},
}
