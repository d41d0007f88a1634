package staticnet

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
)

// bondModes are the kernel's modes (Documentation/networking/bonding.rst), in the order of their numbers.
var bondModes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}

// bondOptions are NMState's options of a bond.
var bondOptions = map[string]option{
	"ad_actor_sys_prio": {value: upTo(math.MaxUint16)},
	"ad_actor_system":   {value: actorSystem},
	"ad_select":         {value: oneOf("stable", "bandwidth", "count")},
	"ad_user_port_key":  {value: upTo(1023)},
	"all_slaves_active": {value: slavesActive},
	"arp_all_targets":   {value: oneOf("any", "all")},
	"arp_interval":      {value: upTo(math.MaxInt32)},
	"arp_ip_target":     {value: arpTargets},
	"arp_validate":      {value: oneOf("none", "active", "backup", "all", "filter", "filter_active", "filter_backup")},
	"balance-slb":       {value: oneZero},
	"balance_slb":       {value: oneZero, name: "balance-slb"},
	"downdelay":         {value: upTo(math.MaxInt32)},
	"fail_over_mac":     {value: oneOf("none", "active", "follow")},
	"lacp_rate":         {value: oneOf("slow", "fast")},
	"lp_interval":       {value: between(1, math.MaxInt32)},
	"miimon":            {value: upTo(math.MaxInt32)},
	"min_links":         {value: upTo(math.MaxInt32)},
	"num_grat_arp":      {value: upTo(math.MaxUint8)},
	"num_unsol_na":      {value: upTo(math.MaxUint8)},
	"packets_per_slave": {value: upTo(math.MaxUint16)},
	"primary":           {value: interfaceName},
	"primary_reselect":  {value: oneOf("always", "better", "failure")},
	"resend_igmp":       {value: upTo(math.MaxUint8)},
	"tlb_dynamic_lb":    {value: oneZero},
	"updelay":           {value: upTo(math.MaxInt32)},
	"use_carrier":       {value: oneZero},
	"xmit_hash_policy":  {value: oneOf("layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac")},
}

// slavesActive has words as values and is written as a number.
func slavesActive(value any) (string, error) {
	word, err := oneOf("dropped", "delivered")(value)
	return map[string]string{"dropped": "0", "delivered": "1"}[word], err
}

func actorSystem(value any) (string, error) {
	mac, err := macAddress(value)
	if err == nil && strings.HasPrefix(mac, "01:00:5E") {
		return "", fmt.Errorf("require an address that is no multicast one, found %s", mac)
	}
	return mac, err
}

func arpTargets(value any) (string, error) {
	text, _ := value.(string)
	for one := range strings.SplitSeq(text, ",") {
		if ip, err := netip.ParseAddr(one); text != "" && (err != nil || !ip.Is4()) {
			return "", fmt.Errorf("require IPv4 addresses with commas between, found %q", fmt.Sprint(value))
		}
	}
	return text, nil
}

func interfaceName(value any) (string, error) {
	text, _ := value.(string)
	if !nicName.MatchString(text) {
		return "", fmt.Errorf("require the name of an interface, found %q", fmt.Sprint(value))
	}
	return text, nil
}

// settings returns the mode and the options as NetworkManager reads them.
func (b *bond) settings() (map[string]string, error) {
	if b.Mode == nil {
		return nil, fmt.Errorf("mode is required: one of %s", strings.Join(bondModes, ", "))
	}
	mode, err := oneOf(bondModes...)(b.Mode)
	if strings.EqualFold(fmt.Sprint(b.Mode), "lacp") {
		mode, err = "802.3ad", nil
	}
	if err != nil {
		return nil, fmt.Errorf("mode: %w", err)
	}
	out := map[string]string{}
	err = convertOptions("options", b.Options, bondOptions, func(name, value string) { out[name] = value })
	out["mode"] = mode
	return out, err
}

