package staticnet

import (
	"net/netip"
	"reflect"
	"slices"
)

// placeholderMACs are the MAC addresses that the console of assisted-installer sends before its user has entered a host: no
// interface has one (ui-lib, ocm/components/clusterConfiguration/staticIp/data/dummyData: 01:23:45:67:89:AB with 0.0.0.0/24,
// 01:23:45:67:89:AC with 0::0/64).
var placeholderMACs = []string{"01:23:45:67:89:ab", "01:23:45:67:89:ac"}

// Waiting reports whether settings hold placeholders: they are kept for the client that sent them, and no image gets them.
func Waiting(hosts []Host) bool {
	return slices.ContainsFunc(hosts, func(h Host) bool { return h.placeholder })
}

// isPlaceholder reports whether a client still has to fill in a host: by its MAC addresses, or because an interface has an address of
// zeros alone.
func (h Host) isPlaceholder() bool {
	if slices.ContainsFunc(h.NICs, func(n NIC) bool { return slices.Contains(placeholderMACs, n.MAC) }) {
		return true
	}
	return slices.ContainsFunc(h.state.Interfaces, func(one iface) bool {
		return unspecified(one.IPv4) || unspecified(one.IPv6)
	})
}

func unspecified(p *ip) bool {
	return p != nil && slices.ContainsFunc(p.Address, func(a address) bool {
		parsed, err := netip.ParseAddr(a.IP)
		return err == nil && parsed.IsUnspecified()
	})
}

// dropRepeated leaves out interfaces that repeat one before them word by word, as the console does with a bond below the VLANs
// of two families.
func (h *Host) dropRepeated() {
	list, _ := h.tree["interfaces"].([]any)
	if len(list) != len(h.state.Interfaces) {
		return
	}
	first := map[string]int{}
	var interfaces []iface
	var kept []any
	for i, one := range h.state.Interfaces {
		if at, again := first[one.Name]; again && reflect.DeepEqual(list[at], list[i]) {
			continue
		}
		first[one.Name] = i
		interfaces, kept = append(interfaces, one), append(kept, list[i])
	}
	if len(kept) < len(list) {
		h.state.Interfaces, h.tree["interfaces"] = interfaces, kept
	}
}
