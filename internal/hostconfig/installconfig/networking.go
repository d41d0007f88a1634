package installconfig

import (
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
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

// defaultRouteNetworks returns the networks of the nodes where neither the user nor VIPs name them: those of
// the default routes of a control plane host, IPv4 first. The bootstrap host is checked before the others.
func defaultRouteNetworks(hosts []*model.Host) []netip.Prefix {
	masters := slices.Clone(hosts)
	masters = slices.DeleteFunc(masters, func(h *model.Host) bool { return h.EffectiveRole() != model.RoleMaster || h.Inventory == nil })
	slices.SortStableFunc(masters, func(a, b *model.Host) int { return rank(a) - rank(b) })
	for _, h := range masters {
		var found []netip.Prefix
		for _, unspecified := range []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()} {
			if p, ok := routeNetwork(h.Inventory, unspecified); ok {
				found = append(found, p)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func rank(h *model.Host) int {
	if h.Bootstrap {
		return 0
	}
	return 1
}

// routeNetwork returns the network of the interface with the best default route of the family of unspecified.
func routeNetwork(inventory *wire.Inventory, unspecified netip.Addr) (netip.Prefix, bool) {
	routes := slices.Clone(inventory.Routes)
	slices.SortStableFunc(routes, func(a, b wire.Route) int { return int(a.Metric) - int(b.Metric) })
	for _, r := range routes {
		destination, _, _ := strings.Cut(r.Destination, "/")
		if to, err := netip.ParseAddr(destination); err != nil || to != unspecified {
			continue
		}
		for _, nic := range inventory.Interfaces {
			if nic.Name != r.Interface {
				continue
			}
			for _, cidr := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
				if p, err := netip.ParsePrefix(cidr); err == nil && p.Addr().Is4() == unspecified.Is4() {
					return p.Masked(), true
				}
			}
		}
	}
	return netip.Prefix{}, false
}