// bondRules are the dependencies between options, from NMState and from NetworkManager, which would refuse the
// whole connection.
var bondRules = []struct {
	at, require string
	broken      func(o map[string]string) bool
}{
	{"lacp_rate", "mode 802.3ad with it", func(o map[string]string) bool { return o["lacp_rate"] != "" && o["mode"] != "802.3ad" }},
	{"primary", "mode active-backup, balance-tlb or balance-alb with it", func(o map[string]string) bool {
		return o["primary"] != "" && !slices.Contains([]string{"active-backup", "balance-tlb", "balance-alb"}, o["mode"])
	}},
	{
		"arp_interval",
		"miimon or it, not both",
		func(o map[string]string) bool { return positive(o, "miimon") && positive(o, "arp_interval") },
	},
	{"arp_interval", "another mode than 802.3ad, balance-tlb and balance-alb with it", func(o map[string]string) bool {
		return positive(o, "arp_interval") && slices.Contains([]string{"802.3ad", "balance-tlb", "balance-alb"}, o["mode"])
	}},
	{"arp_interval", "arp_ip_target with it", func(o map[string]string) bool {
		return positive(o, "arp_interval") && o["arp_ip_target"] == ""
	}},
	{"arp_ip_target", "arp_interval with it", func(o map[string]string) bool {
		return o["arp_ip_target"] != "" && !positive(o, "arp_interval")
	}},
	{"num_unsol_na", "the number of num_grat_arp", func(o map[string]string) bool {
		return o["num_unsol_na"] != "" && o["num_grat_arp"] != "" && o["num_unsol_na"] != o["num_grat_arp"]
	}},
	{"balance-slb", "mode balance-xor and xmit_hash_policy vlan+srcmac with it", func(o map[string]string) bool {
		return o["balance-slb"] == "1" && (o["mode"] != "balance-xor" || o["xmit_hash_policy"] != "vlan+srcmac")
	}},
}

func positive(o map[string]string, key string) bool { return o[key] != "" && o[key] != "0" }

func checkBond(one iface) error {
	b := one.Bond
	o, err := b.settings()
	if err != nil {
		return fmt.Errorf("link-aggregation.%w", err)
	}
	for _, rule := range bondRules {
		if rule.broken(o) {
			return fmt.Errorf("link-aggregation.options.%s: require %s, found mode %s", rule.at, rule.require, o["mode"])
		}
	}
	if len(b.names()) > max(len(b.Port), len(b.Ports), len(b.Slaves)) {
		return errors.New("link-aggregation.port: the ports must be under one name")
	}
	names := portsOf(one)
	if len(names) == 0 {
		return errors.New("link-aggregation.port: at least one interface is required")
	}
	if primary := o["primary"]; primary != "" && !slices.Contains(names, primary) {
		return fmt.Errorf("link-aggregation.options.primary: require one of the ports, found %q", primary)
	}
	return checkBondPorts(b.PortsConfig, names)
}

func checkBondPorts(ports []bondPort, names []string) error {
	queues, named := map[number]string{}, make(map[string]bool, len(names))
	for _, name := range names {
		named[name] = true
	}
	for i, p := range ports {
		at := fmt.Sprintf("link-aggregation.ports-config[%d]", i)
		switch {
		case !named[p.Name]:
			return fmt.Errorf("%s.name: require one of the ports, found %q", at, p.Name)
		case p.Queue != nil && (*p.Queue < 0 || *p.Queue > math.MaxUint16):
			return fmt.Errorf("%s.queue-id: require 0 to %d, found %d", at, math.MaxUint16, *p.Queue)
		case p.Priority != nil && (*p.Priority < math.MinInt32 || *p.Priority > math.MaxInt32):
			return fmt.Errorf("%s.priority: require a number of 32 bits, found %d", at, *p.Priority)
		case p.Queue == nil || *p.Queue == 0:
			continue
		case queues[*p.Queue] != "":
			return fmt.Errorf("%s.queue-id: require an id other than %s's, found %d", at, queues[*p.Queue], *p.Queue)
		}
		queues[*p.Queue] = p.Name
	}
	if len(ports) > 0 && len(ports) != len(names) {
		return fmt.Errorf("link-aggregation.ports-config: require each port once, found %d of %d", len(ports), len(names))
	}
	return nil
}

// keepsAddress reports whether a bond has the address of the port in use, whatever its settings say.
func (b *bond) keepsAddress() bool {
	o, err := b.settings()
	return err == nil && o["mode"] == "active-backup" && o["fail_over_mac"] == "active"
}

func (c *conversion) writeBond(file keyfile, one iface) {
	o, _ := one.Bond.settings() // checked before
	for key, value := range o {
		file.set("bond", key, value)
	}
}

func writeBondPort(file keyfile, p bondPort) {
	file.set("bond-port", "", "")
	file.setNumber("bond-port", "prio", p.Priority)
	file.setNumber("bond-port", "queue-id", p.Queue)
}
