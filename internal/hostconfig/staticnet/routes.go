package staticnet

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// mainTable is the table of routes and rules that name no table.
const mainTable = 254

// numbered returns the next key of a series in a section: route0, route1 and so on.
func (c *conversion) numbered(name, family, key string) string {
	series := name + "\x00" + family + "\x00" + key
	c.counts[series]++
	return key + strconv.Itoa(c.counts[series]-1)
}

func (r route) destination() (netip.Prefix, error) {
	to, err := parseNetwork(r.Destination)
	if err != nil {
		return to, fmt.Errorf("destination: require a network such as 0.0.0.0/0, found %q", r.Destination)
	}
	if to.Addr().Is4() && to.Addr().As4()[0] == 0 && to.Bits() >= 8 {
		return to, fmt.Errorf("destination: require 0.0.0.0/0 or a network outside 0.0.0.0/8, found %q", r.Destination)
	}
	return to, nil
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
	to, err := r.destination()
	if err != nil {
		return err
	}
	family := familyOf(to.Addr())
	one, found := c.find(r.Interface)
	switch {
	case !found:
		return fmt.Errorf("next-hop-interface: require one of the interfaces, found %q", r.Interface)
	case !one.up():
		return fmt.Errorf("next-hop-interface: require an interface that is up, found %s down", r.Interface)
	case !c.hasAddresses(one, family):
		return fmt.Errorf(
			"next-hop-interface: %s has no %s addresses, static or of DHCP",
			r.Interface,
			familyName[family],
		)
	}
	next, err := c.nextHop(r, family)
	if err != nil {
		return err
	}
	metric, err := r.metric(family)
	if err != nil {
		return err
	}
	options, err := c.routeOptions(r, family)
	if err != nil {
		return err
	}
	key := c.numbered(one.Name, family, "route")
	c.files[one.Name].set(family, key, to.String()+","+next+","+metric)
	c.files[one.Name].set(family, key+"_options", options)
	return nil
}

// nextHop returns the router; empty for a directly connected network.
func (c *conversion) nextHop(r route, family string) (string, error) {
	if r.NextHop == "" {
		return "", nil
	}
	next, err := netip.ParseAddr(r.NextHop)
	switch {
	case err != nil || next.Zone() != "" || next.Is4In6() || familyOf(next) != family:
		return "", fmt.Errorf("next-hop-address: require an %s address, found %q", familyName[family], r.NextHop)
	case next.IsUnspecified():
		return "", nil
	}
	return next.String(), nil
}

// metric returns a route's metric; the kernel's default for routes without one, or with -1, NMState's word for it.
func (r route) metric(family string) (string, error) {
	switch {
	case r.Metric != nil && (*r.Metric < -1 || *r.Metric > math.MaxUint32):
		return "", fmt.Errorf("metric: require 0 to %d, found %d", math.MaxUint32, *r.Metric)
	case r.Metric != nil && *r.Metric >= 0:
		return r.Metric.text(), nil
	case family == "ipv6":
		return "1024", nil
	}
	return "0", nil
}

// table returns the table of a route: its own, its VRF's, or the main one.
func (c *conversion) table(r route) (number, error) {
	table := number(mainTable)
	if r.Table != nil && *r.Table != 0 {
		table = *r.Table
	}
	if table < 1 || table > math.MaxUint32 {
		return 0, fmt.Errorf("table-id: require 1 to %d, found %d", math.MaxUint32, table)
	}
	if r.VRF == "" {
		return table, nil
	}
	one, found := c.find(r.VRF)
	switch {
	case !found || one.Type != "vrf" || !one.up():
		return 0, fmt.Errorf("vrf-name: require a VRF among the interfaces that is up, found %q", r.VRF)
	case r.Table != nil && *r.Table != *one.VRF.Table:
		return 0, fmt.Errorf("table-id: require %d as the VRF %s has, found %d", *one.VRF.Table, r.VRF, *r.Table)
	}
	return *one.VRF.Table, nil
}

// routeOptions returns the attributes of a route (nm-settings-keyfile(5), route_options).
func (c *conversion) routeOptions(r route, family string) (string, error) {
	table, err := c.table(r)
	if err != nil {
		return "", err
	}
	if r.Weight != nil && (family == "ipv6" || *r.Weight < 1 || *r.Weight > 256) {
		return "", fmt.Errorf("weight: require 1 to 256 with IPv4, found %d", *r.Weight)
	}
	source, err := c.nextHop(route{NextHop: r.Source}, family)
	if err != nil {
		return "", fmt.Errorf("source: require an %s address, found %q", familyName[family], r.Source)
	}
	var locked *flag
	if r.Window != nil {
		locked = new(flag)
		*locked = true // an unlocked window would only be the initial value
	}
	out := []string{"table=" + table.text()}
	for _, attribute := range []struct {
		key, name string
		value     any
	}{
		{"weight", "weight", r.Weight},
		{"cwnd", "cwnd", r.Window},
		{"cwnd", "lock-cwnd", locked},
		{"source", "src", source},
	} {
		text, err := attributeText(attribute.value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", attribute.key, err)
		}
		if text != "" {
			out = append(out, attribute.name+"="+text)
		}
	}
	return strings.Join(out, ","), nil
}

func attributeText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case *flag:
		if v != nil {
			return v.text(), nil
		}
	case *number:
		if v != nil && (*v < 1 || *v > math.MaxUint32) {
			return "", fmt.Errorf("require 1 to %d, found %d", math.MaxUint32, *v)
		}
		if v != nil {
			return v.text(), nil
		}
	}
	return "", nil
}

// parseNetwork reads a network, or an address as a network of its own.
func parseNetwork(text string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" && !ip.Is4In6() {
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err == nil && network.Addr().Is4In6() {
		err = errors.New("an IPv4 address in an IPv6 one")
	}
	return network.Masked(), err
}
