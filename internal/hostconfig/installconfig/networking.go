package installconfig

import (
	"slices"
	"strings"
)

func (b *builder) networking() Networking {
	n := Networking{NetworkType: b.cluster.NetworkType, ClusterNetwork: []ClusterNetwork{}, ServiceNetwork: []string{}}
	switch n.NetworkType {
	case "":
		n.NetworkType = "OVNKubernetes"
	case "None":
		n.NetworkType = "" // the user brings a network plugin
	}
	for _, c := range b.cluster.ClusterNetworks {
		n.ClusterNetwork = append(n.ClusterNetwork, ClusterNetwork{CIDR: c.CIDR.String(), HostPrefix: c.HostPrefix})
	}
	for _, m := range b.machineNetworks {
		n.MachineNetwork = append(n.MachineNetwork, MachineNetwork{CIDR: m.String()})
	}
	for _, s := range b.cluster.ServiceNetworks {
		n.ServiceNetwork = append(n.ServiceNetwork, s.String())
	}
	return n
}

// proxy adds the cluster's domain and networks to the exceptions.
func (b *builder) proxy() *Proxy {
	p := b.cluster.Proxy
	if p.HTTP == "" && p.HTTPS == "" {
		return nil
	}
	if p.NoProxy == "*" {
		return &Proxy{HTTPProxy: p.HTTP, HTTPSProxy: p.HTTPS, NoProxy: p.NoProxy}
	}
	exceptions := strings.FieldsFunc(p.NoProxy, func(r rune) bool { return r == ',' || r == ' ' })
	add := func(e string) {
		if !slices.Contains(exceptions, e) {
			exceptions = append(exceptions, e)
		}
	}
	add("." + b.cluster.Name + "." + b.cluster.BaseDNSDomain)
	for _, c := range b.cluster.ClusterNetworks {
		add(c.CIDR.String())
	}
	for _, s := range b.cluster.ServiceNetworks {
		add(s.String())
	}
	for _, m := range b.machineNetworks {
		add(m.String())
	}
	return &Proxy{HTTPProxy: p.HTTP, HTTPSProxy: p.HTTPS, NoProxy: strings.Join(exceptions, ",")}
}
