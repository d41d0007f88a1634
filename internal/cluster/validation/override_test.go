package validation_test

import "testing"

// overriding lays networking over the install-config, after changes of the cluster.
func overriding(networking string, changes ...func(*clusterWorld)) func(*clusterWorld) {
	return func(w *clusterWorld) {
		for _, change := range changes {
			change(w)
		}
		w.c.InstallConfigOverride = `{"fips":false,"networking":` + networking + `}`
	}
}

// parts sets the host prefix of the cluster's own network.
func parts(prefix int) func(*clusterWorld) {
	return func(w *clusterWorld) { w.c.ClusterNetworks[0].HostPrefix = prefix }
}

func kind(name string) func(*clusterWorld) { return func(w *clusterWorld) { w.c.NetworkType = name } }

// A cluster is checked as it will be installed.
var overrideCases = []clusterCase{
	{"fails with parts too small", "network-prefix-valid", parts(26), fails, "at most 25"},
	{
		"passes with them under the plug-in of an override", "network-prefix-valid",
		overriding(`{"networkType":"Calico"}`, parts(26)), ok, "",
	},
	{"passes with another plug-in", "network-prefix-valid", overriding(`{"networkType":"Cilium"}`, parts(26)), ok, ""},
	{"passes with a plug-in that is not known here", "network-prefix-valid", overriding(`{"networkType":"Antrea"}`, parts(26)), ok, ""},
	{"passes without a plug-in", "network-prefix-valid", overriding(`{"networkType":""}`, parts(26)), ok, ""},
	{
		"fails with them under OpenShift's own", "network-prefix-valid",
		overriding(`{"networkType":"ovnkubernetes"}`, parts(26)), fails, "at most 25",
	},
	{
		"fails when the override returns to OpenShift's own", "network-prefix-valid",
		overriding(`{"networkType":"OVNKubernetes"}`, parts(26), kind("Calico")), fails, "at most 25",
	},
	{
		"fails with parts of the override alone", "network-prefix-valid",
		overriding(`{"clusterNetwork":[{"hostPrefix":26}]}`), fails, "at most 25",
	},
	{
		"passes with the network of the override", "network-prefix-valid",
		overriding(`{"clusterNetwork":[{"cidr":"10.128.0.0/14","hostPrefix":23}]}`, parts(26)), ok, "",
	},
	{
		"fails with IPv6 parts too small", "network-prefix-valid",
		overriding(`{"clusterNetwork":[{"cidr":"fd01::/48","hostPrefix":122}]}`), fails, "at most 121",
	},
	{
		"fails with them under another plug-in", "network-prefix-valid",
		overriding(`{"networkType":"Calico","clusterNetwork":[{"cidr":"fd01::/48","hostPrefix":122}]}`), fails, "prefix 64",
	},
	{"names the plug-in of the override", "network-type-valid", overriding(`{"networkType":"Calico"}`), ok, "Calico"},
	{"takes any plug-in of an override", "network-type-valid", overriding(`{"networkType":"Antrea"}`), ok, "Antrea"},
	{
		"fails for a single node with the plug-in of the override", "network-type-valid",
		overriding(`{"networkType":"OpenShiftSDN"}`, oneNode), fails, "SDN",
	},
	{
		"fails with IPv6 networks of the override", "network-type-valid",
		overriding(`{"serviceNetwork":["fd02::/112"]}`, kind("OpenShiftSDN")), fails, "found IPv6",
	},
	{
		"fails when networks of the override overlap", "no-cidrs-overlapping",
		overriding(`{"serviceNetwork":["10.130.0.0/16"]}`), fails, "10.130.0.0/16",
	},
	{"needs families as in the override", "networks-same-address-families", overriding(`{"serviceNetwork":["fd02::/112"]}`), fails, ""},
	{
		"shows the machine network of the override", "machine-cidr-defined",
		overriding(`{"machineNetwork":[{"cidr":"192.168.0.0/16"}]}`), ok, "192.168.0.0/16",
	},
	{
		"fails when no install-config can be made with it", "custom-manifests-requirements-satisfied",
		func(w *clusterWorld) {
			w.f.ConfigFault = "install_config_overrides: platform: require one platform, found 2"
		}, fails,
		"Require an install-config that the installer accepts: install_config_overrides: platform: require one platform, found 2",
	},
	{"asks for no manifests of its plug-in", "custom-manifests-requirements-satisfied", overriding(`{"networkType":"Calico"}`), ok, ""},
}

// given sets an override as a whole, after changes of the cluster.
func given(override string, changes ...func(*clusterWorld)) func(*clusterWorld) {
	return func(w *clusterWorld) {
		for _, change := range changes {
			change(w)
		}
		w.c.InstallConfigOverride = override
	}
}

// The installer gets the proxy and the load balancer of an override too.
var proxyOverrideCases = []clusterCase{
	{
		"fails with a proxy of the override in the services", apart, given(`{"proxy":{"httpProxy":"http://172.30.0.5:3128"}}`), fails,
		"http_proxy 172.30.0.5",
	},
	{
		"fails with the cluster's proxy beside one of the override", apart,
		given(`{"proxy":{"httpsProxy":"http://192.0.2.9:3128"}}`, proxied("http://10.128.0.5:3128", "")), fails, "http_proxy 10.128.0.5",
	},
	{
		"passes with a proxy of the override that replaces one in the pods", apart,
		given(`{"proxy":{"httpProxy":"http://192.0.2.9:3128"}}`, proxied("http://10.128.0.5:3128", "")), ok, "",
	},
	{
		"passes when the override removes the proxy", apart, given(`{"proxy":null}`, proxied("http://10.128.0.5:3128", "")), ok, "",
	},
	{
		"passes with an address that the user's balancer of the override has", "api-vips-valid",
		given(`{"platform":{"baremetal":{"loadBalancer":{"type":"UserManaged"}}}}`, taken), ok, "",
	},
	{"fails with such an address without it", "api-vips-valid", taken, fails, "not in use"},
	{
		"fails when the override returns to OpenShift's balancer", "api-vips-valid",
		given(`{"platform":{"baremetal":{"loadBalancer":{"type":"OpenShiftManagedDefault"}}}}`, taken, func(w *clusterWorld) {
			w.c.LoadBalancer = "user-managed"
		}), fails, "not in use",
	},
}

// taken makes the virtual address of the API answer.
func taken(w *clusterWorld) { w.c.APIVIPs[0].Verification = "failed" }

func TestHostsAreCheckedAgainstTheNetworksOfTheOverride(t *testing.T) {
	t.Parallel()
	requireVerdicts(t, []hostCase{
		{"fails outside the network of the override", "belongs-to-machine-cidr", func(w *fixture) {
			w.c.InstallConfigOverride = `{"networking":{"machineNetwork":[{"cidr":"10.0.0.0/8"}]}}`
		}, fails, "10.0.0.0/8"},
		{"passes inside it", "belongs-to-machine-cidr", func(w *fixture) {
			w.c.MachineNetworks = prefixes("10.0.0.0/8")
			w.c.InstallConfigOverride = `{"networking":{"machineNetwork":[{"cidr":"192.168.8.0/21"}]}}`
		}, ok, ""},
		{"names it", "machine-cidr-defined", func(w *fixture) {
			w.c.InstallConfigOverride = `{"networking":{"machineNetwork":[{"cidr":"10.0.0.0/8"}]}}`
		}, ok, "10.0.0.0/8"},
	})
}
