package model

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
)

// overridden is the part of an install-config that says which networks a cluster has.
type overridden struct {
	NetworkType    string       `json:"networkType"`
	ClusterNetwork []podNetwork `json:"clusterNetwork"`
	MachineNetwork []network    `json:"machineNetwork"`
	ServiceNetwork []string     `json:"serviceNetwork"`
}

type podNetwork struct {
	CIDR       string `json:"cidr"`
	HostPrefix int    `json:"hostPrefix"`
}

type network struct {
	CIDR string `json:"cidr"`
}

// proxied is the part of an install-config that says how nodes reach other networks.
type proxied struct {
	HTTP    string `json:"httpProxy"`
	HTTPS   string `json:"httpsProxy"`
	NoProxy string `json:"noProxy"`
}

// balanced is the part of a platform that says who balances the load of the API and the routes.
type balanced struct {
	LoadBalancer struct {
		Type string `json:"type"`
	} `json:"loadBalancer"`
}

// balancers maps the types of load balancers in an install-config to types of clusters.
var balancers = map[string]string{"UserManaged": "user-managed", "OpenShiftManagedDefault": "cluster-managed"}

// parts are the fields of an override that change what Effective returns.
var parts = []string{"networking", "proxy", "loadbalancer"}

// noNetworkType is the network type of clusters whose install-config names none.
const noNetworkType = "None"

// Effective returns the cluster as it will be installed: with the network type, the networks, the proxy and the load balancer that its
// override puts into the install-config. Lists are merged element by element, as there. It returns the cluster itself, which must not be
// changed, when the override has none of them.
func (c *Cluster) Effective() *Cluster {
	if c == nil || c.DayTwo() || !changesParts(c.InstallConfigOverride) {
		return c
	}
	given := struct {
		Networking overridden          `json:"networking"`
		Proxy      *proxied            `json:"proxy"`
		Platform   map[string]balanced `json:"platform"`
	}{Networking: stated(c), Proxy: &proxied{c.Proxy.HTTP, c.Proxy.HTTPS, c.Proxy.NoProxy}}
	if json.Unmarshal([]byte(c.InstallConfigOverride), &given) != nil {
		return c // refused when it was set
	}
	out := *c
	if out.NetworkType = given.Networking.NetworkType; out.NetworkType == "" && c.NetworkType != "" {
		out.NetworkType = noNetworkType
	}
	if !given.Networking.apply(&out) {
		return c
	}
	out.Proxy = Proxy{}
	if given.Proxy != nil {
		out.Proxy = Proxy{HTTP: given.Proxy.HTTP, HTTPS: given.Proxy.HTTPS, NoProxy: given.Proxy.NoProxy}
	}
	for _, platform := range given.Platform {
		if kind, known := balancers[platform.LoadBalancer.Type]; known {
			out.LoadBalancer = kind
		}
	}
	return &out
}

// changesParts reports whether an override may change what Effective returns.
func changesParts(override string) bool {
	override = strings.ToLower(override)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(override, part) })
}

// stated returns the networks of a cluster without its override.
func stated(c *Cluster) overridden {
	out := overridden{NetworkType: c.NetworkType}
	for _, n := range c.ClusterNetworks {
		out.ClusterNetwork = append(out.ClusterNetwork, podNetwork{n.CIDR.String(), n.HostPrefix})
	}
	for _, n := range c.MachineNetworks {
		out.MachineNetwork = append(out.MachineNetwork, network{n.String()})
	}
	for _, n := range c.ServiceNetworks {
		out.ServiceNetwork = append(out.ServiceNetwork, n.String())
	}
	return out
}

// apply sets the networks of a cluster, and reports whether all can be read. Of a list that is removed the installer has
// defaults; the cluster keeps its own.
func (o overridden) apply(c *Cluster) bool {
	pods := make([]ClusterNetwork, len(o.ClusterNetwork))
	machines, services := make([]netip.Prefix, len(o.MachineNetwork)), make([]netip.Prefix, len(o.ServiceNetwork))
	ok := true
	read := func(text string) netip.Prefix {
		p, err := netip.ParsePrefix(text)
		ok = ok && err == nil
		return p
	}
	for i, n := range o.ClusterNetwork {
		pods[i] = ClusterNetwork{CIDR: read(n.CIDR), HostPrefix: n.HostPrefix}
	}
	for i, n := range o.MachineNetwork {
		machines[i] = read(n.CIDR)
	}
	for i, n := range o.ServiceNetwork {
		services[i] = read(n)
	}
	if len(pods) > 0 {
		c.ClusterNetworks = pods
	}
	if len(machines) > 0 {
		c.MachineNetworks = machines
	}
	if len(services) > 0 {
		c.ServiceNetworks = services
	}
	return ok
}
