package inventory

import (
	"context"

	"slipway/internal/wire"
)

// The address families of routes (AF_INET and AF_INET6 of Linux).
const (
	familyIPv4 = 2
	familyIPv6 = 10
)

// readRoutes lists the main routing table, each way of a route that has several.
func readRoutes(_ context.Context, m Machine, into *wire.Inventory) error {
	routes, err := m.Links.Routes()
	if err != nil {
		return err
	}
	for _, r := range routes {
		route := wire.Route{
			Interface: r.Interface, Metric: int32(r.Metric), Family: familyIPv6, //nolint:gosec // 32 bits in the kernel
			Destination: r.Destination.Addr().String(), // the contract's has no length of the network
		}
		if r.Destination.Addr().Is4() {
			route.Family = familyIPv4
		}
		if r.Gateway.IsValid() {
			route.Gateway = r.Gateway.String()
		}
		into.Routes = append(into.Routes, route)
	}
	return nil
}
