package nodeaddress

import (
	"cmp"
	"net/netip"
	"slices"

	"slipway/internal/cluster/hardware"
	"slipway/internal/model"
)

// address is an address of a host.
type address struct {
	prefix netip.Prefix // with the length of its network
	nic    string
	metric int32 // of the default route of its NIC and family; only in what routed returns
}

// addressesOf lists the addresses of a host but link-local ones, in the order of its inventory.
func addressesOf(h *model.Host) []address {
	var out []address
	for _, nic := range hardware.NICs(h.Inventory) {
		for _, p := range nic.Addresses {
			out = append(out, address{prefix: p, nic: nic.Name})
		}
	}
	return out
}

// routed lists the addresses of a family on NICs with a default route of that family, best route first, and the
// lowest address first on one NIC.
func routed(h *model.Host, is4 bool) []address {
	metrics := hardware.DefaultRoutes(h.Inventory, is4)
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
