package agent

import (
	"context"
	"fmt"
	"net/netip"

	"slipway/internal/platform/hostexec"
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

// answers reports whether any host has the address.
func (a *Agent) answers(ctx context.Context, address netip.Addr) (bool, error) {
	family := []string{}
	if address.Is6() {
		family = []string{"-6"}
	}
	up, err := a.nmap(ctx, append(family, "-sn", "-n", "-oX", "-", address.String())...)
	if hostexec.Missing(err) {
		return a.ping(ctx, append(family, "-c", "2", "-W", "2", "-q", address.String())...).answered, ctx.Err()
	}
	return len(up) > 0, err
}
