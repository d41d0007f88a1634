package installconfig

import (
	"strings"

	"slipway/internal/model"
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
	direct := []string{"." + b.cluster.Name + "." + b.cluster.BaseDNSDomain}
	for _, c := range b.cluster.ClusterNetworks {
		direct = append(direct, c.CIDR.String())
	}
	for _, s := range b.cluster.ServiceNetworks {
		direct = append(direct, s.String())
	}
	for _, m := range b.machineNetworks {
		direct = append(direct, m.String())
	}
	exceptions := model.AddExceptions(p.Exceptions(), direct...)
	return &Proxy{HTTPProxy: p.HTTP, HTTPSProxy: p.HTTPS, NoProxy: strings.Join(exceptions, ",")}
}
