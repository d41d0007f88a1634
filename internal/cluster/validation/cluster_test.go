package validation_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/cluster/openshift"
	"slipway/internal/cluster/validation"
	"slipway/internal/model"
	"slipway/internal/wire"
)

type clusterWorld struct {
	c     *model.Cluster
	hosts []*model.Host
	f     *validation.ClusterFacts
}

type clusterCase struct {
	name, id string
	change   func(*clusterWorld)
	want     model.ValidationStatus
	says     string
}

func noHosts(w *clusterWorld)       { w.hosts = nil }
func ownNetworking(w *clusterWorld) { w.c.UserManagedNetworking = true }
func oneNode(w *clusterWorld)       { w.c.ControlPlaneCount = 1; w.hosts = w.hosts[:1] }
func noNetwork(w *clusterWorld)     { w.c.MachineNetworks = nil }
func externalLB(w *clusterWorld)    { w.c.LoadBalancer = "user-managed" }
func vip(text string) []model.VIP   { return []model.VIP{{IP: netip.MustParseAddr(text)}} }
func unverified(w *clusterWorld)    { w.c.APIVIPs = vip("192.168.8.5") }

// singleVIP gives a cluster one verified address of each kind, which begin with prefix.
func singleVIP(prefix string, networks ...string) func(*clusterWorld) {
	return func(w *clusterWorld) {
		w.c.MachineNetworks = prefixes(networks...)
		w.c.APIVIPs = []model.VIP{{IP: netip.MustParseAddr(prefix + "100"), Verification: "succeeded"}}
		w.c.IngressVIPs = []model.VIP{{IP: netip.MustParseAddr(prefix + "101"), Verification: "succeeded"}}
	}
}

func dualStack(w *clusterWorld) {
	w.c.ClusterNetworks, w.c.ServiceNetworks = openshift.DefaultClusterNetworks(true), openshift.DefaultServiceNetworks(true)
	w.c.MachineNetworks = prefixes("192.168.8.0/21", "fd00:1::/64")
}

func free(addresses ...string) func(*clusterWorld) {
	return func(w *clusterWorld) {
		unverified(w)
		w.hosts[1].FreeAddresses = wire.FreeNetworksAddresses{{Network: "192.168.8.0/21", FreeAddresses: addresses}}
	}
}

