package inventory

import (
	"context"
	"net/netip"

	"slipway/internal/wire"
)

// What the inventory says when there is no management controller
// (docs/reference/agent-protocol.md, "No management controller").
const (
	noBMC   = "0.0.0.0"
	noBMCv6 = "::/0"
)

// BMC is the management controller of a machine; bmc.Controller is a real one. Addresses
// are those that others reach, invalid ones where it has none; they count also with an
// error.
type BMC interface {
	Addresses(ctx context.Context) (v4, v6 netip.Addr, err error)
}

func readBMC(ctx context.Context, m Machine, into *wire.Inventory) error {
	into.BmcAddress, into.BmcV6Address = noBMC, noBMCv6
	if m.BMC == nil {
		return nil
	}
	v4, v6, _ := m.BMC.Addresses(ctx) // most machines have none
	if v4.IsValid() {
		into.BmcAddress = v4.String()
	}
	if v6.IsValid() {
		into.BmcV6Address = v6.String()
	}
	return nil
}
