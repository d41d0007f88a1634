package staticnet

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
)

// forever is how long NetworkManager waits for a reply of DHCP or a router, in seconds: a switch that is slow
// to forward is no reason to stay without a network.
const forever = "2147483647"

// convertIP writes one family of addresses of an interface.
func convertIP(file keyfile, family string, p *ip) error {
	if err := checkIP(family, p); err != nil {
		return err
	}
	set := file.to(family)
	set("method", ipMethod(family, p))
	set("dhcp-timeout", forever)
	if family == "ipv6" && p != nil {
		set("addr-gen-mode", map[string]string{"": "0", "eui64": "0", "stable-privacy": "1"}[p.AddrGenMode])
	}
	if !p.enabled() {
		return nil
	}
	for i, a := range p.Address {
		prefix, err := parseAddress(family, a)
		if err != nil {
			return fmt.Errorf("address[%d].%w", i, err)
		}
		set("address"+strconv.Itoa(i), prefix.String())
	}
	if p.auto() {
		convertAuto(file, family, p)
	}
	return nil
}

// convertAuto writes which values of DHCP and router advertisements are used, and what the client sends to
// them.
func convertAuto(file keyfile, family string, p *ip) {
	set := file.to(family)
	for _, auto := range []struct {
		wanted *flag
		key    string
	}{{p.AutoDNS, "ignore-auto-dns"}, {p.AutoGateway, "never-default"}, {p.AutoRoutes, "ignore-auto-routes"}} {
		set(auto.key, flag(auto.wanted.is(false)).text())
	}
	file.setNumber(family, "route-table", p.AutoRouteTable)
	if family == "ipv4" || !p.Autoconf.is(false) {
		file.setNumber(family, "route-metric", p.AutoMetric)
	}
	if family == "ipv4" {
		set("dhcp-client-id", clientID(p.ClientID))
	} else {
		set("ra-timeout", forever)
		set("dhcp-iaid", "mac")
		set("dhcp-duid", "ll")
		if p.DUID != "" {
			set("dhcp-duid", p.DUID)
		}
		if token, err := netip.ParseAddr(p.Token); err == nil && !token.IsUnspecified() {
			set("token", token.String())
		}
	}
	send := !p.SendHostname.is(false)
	set("dhcp-send-hostname", flag(send).text())
	if send && p.CustomHostname != "" {
		set(hostnameKey(family, p.CustomHostname), p.CustomHostname)
	}
}

// clientID returns NetworkManager's word for NMState's client ID.
func clientID(id string) string {
	switch id {
	case "", "ll":
		return "mac"
	case "iaid+duid":
		return "duid"
	}
	return id
}

// hostnameKey distinguishes a full name from a bare one, for which DHCP for IPv4 has two options.
func hostnameKey(family, name string) string {
	if family == "ipv4" && slices.Contains([]rune(name), '.') {
		return "dhcp-fqdn"
	}
	return "dhcp-hostname"
}

func checkIP(family string, p *ip) error {
	if p == nil {
		return nil
	}
	if p.Enabled == nil && (p.DHCP.is(true) || p.Autoconf.is(true) || len(p.Address) > 0) {
		return errors.New("enabled: true is required with dhcp, autoconf or addresses")
	}
	for _, key := range []struct {
		name, family string
		found        bool
	}{
		{"autoconf", "ipv6", p.Autoconf != nil},
		{"addr-gen-mode", "ipv6", p.AddrGenMode != ""},
		{"dhcp-duid", "ipv6", p.DUID != ""},
		{"token", "ipv6", p.Token != ""},
		{"dhcp-client-id", "ipv4", p.ClientID != ""},
	} {
		if key.found && key.family != family {
			return fmt.Errorf("%s: allowed only for %s, not for %s", key.name, key.family, family)
		}
	}
	switch {
	case !slices.Contains([]string{"", "eui64", "stable-privacy"}, p.AddrGenMode):
		return fmt.Errorf("addr-gen-mode: require eui64 or stable-privacy, found %q", p.AddrGenMode)
	case p.enabled() && p.Autoconf.is(true) && !p.DHCP.is(true):
		return errors.New("autoconf: dhcp is required with it, because NetworkManager cannot use autoconf alone")
	case p.ClientID != "" && !plain.MatchString(p.ClientID):
		return fmt.Errorf("dhcp-client-id: require ll, iaid+duid or bytes such as 01:52:54:00, found %q", p.ClientID)
	case p.DUID != "" && !duid.MatchString(p.DUID):
		return fmt.Errorf("dhcp-duid: require ll, llt or bytes such as 00:03:00:01, found %q", p.DUID)
	case p.CustomHostname != "" && !plain.MatchString(p.CustomHostname):
		return fmt.Errorf("dhcp-custom-hostname: require a host name, found %q", p.CustomHostname)
	}
	return checkMetrics(p)
}

