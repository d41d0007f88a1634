package model

import (
	"encoding/json"
	"net/netip"
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

// noNetworkType is the network type of clusters whose install-config names none.
const noNetworkType = "None"

// Effective returns the cluster as it will be installed: with the network type and the networks that its override puts into the
// install-config. Lists are merged element by element, as there. It returns the cluster itself, which must not be changed, when the
// override has no networks.
func (c *Cluster) Effective() *Cluster {
	if c == nil || c.DayTwo() || !strings.Contains(strings.ToLower(c.InstallConfigOverride), "networking") {
		return c
	}
	given := struct {
		Networking overridden `json:"networking"`
	}{stated(c)}
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
	return &out
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
