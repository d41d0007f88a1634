package staticnet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// bondModes are those of the kernel (Documentation/networking/bonding.rst).
var bondModes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}

// bondOptions are those NetworkManager passes on (nm-settings(5), bond.options).
var bondOptions = []string{
	"active_slave", "ad_actor_sys_prio", "ad_actor_system", "ad_select", "ad_user_port_key", "all_slaves_active", "arp_all_targets",
	"arp_interval", "arp_ip_target", "arp_validate", "balance-slb", "downdelay", "fail_over_mac", "lacp_rate", "lp_interval", "miimon",
	"min_links", "num_grat_arp", "num_unsol_na", "packets_per_slave", "peer_notif_delay", "primary", "primary_reselect", "resend_igmp",
	"tlb_dynamic_lb", "updelay", "use_carrier", "xmit_hash_policy",
}

// checkKind holds what the type of an interface needs besides its name.
func checkKind(at string, one iface) error {
	for _, section := range []struct {
		key, kind string
		found     bool
		required  bool
	}{
		{"vlan", "vlan", one.VLAN != nil, true},
		{"link-aggregation", "bond", one.Bond != nil, true},
		{"bridge", "linux-bridge", one.Bridge != nil, false},
	} {
		switch {
		case section.found && one.Type != section.kind:
			return fmt.Errorf("%s.%s: require it only with type %s, found type %s", at, section.key, section.kind, one.Type)
		case !section.found && section.required && one.Type == section.kind:
			return fmt.Errorf("%s.%s: require it with type %s, found none", at, section.key, section.kind)
		}
	}
	switch one.Type {
	case "vlan":
		if one.VLAN.ID < 1 || one.VLAN.ID > 4094 {
			return fmt.Errorf("%s.vlan.id: require 1 to 4094, found %d", at, one.VLAN.ID)
		}
		if one.VLAN.Base == "" {
			return fmt.Errorf("%s.vlan.base-iface: require an interface, found none", at)
		}
	case "bond":
		return checkBond(at+".link-aggregation", one.Bond)
	}
	return nil
}

func checkBond(at string, b *bond) error {
	if !slices.Contains(bondModes, b.Mode) {
		return fmt.Errorf("%s.mode: require one of %s, found %q", at, strings.Join(bondModes, ", "), b.Mode)
	}
	if len(b.ports()) == 0 {
		return fmt.Errorf("%s.port: require at least one interface, found none", at)
	}
	for _, name := range sortedKeys(b.Options) {
		if !slices.Contains(bondOptions, name) {
			return fmt.Errorf("%s.options.%s: require an option that NetworkManager knows, found another", at, name)
		}
		if text := fmt.Sprint(b.Options[name]); text == "" || strings.ContainsAny(text, "\n\r;=\\") {
			return fmt.Errorf("%s.options.%s: require a value, found %q", at, name, text)
		}
	}
	return nil
}

// convertEthernet writes what all kinds share of Ethernet, and how a machine's own
// interface is found.
func (c *conversion) convertEthernet(file *keyfile, one iface) {
	own := c.host.mac(one.Name)
	if one.Type == "ethernet" {
		file.set("ethernet", "mac-address", strings.ToUpper(own))
	}
	if one.MAC != "" && (one.Type != "ethernet" || !strings.EqualFold(one.MAC, own)) {
		file.set("ethernet", "cloned-mac-address", strings.ToUpper(one.MAC))
	}
	file.setInt("ethernet", "mtu", one.MTU)
	if e := one.Ethernet; e != nil {
		file.setBool("ethernet", "auto-negotiate", e.AutoNegotiation)
		file.setInt("ethernet", "speed", e.Speed)
		file.set("ethernet", "duplex", e.Duplex)
	}
}

func (c *conversion) convertKind(file *keyfile, one iface) error {
	switch one.Type {
	case "ethernet":
		return checkLink(one.Ethernet)
	case "vlan":
		file.set("vlan", "flags", "1") // REORDER_HEADERS, as the kernel does by itself
		file.set("vlan", "id", strconv.Itoa(one.VLAN.ID))
		file.set("vlan", "parent", c.connectionID(one.VLAN.Base))
	case "bond":
		file.set("bond", "mode", one.Bond.Mode)
		for _, name := range sortedKeys(one.Bond.Options) {
			file.set("bond", name, optionText(one.Bond.Options[name]))
		}
	case "linux-bridge":
		convertBridge(file, one.Bridge)
	case "dummy":
		file.set("dummy", "", "")
	}
	return nil
}

// checkLink holds speed and duplex, which belong together (nm-settings(5), 802-3-ethernet).
func checkLink(e *ethernet) error {
	if e == nil {
		return nil
	}
	if !slices.Contains([]string{"", "full", "half"}, e.Duplex) {
		return fmt.Errorf("ethernet.duplex: require full or half, found %q", e.Duplex)
	}
	if (e.Speed != nil) != (e.Duplex != "") {
		return fmt.Errorf("ethernet: require speed and duplex together, found one of them")
	}
	if e.Speed != nil && *e.Speed <= 0 {
		return fmt.Errorf("ethernet.speed: require a speed in Mb/s, found %d", *e.Speed)
	}
	return nil
}

// optionText is a YAML scalar as NetworkManager reads it.
func optionText(value any) string {
	switch v := value.(type) {
	case bool:
		return strconv.Itoa(map[bool]int{true: 1}[v])
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

func convertBridge(file *keyfile, b *bridge) {
	file.set("bridge", "", "")
	if b == nil {
		return
	}
	stp := b.Options.STP
	file.setBool("bridge", "stp", stp.Enabled)
	file.setInt("bridge", "priority", stp.Priority)
	file.setInt("bridge", "forward-delay", stp.ForwardDelay)
	file.setInt("bridge", "hello-time", stp.HelloTime)
	file.setInt("bridge", "max-age", stp.MaxAge)
	file.setInt("bridge", "ageing-time", b.Options.AgeingTime)
	file.setInt("bridge", "group-forward-mask", b.Options.GroupForwardMask)
}