var clusterHostCases = []clusterCase{
	{"passes with a pull secret", "pull-secret-set", nil, ok, ""},
	{"fails without", "pull-secret-set", func(w *clusterWorld) { w.c.PullSecret = "" }, fails, ""},
	{"passes on bare metal", "platform-requirements-satisfied", nil, ok, ""},
	{
		"fails in Oracle's cloud without manifests",
		"platform-requirements-satisfied",
		func(w *clusterWorld) { w.c.Platform = model.Platform{Type: "external", ExternalName: "oci"} },
		fails,
		"",
	},
	{"passes when all hosts are known", "all-hosts-are-ready-to-install", nil, ok, ""},
	{"passes without hosts", "all-hosts-are-ready-to-install", noHosts, ok, ""},
	{
		"fails when one is not",
		"all-hosts-are-ready-to-install",
		func(w *clusterWorld) { w.hosts[3].Status = model.HostInsufficient },
		fails,
		"node-3 is insufficient",
	},
	{
		"passes while hosts are prepared",
		"all-hosts-are-ready-to-install",
		func(w *clusterWorld) { w.hosts[3].Status = model.HostPreparingSuccessful },
		ok,
		"",
	},
	{
		"passes while hosts are installed",
		"all-hosts-are-ready-to-install",
		func(w *clusterWorld) {
			w.hosts[1].Status, w.hosts[2].Status, w.hosts[3].Status = model.HostInstalling, model.HostInstallingInProgress, model.HostInstalled
		},
		ok,
		"",
	},
	{
		"fails when one has failed",
		"all-hosts-are-ready-to-install",
		func(w *clusterWorld) { w.hosts[2].Status, w.hosts[3].Status = model.HostInstalling, model.HostError },
		fails,
		"node-3 is error",
	},
	{"passes with three masters", "sufficient-masters-count", nil, ok, ""},
	{
		"fails with two masters",
		"sufficient-masters-count",
		func(w *clusterWorld) { w.hosts[0].Role = model.RoleWorker },
		fails,
		"Require 3 control plane hosts, found 2",
	},
	{"fails with four masters", "sufficient-masters-count", func(w *clusterWorld) { w.hosts[3].Role = model.RoleMaster }, fails, "found 4"},
	{"counts suggested masters", "sufficient-masters-count", func(w *clusterWorld) {
		w.hosts[0].Role, w.hosts[0].SuggestedRole = model.RoleAutoAssign, model.RoleMaster
	}, ok, ""},
	{"does not count suggested masters that are too small", "sufficient-masters-count", func(w *clusterWorld) {
		w.hosts[0].Role, w.hosts[0].SuggestedRole = model.RoleAutoAssign, model.RoleMaster
		w.hosts[0].Inventory.CPU.Count = 2
	}, fails, "found 2"},
	{"passes with a single node", "sufficient-masters-count", oneNode, ok, ""},
	{"fails with a worker beside a single node", "sufficient-masters-count", func(w *clusterWorld) {
		w.c.ControlPlaneCount = 1
		w.hosts = []*model.Host{w.hosts[0], w.hosts[3]}
	}, fails, "without workers"},
	{
		"wants an arbiter for two masters",
		"sufficient-masters-count",
		func(w *clusterWorld) { w.c.ControlPlaneCount = 2; w.hosts = w.hosts[1:] },
		fails,
		"arbiter",
	},
	{
		"passes with an arbiter",
		"sufficient-masters-count",
		func(w *clusterWorld) { w.c.ControlPlaneCount = 2; w.hosts[0].Role = model.RoleArbiter },
		ok,
		"",
	},
	{
		"fails with an arbiter on a platform that has none",
		"sufficient-masters-count",
		func(w *clusterWorld) {
			w.c.ControlPlaneCount, w.c.Platform.Type = 2, "vsphere"
			w.hosts[0].Role = model.RoleArbiter
		},
		fails,
		"Require other roles for 1 arbiters",
	},
	{
		"fails with an arbiter in a version that has none",
		"sufficient-masters-count",
		func(w *clusterWorld) { w.c.OpenShiftVersion = "4.18.9"; w.hosts[3].Role = model.RoleArbiter },
		fails,
		"4.18",
	},
	{"passes with equal clocks", "ntp-server-configured", nil, ok, ""},
	{
		"fails with clocks five minutes apart",
		"ntp-server-configured",
		func(w *clusterWorld) { w.hosts[2].Timestamp += 300 },
		fails,
		"5m0s apart",
	},
	{
		"allows four minutes",
		"ntp-server-configured",
		func(w *clusterWorld) { w.hosts[2].Timestamp += 120; w.hosts[1].Timestamp -= 120 },
		ok,
		"",
	},
	{"ignores hosts that told no time", "ntp-server-configured", func(w *clusterWorld) { w.hosts[2].Timestamp = 0 }, ok, ""},
}

