package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// leaseLimit is how long a DHCP server may take for an address.
const leaseLimit = 28 * time.Second

// leaseAllocation asks a DHCP server for the virtual addresses of the cluster, each under
// a hardware address of its own, which an interface has as long as that takes.
func (a *Agent) leaseAllocation(ctx context.Context, req *wire.DhcpAllocationRequest) (wire.DhcpAllocationResponse, error) {
	var response wire.DhcpAllocationResponse
	for _, vip := range []struct{ name, mac, known string }{
		{"api", req.APIVipMac, req.APIVipLease}, {"ingress", req.IngressVipMac, req.IngressVipLease},
	} {
		lease, address, err := a.leaseAddress(ctx, req.Interface, vip.name, vip.mac, vip.known)
		if err != nil {
			return response, fmt.Errorf("lease the %s address: %w", vip.name, err)
		}
		if vip.name == "api" {
			response.APIVipLease, response.APIVipAddress = lease, address.String()
		} else {
			response.IngressVipLease, response.IngressVipAddress = lease, address.String()
		}
	}
	return response, nil
}

func (a *Agent) leaseAddress(ctx context.Context, nic, name, mac, known string) (lease string, address netip.Addr, err error) {
	_, _ = a.ip(ctx, "link", "delete", name) // of a step that was cut short
	if _, err := a.ip(ctx, "link", "add", name, "link", nic, "address", mac, "type", "macvlan"); err != nil {
		return "", address, err
	}
	defer func() {
		_, deleteErr := a.ip(context.WithoutCancel(ctx), "link", "delete", name)
		err = errors.Join(err, deleteErr)
	}()
	if _, err := a.ip(ctx, "link", "set", name, "up"); err != nil {
		return "", address, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, leaseLimit, errTimedOut{leaseLimit})
	defer cancel()
	hostname := strings.ReplaceAll(mac, ":", "-") + "-" + name
	return a.host.Leases.Lease(limited, name, hostname, known)
}

func (a *Agent) ip(ctx context.Context, args ...string) (hostexec.Result, error) {
	return a.host.Runner.Run(ctx, hostexec.Cmd{Name: "ip", Args: args})
}