// duid returns NetworkManager's word for one of NMState's, or NetworkManager's own word unchanged.
var duid = regexp.MustCompile(`^(lease|llt?|stable-(llt?|uuid)|[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){2,127})$`)

func checkMetrics(p *ip) error {
	for _, metric := range []struct {
		key    string
		value  *number
		lowest number
	}{{"auto-route-metric", p.AutoMetric, -1}, {"auto-route-table-id", p.AutoRouteTable, 0}} {
		if v := metric.value; v != nil && (*v < metric.lowest || *v > math.MaxUint32) {
			return fmt.Errorf("%s: require %d to %d, found %d", metric.key, metric.lowest, math.MaxUint32, *v)
		}
	}
	if p.Token == "" {
		return nil
	}
	token, err := netip.ParseAddr(p.Token)
	if err != nil || !token.Is6() || token.Zone() != "" || token != netip.AddrFrom16(interfaceHalf(token)) {
		return fmt.Errorf("token: require the last 64 bits of an address such as ::10, found %q", p.Token)
	}
	if !p.Autoconf.is(true) && !token.IsUnspecified() {
		return fmt.Errorf("token: autoconf is required with %q", p.Token)
	}
	return nil
}

// interfaceHalf returns an IPv6 address without its network.
func interfaceHalf(ip netip.Addr) [16]byte {
	out := ip.As16()
	clear(out[:8])
	return out
}

// ipMethod returns how an interface gets its addresses (nm-settings(5), ipv4.method and ipv6.method).
func ipMethod(family string, p *ip) string {
	switch {
	case !p.enabled():
		return "disabled"
	case p.DHCP.is(true) && (p.Autoconf.is(true) || family == "ipv4"):
		return "auto"
	case p.DHCP.is(true):
		return "dhcp"
	case len(p.Address) > 0:
		return "manual"
	case family == "ipv6":
		return "link-local"
	}
	return "disabled"
}

func parseAddress(family string, a address) (netip.Prefix, error) {
	ip, err := netip.ParseAddr(a.IP)
	switch {
	case err != nil || ip.Zone() != "" || ip.Is4In6() || familyOf(ip) != family:
		return netip.Prefix{}, fmt.Errorf("ip: require an %s address, found %q", familyName[family], a.IP)
	case ip.Is6() && ip.IsLinkLocalUnicast():
		return netip.Prefix{}, fmt.Errorf(
			"ip: require an address that is not link-local, because the machine makes that itself, found %s",
			a.IP,
		)
	case ip.IsUnspecified() || ip.IsMulticast() || ip.Is6() && ip.IsLoopback():
		return netip.Prefix{}, fmt.Errorf("ip: require an address that an interface can have, found %s", a.IP)
	case a.Prefix == nil:
		return netip.Prefix{}, errors.New("prefix-length is required")
	case *a.Prefix < 0 || int64(*a.Prefix) > int64(ip.BitLen()):
		return netip.Prefix{}, fmt.Errorf("prefix-length: require 0 to %d, found %d", ip.BitLen(), *a.Prefix)
	}
	return netip.PrefixFrom(ip, int(*a.Prefix)), nil
}

var familyName = map[string]string{"ipv4": "IPv4", "ipv6": "IPv6"}

func familyOf(ip netip.Addr) string {
	if ip.Is4() {
		return "ipv4"
	}
	return "ipv6"
}
