package staticnet

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// bridgeOptions are NMState's options of a bridge, in the limits of NetworkManager (nm-settings(5), bridge).
var bridgeOptions = map[string]option{
	"group-forward-mask":                {upTo(math.MaxUint16), ""},
	"group-fwd-mask":                    {upTo(math.MaxUint16), "group-forward-mask"},
	"hash-max":                          {upTo(math.MaxUint32), "multicast-hash-max"},
	"mac-ageing-time":                   {upTo(1_000_000), "ageing-time"},
	"multicast-last-member-count":       {upTo(math.MaxUint32), ""},
	"multicast-last-member-interval":    {upTo(math.MaxInt64), ""},
	"multicast-membership-interval":     {upTo(math.MaxInt64), ""},
	"multicast-querier":                 {trueFalse, ""},
	"multicast-querier-interval":        {upTo(math.MaxInt64), ""},
	"multicast-query-interval":          {upTo(math.MaxInt64), ""},
	"multicast-query-response-interval": {upTo(math.MaxInt64), ""},
	"multicast-query-use-ifaddr":        {trueFalse, ""},
	"multicast-router":                  {multicastRouter, ""},
	"multicast-snooping":                {trueFalse, ""},
	"multicast-startup-query-count":     {upTo(math.MaxUint32), ""},
	"multicast-startup-query-interval":  {upTo(math.MaxInt64), ""},
	"vlan-default-pvid":                 {upTo(4094), ""},
	"vlan-protocol":                     {bridgeProtocol, ""},
}

// treeOptions are the options of the spanning tree, in the limits of IEEE 802.1D.
var treeOptions = map[string]option{
	"enabled":       {trueFalse, "stp"},
	"forward-delay": {between(2, 30), ""},
	"hello-time":    {between(1, 10), ""},
	"max-age":       {between(6, 40), ""},
	"priority":      {upTo(math.MaxUint16), ""},
}

// multicastRouter goes by its number as well, which is not the order of the words.
func multicastRouter(value any) (string, error) {
	return oneOf("disabled", "auto", "enabled")(value)
}

func bridgeProtocol(value any) (string, error) {
	text, err := oneOf("802.1q", "802.1ad")(value)
	return strings.Replace(text, "1q", "1Q", 1), err
}

// ports returns the ports of a bridge under whichever name they are given.
func (b *bridge) ports() []bridgePort {
	if b == nil {
		return nil
	}
	return slices.Concat(b.Port, b.Ports)
}

// settings returns the options as NetworkManager reads them.
func (b *bridge) settings() (map[string]string, error) {
	out := map[string]string{}
	set := func(name, value string) { out[name] = value }
	rest := map[string]any{}
	for key, value := range b.Options {
		if key != "stp" {
			rest[key] = value
			continue
		}
		tree, isMap := value.(map[string]any)
		if !isMap {
			return nil, fmt.Errorf("options.stp: require a map with enabled, found %v", value)
		}
		if err := convertOptions("options.stp", tree, treeOptions, set); err != nil {
			return nil, err
		}
	}
	if rest["group-forward-mask"] != nil && rest["group-fwd-mask"] != nil {
		return nil, fmt.Errorf("options.group-fwd-mask: not allowed together with group-forward-mask")
	}
	return out, convertOptions("options", rest, bridgeOptions, set)
}

func checkBridge(one iface) error {
	if one.Bridge == nil {
		return nil
	}
	if one.Bridge.Port != nil && one.Bridge.Ports != nil {
		return errors.New("bridge.port: the ports must be under one name")
	}
	o, err := one.Bridge.settings()
	if err != nil {
		return fmt.Errorf("bridge.%w", err)
	}
	if pvid := o["vlan-default-pvid"]; pvid != "" && pvid != "1" && !one.Bridge.filters() {
		return fmt.Errorf("bridge.options.vlan-default-pvid: require a port with vlan, because nothing else filters VLANs, found %s", pvid)
	}
	for i, p := range one.Bridge.ports() {
		if err := checkBridgePort(p); err != nil {
			return fmt.Errorf("bridge.port[%d].%w", i, err)
		}
	}
	return nil
}

