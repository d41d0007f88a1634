package agent

import (
	"context"
	"fmt"
	"net/netip"

	"slipway/internal/wire"
)

// verifyVIPs checks that no host answers for the virtual addresses yet.
func (a *Agent) verifyVIPs(ctx context.Context, vips *wire.VerifyVipsRequest) (wire.VerifyVipsResponse, error) {
	response := wire.VerifyVipsResponse{}
	for _, vip := range *vips {
		address, err := netip.ParseAddr(vip.Vip)
		if err != nil {
			return nil, fmt.Errorf("require an address, found %q", vip.Vip)
		}
		used, err := a.answers(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("look for %s: %w", address, err)
		}
		verified := wire.VerifiedVip{Vip: vip.Vip, VipType: vip.VipType, Verification: wire.VipVerificationSucceeded}
		if used {
			verified.Verification = wire.VipVerificationFailed
		}
		response = append(response, verified)
	}
	return response, nil
}

// answers reports whether any host has the address. This one does not answer itself.
func (a *Agent) answers(ctx context.Context, address netip.Addr) (bool, error) {
	nics, err := a.outgoing()
	if err != nil {
		return false, err
	}
	asked := false
	for _, via := range nics {
		if via.has(address) {
			return true, nil
		}
		source, near := via.sourceFor(address)
		if !near {
			continue
		}
		found, err := a.host.Neighbours.Ask(ctx, via.Name, source, []netip.Addr{address})
		if _, used := found[address]; used {
			return true, nil
		}
		if err != nil {
			a.log.Warn("neighbour not asked for", "interface", via.Name, "address", address, "error", err)
			continue
		}
		asked = true
	}
	if asked && address.Is4() {
		return false, nil
	}
	// Of a network that this host is not in, or of a link without Ethernet's addresses, such
	// as InfiniBand: it may only answer to what is routed. Over IPv6 neighbour discovery often goes unanswered on bonds and VLANs.
	return a.ping(ctx, "-c", "2", "-W", "2", "-q", address.String()).answered, ctx.Err()
}
