package staticnet

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Priorities of name servers (nm-settings(5), dns-priority): the first family is asked first, and both before the servers of a VPN or
// another connection.
const (
	firstDNS  = "40"
	secondDNS = "50"
)

var searchDomain = regexp.MustCompile(`^~?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$`)

// resolverOptions are the options of resolv.conf(5) that NMState knows.
var resolverOptions = regexp.MustCompile(`^(debug|edns0|inet6|ip6-bytestring|ip6-dotint|no-aaaa|no-check-names|no-ip6-dotint|no-reload|` +
	`no-tld-query|rotate|single-request|single-request-reopen|trust-ad|use-vc|(ndots|timeout|attempts):[0-9]{1,5})$`)

// addDNS writes name servers into one connection of their family, the search domains beside the servers of the first family:
// NetworkManager has no other place for them.
func (c *conversion) addDNS() error {
	dns := c.host.state.DNS.Config
	for i, text := range dns.Search {
		if !searchDomain.MatchString(text) {
			return fmt.Errorf("dns-resolver.config.search[%d]: require a name, found %q", i, text)
		}
	}
	for i, text := range dns.Options {
		if !resolverOptions.MatchString(text) {
			return fmt.Errorf("dns-resolver.config.options[%d]: require an option of resolv.conf, found %q", i, text)
		}
	}
	servers, on, err := c.nameServers()
	if err != nil {
		return err
	}
	var families []string // in the order of the servers
	for _, s := range servers {
		if family := familyOf(s); len(families) == 0 || families[len(families)-1] != family {
			families = append(families, family)
		}
	}
	if len(families) > 2 {
		return fmt.Errorf("dns-resolver.config.server: require servers of one family together, found %s between", familyName[families[1]])
	}
	if len(servers) == 0 {
		return c.addSearch(dns)
	}
	for i, family := range families {
		one, err := c.ofDNS(family, on, servers)
		if err != nil {
			return err
		}
		c.writeDNS(one, family, []string{firstDNS, secondDNS}[i], servers)
		if i == 0 {
			c.files[one.Name].set(family, "dns-search", listed(dns.Search))
			c.files[one.Name].set(family, "dns-options", listed(dns.Options))
		}
	}
	return nil
}

// nameServers returns the servers, and the interface of link-local servers.
func (c *conversion) nameServers() (servers []netip.Addr, on string, err error) {
	for i, text := range c.host.state.DNS.Config.Server {
		at := fmt.Sprintf("dns-resolver.config.server[%d]", i)
		server, err := netip.ParseAddr(text)
		switch {
		case err != nil || server.Is4In6():
			return nil, "", fmt.Errorf("%s: require an address, found %q", at, text)
		case server.Is6() && server.IsLinkLocalUnicast() != (server.Zone() != ""):
			return nil, "", fmt.Errorf(
				"%s: require an interface with a link-local address and only there, as in fe80::1%%eth0, found %q",
				at,
				text,
			)
		case server.Zone() == "":
		case on != "" && on != server.Zone():
			return nil, "", fmt.Errorf("%s: require link-local addresses on one interface, found %s besides %s", at, server.Zone(), on)
		default:
			on = server.Zone()
		}
		servers = append(servers, server.WithZone(""))
	}
	return servers, on, nil
}

func (c *conversion) writeDNS(one iface, family, priority string, servers []netip.Addr) {
	var list []string
	for _, s := range servers {
		if familyOf(s) == family {
			list = append(list, s.String())
		}
	}
	c.files[one.Name].set(family, "dns", listed(list))
	c.files[one.Name].set(family, "dns-priority", priority)
}

// ofDNS returns the interface whose connection has the name servers of a family: the interface named with them, or the first that
// receives no others, or the first with addresses.
func (c *conversion) ofDNS(family, on string, servers []netip.Addr) (iface, error) {
	if on != "" && family == "ipv6" {
		one, found := c.find(on)
		if !found || !c.resolves(one, family) {
			return iface{}, fmt.Errorf("dns-resolver.config.server: require an interface that is up and has IPv6 addresses, found %q", on)
		}
		return one, nil
	}
	for _, fits := range []func(iface) bool{
		func(one iface) bool { return c.prefers(one, family) },
		func(one iface) bool { return c.resolves(one, family) },
	} {
		if at := slices.IndexFunc(c.interfaces, fits); at >= 0 {
			return c.interfaces[at], nil
		}
	}
	at := slices.IndexFunc(servers, func(s netip.Addr) bool { return familyOf(s) == family })
	return iface{}, fmt.Errorf(
		"dns-resolver.config.server: no interface with %s addresses for %s",
		familyName[family],
		servers[at],
	)
}

// prefers reports whether an interface receives no name servers of a family by itself.
func (c *conversion) prefers(one iface, family string) bool {
	p := one.family(family)
	return c.canHaveIP(one) && (p.static() || p.auto() && p.AutoDNS.is(false))
}

// resolves reports whether name servers of a family can be reached over an interface.
func (c *conversion) resolves(one iface, family string) bool {
	return one.up() && c.hasAddresses(one, family)
}

// addSearch writes search domains and options without servers: to connections that get theirs from DHCP or a
// router, or to any interface.
func (c *conversion) addSearch(dns dnsConfig) error {
	if len(dns.Search) == 0 && len(dns.Options) == 0 {
		return nil
	}
	for _, auto := range []bool{true, false} {
		for _, one := range c.interfaces {
			for _, family := range []string{"ipv6", "ipv4"} {
				if !c.resolves(one, family) || auto && !one.family(family).auto() {
					continue
				}
				set := c.files[one.Name].to(family)
				set("dns-priority", firstDNS)
				set("dns-search", listed(dns.Search))
				set("dns-options", listed(dns.Options))
				return nil
			}
		}
	}
	return fmt.Errorf(
		"dns-resolver.config.search: no interface with addresses for %q",
		strings.Join(slices.Concat(dns.Search, dns.Options), " "),
	)
}