func checkBridgePort(p bridgePort) error {
	switch {
	case p.Name == "":
		return fmt.Errorf("name: an interface is required")
	case p.PathCost != nil && (*p.PathCost < 0 || *p.PathCost > math.MaxUint16):
		return fmt.Errorf("stp-path-cost: require 0 to %d, found %d", math.MaxUint16, *p.PathCost)
	case p.Priority != nil && (*p.Priority < 0 || *p.Priority > 63):
		return fmt.Errorf("stp-priority: require 0 to 63, found %d", *p.Priority)
	case p.VLAN == nil:
		return nil
	}
	if err := p.VLAN.check(); err != nil {
		return fmt.Errorf("vlan.%w", err)
	}
	return nil
}

func (v *bridgePortVLAN) check() error {
	switch trunk := v.Mode == "trunk"; {
	case !slices.Contains([]string{"", "trunk", "access"}, v.Mode):
		return fmt.Errorf("mode: require trunk or access, found %q", v.Mode)
	case v.Mode == "" && (v.Tag != nil || v.EnableNative != nil || v.TrunkTags != nil):
		return fmt.Errorf("mode is required: trunk or access")
	case v.Tag != nil && (*v.Tag < 0 || *v.Tag > 4094):
		return fmt.Errorf("tag: require 0 to 4094, found %d", *v.Tag)
	case trunk && v.Tag != nil && *v.Tag != 0 && !v.EnableNative.is(true):
		return fmt.Errorf("tag: enable-native is required with %d in mode trunk", *v.Tag)
	case trunk && v.TrunkTags == nil:
		return fmt.Errorf("trunk-tags: required in mode trunk")
	case v.Mode == "access" && v.EnableNative.is(true):
		return fmt.Errorf("enable-native: require it only in mode trunk, found mode access")
	case v.Mode == "access" && len(v.TrunkTags) > 0:
		return fmt.Errorf("trunk-tags: require them only in mode trunk, found mode access")
	}
	return v.checkTrunks()
}

func (v *bridgePortVLAN) checkTrunks() error {
	taken := map[number]bool{}
	for i, t := range v.TrunkTags {
		first, last, valid := t.bounds()
		if !valid || first < 0 || last > 4094 || last < first {
			return fmt.Errorf("trunk-tags[%d]: must be id, or id-range with min and max, of 0 to 4094", i)
		}
		for id := first; id <= last; id++ {
			if taken[id] {
				return fmt.Errorf("trunk-tags[%d]: require each VLAN once, found %d again", i, id)
			}
			taken[id] = true
		}
	}
	return nil
}

func (t trunkTag) bounds() (first, last number, valid bool) {
	switch {
	case t.ID != nil && t.Range == nil:
		return *t.ID, *t.ID, true
	case t.ID == nil && t.Range != nil:
		return t.Range.Min, t.Range.Max, true
	}
	return 0, 0, false
}

// filters reports whether a bridge filters VLANs, which a single port with vlan enables.
func (b *bridge) filters() bool {
	return slices.ContainsFunc(b.ports(), func(p bridgePort) bool { return p.VLAN != nil && p.VLAN.Mode != "" })
}

func (c *conversion) writeBridge(file keyfile, one iface) {
	file.set("bridge", "", "")
	if one.Bridge == nil {
		return
	}
	o, _ := one.Bridge.settings() // checked before
	for key, value := range o {
		file.set("bridge", key, value)
	}
	if one.Bridge.Port != nil || one.Bridge.Ports != nil {
		file.set("bridge", "vlan-filtering", flag(one.Bridge.filters()).text())
	}
}

func writeBridgePort(file keyfile, p bridgePort) {
	file.set("bridge-port", "vlans", p.VLAN.text())
	file.setFlag("bridge-port", "hairpin-mode", p.Hairpin)
	file.setNumber("bridge-port", "path-cost", p.PathCost)
	file.setNumber("bridge-port", "priority", p.Priority)
}

// text returns the list of VLANs of a port (nm-settings-keyfile(5), vlans).
func (v *bridgePortVLAN) text() string {
	type span struct {
		first number
		text  string
	}
	if v == nil || v.Mode == "" {
		return ""
	}
	var spans []span
	for _, t := range v.TrunkTags {
		first, last, _ := t.bounds()
		text := first.text()
		if last != first {
			text += "-" + last.text()
		}
		spans = append(spans, span{first, text})
	}
	if v.Tag != nil {
		spans = append(spans, span{*v.Tag, v.Tag.text() + " pvid untagged"})
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	out := make([]string, len(spans))
	for i, s := range spans {
		out[i] = s.text
	}
	return strings.Join(out, ",")
}