var clusterNetworkCases = []clusterCase{
	{"passes with a machine network", "machine-cidr-defined", nil, ok, ""},
	{"fails without", "machine-cidr-defined", noNetwork, fails, ""},
	{"waits for hosts", "machine-cidr-defined", func(w *clusterWorld) { noNetwork(w); noHosts(w) }, waits, ""},
	{"needs none with the user's networking", "machine-cidr-defined", func(w *clusterWorld) { noNetwork(w); ownNetworking(w) }, ok, ""},
	{"passes", "cluster-cidr-defined", nil, ok, ""},
	{"fails without", "cluster-cidr-defined", func(w *clusterWorld) { w.c.ClusterNetworks = nil }, fails, ""},
	{"passes", "service-cidr-defined", nil, ok, ""},
	{"fails without", "service-cidr-defined", func(w *clusterWorld) { w.c.ServiceNetworks = nil }, fails, ""},
	{"passes", "dns-domain-defined", nil, ok, ""},
	{"fails without", "dns-domain-defined", func(w *clusterWorld) { w.c.BaseDNSDomain = "" }, fails, ""},
	{"passes with networks apart", "no-cidrs-overlapping", nil, ok, ""},
	{
		"fails when the machine network is inside the pods'",
		"no-cidrs-overlapping",
		func(w *clusterWorld) { w.c.MachineNetworks = prefixes("10.128.4.0/24") },
		fails,
		"10.128.0.0/14",
	},
	{
		"fails when services and pods share a network",
		"no-cidrs-overlapping",
		func(w *clusterWorld) { w.c.ServiceNetworks = prefixes("10.130.0.0/16") },
		fails,
		"",
	},
	{"waits for the machine network", "no-cidrs-overlapping", noNetwork, waits, ""},
	{
		"errs with one service network for two pod networks",
		"no-cidrs-overlapping",
		func(w *clusterWorld) { w.c.ClusterNetworks = openshift.DefaultClusterNetworks(true) },
		errs,
		"found 1 and 2",
	},
	{"passes with IPv4 everywhere", "networks-same-address-families", nil, ok, ""},
	{"passes with both families everywhere", "networks-same-address-families", dualStack, ok, ""},
	{
		"fails with IPv4 services for two families of pods",
		"networks-same-address-families",
		func(w *clusterWorld) { dualStack(w); w.c.ServiceNetworks = prefixes("172.30.0.0/16") },
		fails,
		"",
	},
	{
		"fails with IPv4 machines for two families of services",
		"networks-same-address-families",
		func(w *clusterWorld) { dualStack(w); w.c.MachineNetworks = prefixes("192.168.8.0/21") },
		fails,
		"",
	},
	{"waits for the machine network", "networks-same-address-families", noNetwork, waits, ""},
	{"passes with room for all hosts", "network-prefix-valid", nil, ok, ""},
	{
		"fails with room for too few",
		"network-prefix-valid",
		func(w *clusterWorld) { w.c.ClusterNetworks[0].CIDR = netip.MustParsePrefix("10.128.0.0/21") },
		fails,
		"has 4",
	},
	{
		"fails when parts are larger than the network",
		"network-prefix-valid",
		func(w *clusterWorld) { w.c.ClusterNetworks[0].HostPrefix = 10 },
		fails,
		"has 0",
	},
	{
		"fails without a host prefix",
		"network-prefix-valid",
		func(w *clusterWorld) { w.c.ClusterNetworks[0].HostPrefix = 0 },
		fails,
		"between 1 and 32",
	},
	{
		"takes the plug-in's parts for third-party networks",
		"network-prefix-valid",
		func(w *clusterWorld) { w.c.ClusterNetworks[0].HostPrefix = 0; w.c.NetworkType = "Calico" },
		ok,
		"",
	},
	{"waits for the cluster network", "network-prefix-valid", func(w *clusterWorld) { w.c.ClusterNetworks = nil }, waits, ""},
	{"passes with the network of the hosts", "machine-cidr-equals-to-calculated-cidr", nil, ok, ""},
	{
		"fails with a narrower one",
		"machine-cidr-equals-to-calculated-cidr",
		func(w *clusterWorld) { w.c.MachineNetworks = prefixes("192.168.8.0/24") },
		fails,
		"192.168.8.0/21",
	},
	{
		"fails when the VIP is in no network of the hosts",
		"machine-cidr-equals-to-calculated-cidr",
		func(w *clusterWorld) { w.c.APIVIPs = vip("10.9.9.9") },
		fails,
		"in none",
	},
	{
		"takes any with an external load balancer",
		"machine-cidr-equals-to-calculated-cidr",
		func(w *clusterWorld) { externalLB(w); w.c.MachineNetworks = prefixes("192.168.8.0/24") },
		ok,
		"",
	},
	{"waits for hosts", "machine-cidr-equals-to-calculated-cidr", noHosts, waits, ""},
	{"passes with OVN", "network-type-valid", nil, ok, ""},
	{"fails with an unknown type", "network-type-valid", func(w *clusterWorld) { w.c.NetworkType = "Token Ring" }, fails, "Token Ring"},
	{
		"fails with SDN on a single node",
		"network-type-valid",
		func(w *clusterWorld) { oneNode(w); w.c.NetworkType = "OpenShiftSDN" },
		fails,
		"single node",
	},
	{
		"fails with SDN and IPv6",
		"network-type-valid",
		func(w *clusterWorld) { dualStack(w); w.c.NetworkType = "OpenShiftSDN" },
		fails,
		"IPv6",
	},
	{"fails with OVN and leased addresses", "network-type-valid", func(w *clusterWorld) { w.c.VIPDHCPAllocation = true }, fails, "leased"},
	{
		"passes with SDN and leased addresses",
		"network-type-valid",
		func(w *clusterWorld) { w.c.VIPDHCPAllocation = true; w.c.NetworkType = "OpenShiftSDN" },
		ok,
		"",
	},
	{"passes with a shipped plug-in", "custom-manifests-requirements-satisfied", nil, ok, ""},
	{
		"fails with another without manifests",
		"custom-manifests-requirements-satisfied",
		func(w *clusterWorld) { w.c.NetworkType = "Cilium" },
		fails,
		"Cilium",
	},
	{
		"passes with manifests",
		"custom-manifests-requirements-satisfied",
		func(w *clusterWorld) { w.c.NetworkType = "Cilium"; w.f.CustomManifests = true },
		ok,
		"",
	},
	{
		"fails with manifests that the nodes cannot be configured from",
		"custom-manifests-requirements-satisfied",
		func(w *clusterWorld) {
			w.f.CustomManifests, w.c.ManifestFault = true, "document 1 of a.yaml: MachineConfig: kernelType=rt is invalid"
		},
		fails,
		"kernelType=rt is invalid",
	},
}

