package dhcp

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

var fixedAddress = regexp.MustCompile(`fixed-address\s+([0-9.]+)\s*;`)

// Address returns the address of the last lease of a file, which is the valid lease; false when
// there is none.
func Address(leases string) (netip.Addr, bool) {
	if i := strings.LastIndex(leases, "lease {"); i > 0 {
		leases = leases[i:]
	}
	match := fixedAddress.FindStringSubmatch(leases)
	if match == nil {
		return netip.Addr{}, false
	}
	address, err := netip.ParseAddr(match[1])
	return address, err == nil
}

// plainText is text that needs no escape between quotation marks.
var plainText = regexp.MustCompile(`^[A-Za-z0-9 ._:/-]+$`)

// write returns the entry that dhclient would make of an acknowledged lease.
func write(nic string, ack *dhcpv4.DHCPv4, now time.Time) string {
	var entry strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&entry, "  "+format+";\n", args...) }
	entry.WriteString("lease {\n")
	line("interface %q", nic)
	line("fixed-address %s", ack.YourIPAddr)
	for _, o := range options {
		if value := o.value(ack); value != "" {
			line("option %s %s", o.name, value)
		}
	}
	whole := ack.IPAddressLeaseTime(0)
	for _, t := range []struct {
		name string
		span time.Duration
	}{
		{"renew", ack.IPAddressRenewalTime(whole / 2)},
		{"rebind", ack.IPAddressRebindingTime(whole * 7 / 8)}, // the defaults of RFC 2131, section 4.4.5
		{"expire", whole},
	} {
		line("%s %s", t.name, instant(now, t.span))
	}
	entry.WriteString("}\n")
	return entry.String()
}

// instant formats a time of a lease: the day of the week, date and time of UTC. A lease without an
// end, or with none that a server named, lasts.
func instant(now time.Time, span time.Duration) string {
	const infinite = 0xffffffff * time.Second
	if span <= 0 || span >= infinite/2 {
		return "never"
	}
	at := now.UTC().Add(span)
	return strconv.Itoa(int(at.Weekday())) + at.Format(" 2006/01/02 15:04:05")
}

// options are the options of a lease that are written, by their names in
// dhcp-options(5), in the order of their codes.
var options = []struct {
	name  string
	value func(ack *dhcpv4.DHCPv4) string
}{
	{"subnet-mask", func(ack *dhcpv4.DHCPv4) string { return addresses(net.IP(ack.SubnetMask())) }},
	{"routers", func(ack *dhcpv4.DHCPv4) string { return addresses(ack.Router()...) }},
	{"domain-name-servers", func(ack *dhcpv4.DHCPv4) string { return addresses(ack.DNS()...) }},
	{"host-name", func(ack *dhcpv4.DHCPv4) string { return quoted(ack.HostName()) }},
	{"domain-name", func(ack *dhcpv4.DHCPv4) string { return quoted(ack.DomainName()) }},
	{"broadcast-address", func(ack *dhcpv4.DHCPv4) string { return addresses(ack.BroadcastAddress()) }},
	{"ntp-servers", func(ack *dhcpv4.DHCPv4) string { return addresses(ack.NTPServers()...) }},
	{"dhcp-lease-time", func(ack *dhcpv4.DHCPv4) string { return seconds(ack.IPAddressLeaseTime(0)) }},
	{"dhcp-message-type", func(ack *dhcpv4.DHCPv4) string { return strconv.Itoa(int(ack.MessageType())) }},
	{"dhcp-server-identifier", func(ack *dhcpv4.DHCPv4) string { return addresses(ack.ServerIdentifier()) }},
	{"dhcp-renewal-time", func(ack *dhcpv4.DHCPv4) string { return seconds(ack.IPAddressRenewalTime(0)) }},
	{"dhcp-rebinding-time", func(ack *dhcpv4.DHCPv4) string { return seconds(ack.IPAddressRebindingTime(0)) }},
}

// addresses joins IPv4 addresses with commas.
func addresses(list ...net.IP) string {
	var texts []string
	for _, a := range list {
		if len(a) > 0 {
			texts = append(texts, a.String())
		}
	}
	return strings.Join(texts, ",")
}

// quoted puts a text between quotation marks; empty for a text that could end them.
func quoted(text string) string {
	if !plainText.MatchString(text) {
		return ""
	}
	return `"` + text + `"`
}

func seconds(span time.Duration) string {
	if span <= 0 {
		return ""
	}
	return strconv.Itoa(int(span / time.Second))
}
