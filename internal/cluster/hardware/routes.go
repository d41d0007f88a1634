package hardware

import (
	"net/netip"
	"strings"

	"slipway/internal/wire"
)

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

// BestDefaultRoute returns the NIC of a family's default route with the lowest metric; empty without a default route.
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