var vipCases = []clusterCase{
	{"passes", "api-vips-defined", nil, ok, ""},
	{"fails without", "api-vips-defined", func(w *clusterWorld) { w.c.APIVIPs = nil }, fails, "API"},
	{"needs none on a single node", "api-vips-defined", func(w *clusterWorld) { oneNode(w); w.c.APIVIPs = nil }, ok, ""},
	{"waits for a lease", "api-vips-defined", func(w *clusterWorld) { w.c.APIVIPs, w.c.VIPDHCPAllocation = nil, true }, waits, "leased"},
	{"passes", "ingress-vips-defined", nil, ok, ""},
	{"fails without", "ingress-vips-defined", func(w *clusterWorld) { w.c.IngressVIPs = nil }, fails, "ingress"},
	{"passes when verified", "api-vips-valid", nil, ok, ""},
	{"fails when somebody answers", "api-vips-valid", func(w *clusterWorld) { w.c.APIVIPs[0].Verification = "failed" }, fails, "answers"},
	{"fails before anybody verified it", "api-vips-valid", unverified, fails, "no host has verified"},
	{"passes when a scan found it free", "api-vips-valid", free("192.168.8.4", "192.168.8.5"), ok, ""},
	{"fails when a scan did not", "api-vips-valid", free("192.168.8.4"), fails, "no host found"},
	{
		"fails outside the machine network",
		"api-vips-valid",
		func(w *clusterWorld) { w.c.APIVIPs = vip("10.0.0.5") },
		fails,
		"192.168.8.0/21",
	},
	{
		"fails as the network's own address",
		"api-vips-valid",
		func(w *clusterWorld) { w.c.APIVIPs = vip("192.168.8.0") },
		fails,
		"first or last",
	},
	{
		"fails as the broadcast address",
		"api-vips-valid",
		func(w *clusterWorld) { w.c.APIVIPs = vip("192.168.15.255") },
		fails,
		"first or last",
	},
	{"may be in use with an external load balancer", "api-vips-valid", func(w *clusterWorld) { unverified(w); externalLB(w) }, ok, ""},
	{"waits for the machine network", "api-vips-valid", noNetwork, waits, ""},
	{
		"fails with a single IPv6 address where IPv4 is first",
		"api-vips-valid",
		singleVIP("2001:db8::", "192.168.8.0/21", "2001:db8::/64"),
		fails,
		"in the family of the first machine network 192.168.8.0/21, found 2001:db8::100",
	},
	{
		"fails with a single IPv4 address where IPv6 is first",
		"ingress-vips-valid",
		singleVIP("192.168.8.", "2001:db8::/64", "192.168.8.0/21"),
		fails,
		"in the family of the first machine network 2001:db8::/64, found 192.168.8.101",
	},
	{
		"fails so with a load balancer of the user",
		"ingress-vips-valid",
		func(w *clusterWorld) { singleVIP("192.168.8.", "2001:db8::/64", "192.168.8.0/21")(w); externalLB(w) },
		fails,
		"in the family of the first machine network",
	},
	{
		"passes with a single IPv6 address where IPv6 is first", "api-vips-valid",
		singleVIP("2001:db8::", "2001:db8::/64", "192.168.8.0/21"), ok, "",
	},
	{
		"passes with a single IPv4 address where IPv4 is first", "ingress-vips-valid",
		singleVIP("192.168.8.", "192.168.8.0/21", "2001:db8::/64"), ok, "",
	},
	{
		"passes with two networks of one family", "api-vips-valid",
		singleVIP("192.168.8.", "192.0.2.0/24", "192.168.8.0/21"), ok, "",
	},
	{"waits for hosts", "api-vips-valid", noHosts, waits, ""},
	{"waits for the address", "api-vips-valid", func(w *clusterWorld) { w.c.APIVIPs = nil }, waits, ""},
	{"passes when verified", "ingress-vips-valid", nil, ok, ""},
	{"waits for the address", "ingress-vips-valid", func(w *clusterWorld) { w.c.IngressVIPs = nil }, waits, ""},
	{
		"fails outside the machine network",
		"ingress-vips-valid",
		func(w *clusterWorld) { w.c.IngressVIPs = vip("10.0.0.5") },
		fails,
		"ingress",
	},
}

