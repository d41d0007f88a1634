package staticnet

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
)

func checkVLAN(one iface) error {
	v := one.VLAN
	switch {
	case v.ID == nil || *v.ID < 1 || *v.ID > 4094:
		return fmt.Errorf("vlan.id: require 1 to 4094%s", shown(v.ID))
	case v.Base == "":
		return fmt.Errorf("vlan.%w", errBase)
	case !slices.Contains([]string{"", "802.1q", "802.1ad"}, v.Protocol):
		return fmt.Errorf("vlan.protocol: require 802.1q or 802.1ad, found %q", v.Protocol)
	case !slices.Contains([]string{"", "none", "gvrp", "mvrp"}, v.Registration):
		return fmt.Errorf("vlan.registration-protocol: require gvrp, mvrp or none, found %q", v.Registration)
	}
	return nil
}

func shown(n *number) string {
	if n == nil {
		return ""
	}
	return ", found " + n.text()
}

// The bits of vlan.flags (nm-settings(5)).
const (
	vlanReorderHeaders = 1 << iota
	vlanGVRP
	vlanLooseBinding
	vlanMVRP
)

func (c *conversion) writeVLAN(file keyfile, one iface) {
	v, set := one.VLAN, file.to("vlan")
	flags := map[string]int{"gvrp": vlanGVRP, "mvrp": vlanMVRP}[v.Registration]
	if !v.Reorder.is(false) {
		flags |= vlanReorderHeaders
	}
	if v.Loose.is(true) {
		flags |= vlanLooseBinding
	}
	set("flags", strconv.Itoa(flags))
	set("id", v.ID.text())
	set("parent", c.reference(v.Base))
	set("protocol", map[string]string{"802.1q": "802.1Q", "802.1ad": "802.1ad"}[v.Protocol])
}

func checkVXLAN(one iface) error {
	v := one.VXLAN
	switch {
	case v.ID == nil || *v.ID < 0 || *v.ID >= 1<<24:
		return fmt.Errorf("vxlan.id: require 0 to %d%s", 1<<24-1, shown(v.ID))
	case v.Port != nil && (*v.Port < 0 || *v.Port > math.MaxUint16):
		return fmt.Errorf("vxlan.destination-port: require 0 to %d, found %d", math.MaxUint16, *v.Port)
	}
	families := map[string]bool{}
	for _, end := range []struct{ key, text string }{{"local", v.Local}, {"remote", v.Remote}} {
		if end.text == "" {
			continue
		}
		ip, err := netip.ParseAddr(end.text)
		if err != nil || ip.Zone() != "" {
			return fmt.Errorf("vxlan.%s: require an address, found %q", end.key, end.text)
		}
		families[familyOf(ip)] = true
	}
	if len(families) > 1 {
		return errors.New("vxlan.remote: must be of the same family as local")
	}
	return nil
}

func (c *conversion) writeVXLAN(file keyfile, one iface) {
	v, set := one.VXLAN, file.to("vxlan")
	set("id", v.ID.text())
	set("local", canonical(v.Local))
	set("remote", canonical(v.Remote))
	if v.Base != "" {
		set("parent", c.reference(v.Base))
	}
	file.setNumber("vxlan", "destination-port", v.Port)
	file.setFlag("vxlan", "learning", v.Learning)
}

func canonical(address string) string {
	if ip, err := netip.ParseAddr(address); err == nil {
		return ip.String()
	}
	return ""
}

// macvlanModes have the numbers that NetworkManager writes (nm-settings(5), macvlan.mode).
var macvlanModes = map[string]string{"vepa": "1", "bridge": "2", "private": "3", "passthru": "4", "source": "5"}

func checkMACVLAN(one iface) error {
	v := one.MACVLAN
	switch {
	case v.Base == "":
		return fmt.Errorf("mac-vlan.%w", errBase)
	case macvlanModes[v.Mode] == "":
		return fmt.Errorf("mac-vlan.mode: require bridge, passthru, private, source or vepa, found %q", v.Mode)
	case v.Promiscuous.is(false) && v.Mode != "passthru":
		return fmt.Errorf("mac-vlan.promiscuous: require true in mode %s, found false", v.Mode)
	}
	return nil
}

func (c *conversion) writeMACVLAN(file keyfile, one iface) {
	v, set := one.MACVLAN, file.to("macvlan")
	set("mode", macvlanModes[v.Mode])
	set("parent", c.reference(v.Base))
	set("tap", "false")
	file.setFlag("macvlan", "promiscuous", v.Promiscuous)
}

func checkVRF(one iface) error {
	if one.VRF.Port != nil && one.VRF.Ports != nil {
		return errors.New("vrf.port: the ports must be under one name")
	}
	if t := one.VRF.Table; t == nil || *t < 1 || *t > math.MaxUint32 {
		return fmt.Errorf("vrf.route-table-id: require the number of a table%s", shown(t))
	}
	return nil
}

func (c *conversion) writeVRF(file keyfile, one iface) {
	file.set("vrf", "table", one.VRF.Table.text())
}
