package inventory

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/wire"
)

const (
	typePhysical = "physical" // contract: hardware behind it
	typeBridge   = "bridge"
)

// hostTypes are the interfaces that are the host's own, with or without an address.
var hostTypes = []string{typePhysical, "bond", "team", "vlan"}

func readInterfaces(_ context.Context, m Machine, into *wire.Inventory) error {
	links, err := m.Links.Links()
	if err != nil {
		return err
	}
	routes, err := m.Links.Routes()
	if err != nil {
		routes = nil // addresses keep the networks they came with
	}
	kinds := map[string]string{}
	for _, link := range links {
		kinds[link.Name] = m.kind(link)
	}
	for _, link := range links {
		if link.Flags&net.FlagLoopback != 0 || len(link.MAC) == 0 {
			continue
		}
		if nic := m.networkInterface(link, kinds[link.Name], routes); m.ofHost(nic, kinds) {
			into.Interfaces = append(into.Interfaces, nic)
		}
	}
	m.nameByBIOS(into.Interfaces, into.SystemVendor.Virtual)
	return nil
}

// kind returns physical for an interface with a device behind it, else its type in rtnetlink.
func (m Machine) kind(link Link) string {
	if m.exists("/sys/class/net/" + link.Name + "/device") {
		return typePhysical
	}
	return link.Type
}

// ofHost leaves out what belongs to containers: bridges without a port of the host, which
// have the same addresses on every machine, and the ends of pairs without an address.
func (m Machine) ofHost(nic wire.Interface, kinds map[string]string) bool {
	if slices.Contains(hostTypes, nic.Type) {
		return true
	}
	if nic.Type == typeBridge {
		ports := m.list("/sys/class/net/" + nic.Name + "/brif")
		return slices.ContainsFunc(ports, func(port string) bool { return slices.Contains(hostTypes, kinds[port]) })
	}
	return len(nic.Ipv4Addresses)+len(nic.Ipv6Addresses) > 0
}

func (m Machine) networkInterface(link Link, kind string, routes []Route) wire.Interface {
	sys := "/sys/class/net/" + link.Name
	nic := wire.Interface{
		Name: link.Name, MacAddress: link.MAC.String(), Mtu: link.MTU, Type: kind, HasCarrier: link.HasCarrier,
		Flags: flags(link.Flags), Vendor: m.text(sys + "/device/vendor"), Product: m.text(sys + "/device/device"),
		Ipv4Addresses: []string{}, Ipv6Addresses: []string{},
	}
	if len(link.Current) > 0 {
		nic.CurrentMacAddress = link.Current.String()
	}
	if speed, err := strconv.Atoi(m.text(sys + "/speed")); err == nil && speed > 0 {
		nic.SpeedMbps = speed // -1 without a cable and on virtual devices
	}
	for _, prefix := range link.Addresses {
		switch {
		case prefix.Addr().IsLinkLocalUnicast():
		case prefix.Addr().Is4():
			nic.Ipv4Addresses = append(nic.Ipv4Addresses, prefix.String())
		default:
			nic.Ipv6Addresses = append(nic.Ipv6Addresses, widened(prefix, link.Name, routes).String())
		}
	}
	return nic
}

// widened gives an address of DHCPv6, which comes without its network, the length of the
// network that the router announced to be on the link.
func widened(address netip.Prefix, link string, routes []Route) netip.Prefix {
	if !address.IsSingleIP() {
		return address
	}
	bits := 0
	for _, r := range routes {
		onLink := r.Interface == link && !r.Gateway.IsValid() && !r.Destination.IsSingleIP()
		if onLink && r.Destination.Contains(address.Addr()) {
			bits = max(bits, r.Destination.Bits())
		}
	}
	if bits == 0 {
		return address
	}
	return netip.PrefixFrom(address.Addr(), bits)
}

func flags(f net.Flags) []string {
	if f == 0 {
		return nil
	}
	return strings.Split(f.String(), "|")
}

// nameByBIOS adds the names of ports on the board (em1), by the numbers that the firmware
// gave them (Linux, Documentation/ABI/testing/sysfs-bus-pci, "index"). The firmware of
// virtual machines numbers nothing that anybody sees.
func (m Machine) nameByBIOS(nics []wire.Interface, virtual bool) {
	for n := range nics {
		index := m.text("/sys/class/net/" + nics[n].Name + "/device/index")
		if number, err := strconv.Atoi(index); err == nil && number > 0 && nics[n].Type == typePhysical && !virtual {
			nics[n].Biosdevname = "em" + strconv.Itoa(number)
		}
	}
}