// allClusterCases lists the cases of every group, without the operators'.
func allClusterCases() []clusterCase {
	return slices.Concat(
		clusterHostCases, clusterNetworkCases, vipCases, leaseCases, fencingCases, overrideCases, proxyOverrideCases, reservedCases,
	)
}

// evaluate returns the result of a case's rule.
func (tt clusterCase) evaluate() model.ValidationResult {
	c, hosts := fleet(5)
	facts := validation.ClusterFacts{Requirements: openshift.RequirementsFor(version), Options: validation.DefaultOptions(), Now: now}
	w := &clusterWorld{c: c, hosts: hosts, f: &facts}
	if tt.change != nil {
		tt.change(w)
	}
	facts.Cluster, facts.Hosts = w.c, w.hosts
	got, shown := find(validation.Cluster(facts), tt.id)
	if !shown {
		got.Status = absent
	}
	return got
}

func TestClusterRules(t *testing.T) {
	t.Parallel()
	for _, tt := range allClusterCases() {
		t.Run(tt.id+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.evaluate()
			require.Equal(t, tt.want, got.Status, got.Message)
			require.Contains(t, got.Message, tt.says)
		})
	}
	for _, r := range validation.ClusterRules() {
		require.NotEmpty(t, r.Why)
	}
}

func TestClusterRulesAreOrderedByCategoryAndID(t *testing.T) {
	t.Parallel()
	rules := validation.ClusterRules()
	for i := range rules[1:] {
		a, b := rules[i], rules[i+1]
		require.True(t, a.Category < b.Category || a.Category == b.Category && a.ID < b.ID, "%s before %s", a.ID, b.ID)
	}
}
