package staticnet

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
)

// convertIP writes one family of addresses of an interface.
func convertIP(file *keyfile, family string, p ip) error {
	method, err := ipMethod(family, p)
	if err != nil {
		return err
	}
	file.set(family, "method", method)
	if !p.Enabled {
		return nil
	}
	for i, a := range p.Address {
		prefix, err := parseAddress(family, a)
		if err != nil {
			return fmt.Errorf("%s.address[%d].%w", family, i, err)
		}
		file.set(family, "address"+strconv.Itoa(i+1), prefix.String())
	}
	for _, auto := range []struct {
		wanted *bool
		key    string
	}{{p.AutoDNS, "ignore-auto-dns"}, {p.AutoGateway, "never-default"}, {p.AutoRoutes, "ignore-auto-routes"}} {
		if auto.wanted != nil && !*auto.wanted {
			file.set(family, auto.key, "true")
		}
	}
	if p.AutoRouteTable != 0 {
		file.set(family, "route-table", strconv.Itoa(p.AutoRouteTable))
	}
	file.setInt(family, "route-metric", p.AutoMetric)
	file.set(family, "addr-gen-mode", p.AddrGenMode)
	return nil
}

// ipMethod is how an interface gets its addresses (nm-settings(5), ipv4.method and ipv6.method).
func ipMethod(family string, p ip) (string, error) {
	if family == "ipv4" {
		switch {
		case p.Autoconf:
			return "", fmt.Errorf("ipv4.autoconf: require it only for ipv6, found true")
		case p.AddrGenMode != "":
			return "", fmt.Errorf("ipv4.addr-gen-mode: require it only for ipv6, found %q", p.AddrGenMode)
		}
	}
	if !slices.Contains([]string{"", "eui64", "stable-privacy"}, p.AddrGenMode) {
		return "", fmt.Errorf("%s.addr-gen-mode: require eui64 or stable-privacy, found %q", family, p.AddrGenMode)
	}
	switch {
	case !p.Enabled:
		return "disabled", nil
	case p.DHCP && (p.Autoconf || family == "ipv4"):
		return "auto", nil
	case p.DHCP:
		return "dhcp", nil
	case p.Autoconf:
		return "", fmt.Errorf("ipv6.autoconf: require dhcp with it, because NetworkManager has no way to take only one, found autoconf alone")
	case len(p.Address) > 0:
		return "manual", nil
	case family == "ipv6":
		return "link-local", nil
	}
	return "disabled", nil
}

func parseAddress(family string, a address) (netip.Prefix, error) {
	ip, err := netip.ParseAddr(a.IP)
	if err != nil || ip.Zone() != "" || familyOf(ip) != family {
		return netip.Prefix{}, fmt.Errorf("ip: require an %s address, found %q", familyName[family], a.IP)
	}
	if a.Prefix == nil {
		return netip.Prefix{}, fmt.Errorf("prefix-length: require a number, found none")
	}
	if *a.Prefix < 0 || *a.Prefix > ip.BitLen() {
		return netip.Prefix{}, fmt.Errorf("prefix-length: require 0 to %d, found %d", ip.BitLen(), *a.Prefix)
	}
	return netip.PrefixFrom(ip, *a.Prefix), nil
}

var familyName = map[string]string{"ipv4": "IPv4", "ipv6": "IPv6"}

func familyOf(ip netip.Addr) string {
	if ip.Is4() {
		return "ipv4"
	}
	return "ipv6"
}

// hasFamily reports whether an interface that is no port has addresses of a family.
func (c *conversion) hasFamily(one iface, family string) bool {
	if _, isPort := c.ports[one.Name]; isPort {
		return false
	}
	if family == "ipv4" {
		return one.IPv4.Enabled
	}
	return one.IPv6.Enabled
}
