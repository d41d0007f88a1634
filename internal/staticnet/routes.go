package staticnet

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// numbered is the next key of a series in a section: route1, route2 and so on.
func (c *conversion) numbered(name, family, key string) string {
	series := name + "\x00" + family + "\x00" + key
	c.counts[series]++
	return key + strconv.Itoa(c.counts[series])
}

func (c *conversion) find(name string) (iface, bool) {
	at := slices.IndexFunc(c.interfaces, func(one iface) bool { return one.Name == name })
	if at < 0 {
		return iface{}, false
	}
	return c.interfaces[at], true
}

// addRoutes writes each route into the connection of its interface.
func (c *conversion) addRoutes() error {
	for i, r := range c.host.state.Routes.Config {
		if err := c.addRoute(r); err != nil {
			return fmt.Errorf("routes.config[%d].%w", i, err)
		}
	}
	return nil
}

func (c *conversion) addRoute(r route) error {
	destination, err := netip.ParsePrefix(r.Destination)
	if err != nil {
		return fmt.Errorf("destination: require a network such as 0.0.0.0/0, found %q", r.Destination)
	}
	family := familyOf(destination.Addr())
	one, found := c.find(r.Interface)
	switch {
	case !found:
		return fmt.Errorf("next-hop-interface: require one of the interfaces, found %q", r.Interface)
	case !c.hasFamily(one, family):
		return fmt.Errorf("next-hop-interface: require an interface with %s addresses, found %s without", familyName[family], r.Interface)
	case r.Table < 0:
		return fmt.Errorf("table-id: require a number that is not negative, found %d", r.Table)
	}
	text := destination.Masked().String()
	next, err := netip.ParseAddr(r.NextHop)
	if r.NextHop != "" && (err != nil || next.Zone() != "" || familyOf(next) != family) {
		return fmt.Errorf("next-hop-address: require an %s address, found %q", familyName[family], r.NextHop)
	}
	metric := ""
	if r.Metric != nil && *r.Metric >= 0 { // -1 is NMState's way to say none
		metric = strconv.Itoa(*r.Metric)
	}
	switch {
	case r.NextHop != "":
		text += "," + next.String()
	case metric != "":
		text += "," + map[string]string{"ipv4": "0.0.0.0", "ipv6": "::"}[family]
	}
	if metric != "" {
		text += "," + metric
	}
	key := c.numbered(one.Name, family, "route")
	file := c.files[one.Name]
	file.set(family, key, text)
	if r.Table != 0 {
		file.set(family, key+"_options", "table="+strconv.Itoa(r.Table))
	}
	return nil
}

// defaultRoute reports whether an interface leads to everywhere.
func (c *conversion) defaultRoute(one iface, family string) bool {
	return slices.ContainsFunc(c.host.state.Routes.Config, func(r route) bool {
		p, err := netip.ParsePrefix(r.Destination)
		return err == nil && r.Interface == one.Name && p.Bits() == 0 && familyOf(p.Addr()) == family
	})
}

var searchDomain = regexp.MustCompile(`^~?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$`)

// addDNS writes name servers into the connection that leads to everywhere, or the first
// with addresses of their family: NetworkManager has no other place for them.
func (c *conversion) addDNS() error {
	dns := c.host.state.DNS.Config
	servers := map[string][]string{}
	for i, text := range dns.Server {
		server, err := netip.ParseAddr(text)
		if err != nil || server.Zone() != "" {
			return fmt.Errorf("dns-resolver.config.server[%d]: require an address, found %q", i, text)
		}
		servers[familyOf(server)] = append(servers[familyOf(server)], server.String())
	}
	for key, list := range map[string][]string{"search": dns.Search, "options": dns.Options} {
		for i, text := range list {
			if key == "search" && !searchDomain.MatchString(text) || text == "" || strings.ContainsAny(text, ";\n\r\\ ") {
				return fmt.Errorf("dns-resolver.config.%s[%d]: require a name, found %q", key, i, text)
			}
		}
	}
	shared := len(dns.Search) > 0 || len(dns.Options) > 0
	for _, family := range []string{"ipv4", "ipv6"} {
		if len(servers[family]) == 0 && (!shared || len(servers) > 0) {
			continue
		}
		one, found := c.outbound(family)
		if !found {
			if len(servers[family]) == 0 {
				continue
			}
			return fmt.Errorf("dns-resolver.config.server: require an interface with %s addresses for %s, found none",
				familyName[family], servers[family][0])
		}
		file := c.files[one.Name]
		file.set(family, "dns", listed(servers[family]))
		if shared {
			file.set(family, "dns-search", listed(dns.Search))
			file.set(family, "dns-options", listed(dns.Options))
			shared = false
		}
	}
	return nil
}

// outbound is the interface that leads to everywhere, or else the first of a family.
func (c *conversion) outbound(family string) (iface, bool) {
	var candidates []iface
	for _, one := range c.interfaces {
		if c.hasFamily(one, family) {
			candidates = append(candidates, one)
		}
	}
	slices.SortStableFunc(candidates, func(a, b iface) int {
		rank := map[bool]int{false: 1}
		return cmp.Compare(rank[c.defaultRoute(a, family)], rank[c.defaultRoute(b, family)])
	})
	if len(candidates) == 0 {
		return iface{}, false
	}
	return candidates[0], true
}

// defaultRulePriority is NMState's for rules that tell none.
const defaultRulePriority = 30000

// addRules writes policy rules into a connection with a route in their table.
func (c *conversion) addRules() error {
	for i, r := range c.host.state.Rules.Config {
		at := fmt.Sprintf("route-rules.config[%d]", i)
		family, words := r.Family, []string{"priority", strconv.Itoa(defaultRulePriority)}
		if r.Priority != nil {
			words[1] = strconv.Itoa(*r.Priority)
		}
		for _, end := range []struct{ key, word, text string }{{"ip-from", "from", r.From}, {"ip-to", "to", r.To}} {
			if end.text == "" {
				continue
			}
			network, err := parseNetwork(end.text)
			if err != nil || family != "" && familyOf(network.Addr()) != family {
				return fmt.Errorf("%s.%s: require a network of one family, found %q", at, end.key, end.text)
			}
			family = familyOf(network.Addr())
			text := network.String()
			if network.IsSingleIP() {
				text = network.Addr().String()
			}
			words = append(words, end.word, text)
		}
		if family != "ipv4" && family != "ipv6" {
			return fmt.Errorf("%s: require ip-from, ip-to or the family ipv4 or ipv6, found none", at)
		}
		if r.Table <= 0 {
			return fmt.Errorf("%s.route-table: require a table, found %d", at, r.Table)
		}
		one, found := c.ofTable(family, r.Table)
		if !found {
			return fmt.Errorf("%s: require an interface with %s addresses, found none", at, familyName[family])
		}
		if len(words) == 2 {
			words = append(words, "from", map[string]string{"ipv4": "0.0.0.0/0", "ipv6": "::/0"}[family])
		}
		words = append(words, "table", strconv.Itoa(r.Table))
		c.files[one.Name].set(family, c.numbered(one.Name, family, "routing-rule"), strings.Join(words, " "))
	}
	return nil
}

func (c *conversion) ofTable(family string, table int) (iface, bool) {
	for _, r := range c.host.state.Routes.Config {
		if one, found := c.find(r.Interface); found && r.Table == table && c.hasFamily(one, family) {
			return one, true
		}
	}
	return c.outbound(family)
}

// parseNetwork reads a network, or an address as a network of its own.
func parseNetwork(text string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	return network.Masked(), err
}
