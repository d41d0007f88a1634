package staticnet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// kind is a type of interfaces.
type kind struct {
	nm     string // as NetworkManager calls it (nm-settings(5), connection.type)
	member string // as it calls the owner of ports, when these may have ports
	check  func(one iface) error
	write  func(c *conversion, file keyfile, one iface)
}

// kinds are the supported types of interfaces, by NMState's name.
var kinds = map[string]kind{
	"ethernet":     {nm: "802-3-ethernet", check: checkEthernet, write: (*conversion).writeEthernet},
	"bond":         {nm: "bond", member: "bond", check: checkBond, write: (*conversion).writeBond},
	"linux-bridge": {nm: "bridge", member: "bridge", check: checkBridge, write: (*conversion).writeBridge},
	"vlan":         {nm: "vlan", check: checkVLAN, write: (*conversion).writeVLAN},
	"vxlan":        {nm: "vxlan", check: checkVXLAN, write: (*conversion).writeVXLAN},
	"mac-vlan":     {nm: "macvlan", check: checkMACVLAN, write: (*conversion).writeMACVLAN},
	"vrf":          {nm: "vrf", member: "vrf", check: checkVRF, write: (*conversion).writeVRF},
	"dummy":        {nm: "dummy"},
}

// refusedKinds are types of NMState that are refused, each with its reason.
var refusedKinds = map[string]string{
	"ovs-bridge":    openVSwitch,
	"ovs-interface": openVSwitch,
	"ovs-port":      openVSwitch,
	"infiniband":    "mac_interface_map takes addresses of Ethernet, of 6 bytes",
	"loopback":      "it exists by itself, give further addresses to an interface of type dummy",
	"veth":          "pairs inside one machine reach no other machine",
	"mac-vtap":      "it is for virtual machines, use a mac-vlan",
	"ipvlan":        "NetworkManager knows it from 1.52 on, use a mac-vlan",
	"macsec":        "its secrets would be readable by every holder of the image",
	"ipsec":         "its secrets would be readable by every holder of the image",
	"hsr":           "NetworkManager knows it from 1.46 on",
	"ip-tunnel":     "a tunnel needs a network that is up, let the cluster set it up",
	"wifi-phy":      "a wireless network has secrets, and images are no place for them",
	"team":          "NetworkManager no longer has it, use a bond",
	"unknown":       "name what it is",
}

func checkType(name string) error {
	if _, known := kinds[name]; known {
		return nil
	}
	why := ""
	if reason, refused := refusedKinds[name]; refused {
		why = " (" + reason + ")"
	}
	return fmt.Errorf("type: require one of %s, found %q%s", strings.Join(sortedKeys(kinds), ", "), name, why)
}

// checkSections refuses settings of one type at an interface of another one.
func checkSections(one iface) error {
	for _, section := range []struct {
		key, kind string
		found     bool
	}{
		{"vlan", "vlan", one.VLAN != nil},
		{"vxlan", "vxlan", one.VXLAN != nil},
		{"mac-vlan", "mac-vlan", one.MACVLAN != nil},
		{"vrf", "vrf", one.VRF != nil},
		{"link-aggregation", "bond", one.Bond != nil},
		{"bridge", "linux-bridge", one.Bridge != nil},
		{"ethernet", "ethernet", one.Ethernet != nil},
	} {
		if section.found && one.Type != section.kind {
			return fmt.Errorf("%s: require it only with type %s, found type %s", section.key, section.kind, one.Type)
		}
		if !section.found && one.Type == section.kind && !slices.Contains([]string{"linux-bridge", "ethernet"}, one.Type) {
			return fmt.Errorf("%s: required with type %s", section.key, section.kind)
		}
	}
	return nil
}

// parentOf returns the interface that another one runs over.
func parentOf(one iface) string {
	switch one.Type {
	case "vlan":
		return one.VLAN.Base
	case "vxlan":
		return one.VXLAN.Base
	case "mac-vlan":
		return one.MACVLAN.Base
	}
	return ""
}

// portsOf returns the interfaces that an interface is made of.
func portsOf(one iface) []string {
	var out []string
	switch one.Type {
	case "bond":
		if out = one.Bond.names(); len(out) == 0 {
			for _, p := range one.Bond.PortsConfig {
				out = append(out, p.Name)
			}
		}
	case "vrf":
		out = slices.Concat(one.VRF.Port, one.VRF.Ports)
	case "linux-bridge":
		for _, p := range one.Bridge.ports() {
			out = append(out, p.Name)
		}
	}
	return out
}

var errBase = errors.New("base-iface: an interface is required")
