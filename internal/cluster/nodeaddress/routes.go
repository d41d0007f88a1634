package nodeaddress

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"slipway/internal/model"
	"slipway/internal/wire"
)

// address is one of a host.
type address struct {
	prefix netip.Prefix // with the length of its network
	nic    string
	metric int32 // of the default route of its NIC and family; only in what routed returns
}

// addressesOf lists the addresses of a host but link-local ones, in the order of its inventory.
func addressesOf(h *model.Host) []address {
	if h.Inventory == nil {
		return nil
	}
	var out []address
	for i := range h.Inventory.Interfaces {
		nic := &h.Inventory.Interfaces[i]
		for _, text := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			if p, err := netip.ParsePrefix(text); err == nil && !p.Addr().IsLinkLocalUnicast() {
				out = append(out, address{prefix: netip.PrefixFrom(p.Addr().Unmap(), p.Bits()), nic: nic.Name})
			}
		}
	}
	return out
}

// routed lists the addresses of a family on NICs with a default route of that family, best route first, and the
// lowest address first on one NIC.
func routed(h *model.Host, is4 bool) []address {
	metrics := DefaultRoutes(h.Inventory, is4)
	var out []address
	for _, a := range addressesOf(h) {
		if metric, ok := metrics[a.nic]; ok && a.prefix.Addr().Is4() == is4 {
			a.metric = metric
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b address) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.nic, b.nic), a.prefix.Addr().Compare(b.prefix.Addr()))
	})
	return out
}

// DefaultRoutes returns the NICs with a default route of a family, each with the metric of its best one. A
// default route has a gateway.
func DefaultRoutes(inv *wire.Inventory, is4 bool) map[string]int32 {
	out := map[string]int32{}
	if inv == nil {
		return out
	}
	for i := range inv.Routes {
		r := &inv.Routes[i]
		if !isDefault(r, is4) {
			continue
		}
		if best, ok := out[r.Interface]; !ok || r.Metric < best {
			out[r.Interface] = r.Metric
		}
	}
	return out
}

// BestDefaultRoute returns the NIC that packets of a family leave by default, the one with the lowest metric;
// empty without a default route.
func BestDefaultRoute(inv *wire.Inventory, is4 bool) string {
	if inv == nil {
		return ""
	}
	var best *wire.Route
	for i := range inv.Routes {
		if r := &inv.Routes[i]; isDefault(r, is4) && (best == nil || r.Metric < best.Metric) {
			best = r
		}
	}
	if best == nil {
		return ""
	}
	return best.Interface
}

func isDefault(r *wire.Route, is4 bool) bool {
	destination, _, _ := strings.Cut(r.Destination, "/")
	to, err := netip.ParseAddr(destination)
	gateway, gatewayErr := netip.ParseAddr(r.Gateway)
	return err == nil && gatewayErr == nil && to.IsUnspecified() && !gateway.IsUnspecified() && to.Is4() == is4
}
