package staticnet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// NMState returns the YAML of a host for its nmstatectl: the input, with <MAC address> in place of the names in
// the map. Script replaces them by the machine's names, which are unknown before it runs.
func NMState(h Host) ([]byte, error) {
	tree, isMap := clone(h.tree).(map[string]any)
	if !isMap {
		return nil, fmt.Errorf("a network state in YAML is required")
	}
	for _, one := range eachMap(tree["interfaces"]) {
		h.renameInterface(one)
	}
	for _, r := range eachMap(child(tree, "routes")["config"]) {
		h.rename(r, "next-hop-interface")
		if vrf, found := r["vrf-name"]; found {
			delete(r, "vrf-name") // later than its table
			r["table-id"] = json.Number(h.tableOf(fmt.Sprint(vrf)))
		}
	}
	for _, r := range eachMap(child(tree, "route-rules")["config"]) {
		h.rename(r, "iif")
	}
	servers, _ := child(child(tree, "dns-resolver"), "config")["server"].([]any)
	for i, server := range servers {
		address, zone, _ := strings.Cut(fmt.Sprint(server), "%")
		if mac := h.mapped(zone); mac != "" {
			servers[i] = address + "%" + placeholder(mac)
		}
	}
	out, err := yaml.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("write the network state: %w", err)
	}
	return out, nil
}

func placeholder(mac string) string { return "<" + mac + ">" }

func (h Host) renameInterface(one map[string]any) {
	name := fmt.Sprint(one["name"])
	if one["type"] == nil {
		one["type"] = "ethernet"
	}
	if from, copies := one["copy-mac-from"]; copies {
		// An address that only the map has is unknown there.
		delete(one, "copy-mac-from")
		one["mac-address"] = h.addressOf(fmt.Sprint(from))
	}
	if h.mapped(name) != "" && one["identifier"] == "mac-address" {
		delete(one, "identifier") // the name that it gets has the same content
		delete(one, "mac-address")
	}
	h.rename(one, "name")
	for _, key := range []string{"vlan", "vxlan", "mac-vlan"} {
		h.rename(child(one, key), "base-iface")
	}
	h.renameAll(child(one, "vrf"), "port", "ports")
	if b, found := one["bond"]; found {
		delete(one, "bond")
		one["link-aggregation"] = b
	}
	h.renameBond(one)
	for _, key := range []string{"port", "ports"} {
		for _, p := range eachMap(child(one, "bridge")[key]) {
			h.rename(p, "name")
		}
	}
	delete(child(one, "bridge"), "allow-extra-ports") // about checks after the fact
}

func (h Host) renameBond(one map[string]any) {
	b := child(one, "link-aggregation")
	if config, found := h.find(fmt.Sprint(one["name"])); found {
		settings, _ := config.Bond.settings() // checked before
		b["mode"] = settings["mode"]          // whose names have become more
		if config.Bond.keepsAddress() {
			delete(one, "mac-address") // once refused, later ignored
		}
	}
	if slaves, former := b["slaves"]; former {
		delete(b, "slaves")
		b["port"] = slaves
	}
	h.renameAll(b, "port", "ports")
	h.rename(child(b, "options"), "primary")
	for _, p := range eachMap(b["ports-config"]) {
		h.rename(p, "name")
	}
}

// find finds a bond of the settings.
func (h Host) find(name string) (iface, bool) {
	one, err := complete(h.configured(name))
	return one, err == nil && one.Bond != nil
}

// tableOf returns the table of a VRF.
func (h Host) tableOf(name string) string {
	if vrf := h.configured(name).VRF; vrf != nil {
		return vrf.Table.text()
	}
	return ""
}

// addressOf returns the MAC address that an interface will have.
func (h Host) addressOf(name string) string {
	return cmp.Or(h.configured(name).MAC, h.mac(name))
}

func (h Host) rename(node map[string]any, key string) {
	value, found := node[key]
	if mac := h.mapped(fmt.Sprint(value)); found && mac != "" {
		node[key] = placeholder(mac)
	}
}

func (h Host) renameAll(node map[string]any, keys ...string) {
	for _, key := range keys {
		list, _ := node[key].([]any)
		for i, name := range list {
			if mac := h.mapped(fmt.Sprint(name)); mac != "" {
				list[i] = placeholder(mac)
			}
		}
	}
}

// child returns a map in a map; an empty one when it is missing.
func child(node map[string]any, key string) map[string]any {
	found, _ := node[key].(map[string]any)
	return found
}

// eachMap yields the maps in a list.
func eachMap(list any) []map[string]any {
	var out []map[string]any
	items, _ := list.([]any)
	for _, item := range items {
		if one, isMap := item.(map[string]any); isMap {
			out = append(out, one)
		}
	}
	return out
}

func clone(node any) any {
	switch n := node.(type) {
	case map[string]any:
		out := make(map[string]any, len(n))
		for key, value := range n {
			out[key] = clone(value)
		}
		return out
	case []any:
		out := make([]any, len(n))
		for i, value := range n {
			out[i] = clone(value)
		}
		return out
	}
	return node
}
