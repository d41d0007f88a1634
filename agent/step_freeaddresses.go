package agent

import (
	"context"
	"fmt"
	"net/netip"

	"go4.org/netipx"

	"slipway/internal/wire"
)

const (
	// scanBits is the largest part of a network scanned at once: a /22.
	scanBits = 22
	// freeMax is how many free addresses of a network are enough.
	freeMax = 8000
)

// freeAddresses finds the IPv4 addresses of each network without an answer.
func (a *Agent) freeAddresses(ctx context.Context, networks *wire.FreeAddressesRequest) (wire.FreeNetworksAddresses, error) {
	report := wire.FreeNetworksAddresses{}
	for _, text := range *networks {
		network, err := netip.ParsePrefix(text)
		if err != nil || !network.Addr().Is4() {
			return nil, fmt.Errorf("require an IPv4 network, found %q", text)
		}
		free, err := a.freeIn(ctx, network.Masked())
		if err != nil {
			return nil, fmt.Errorf("scan %s: %w", text, err)
		}
		report = append(report, wire.FreeNetworkAddresses{Network: text, FreeAddresses: free})
	}
	return report, nil
}

func (a *Agent) freeIn(ctx context.Context, network netip.Prefix) ([]string, error) {
	free := []string{}
	last := netipx.PrefixLastIP(network)
	for subnet := netip.PrefixFrom(network.Addr(), max(network.Bits(), scanBits)); network.Contains(subnet.Addr()); {
		taken, err := a.scan(ctx, subnet)
		if err != nil {
			return nil, err
		}
		for address := subnet.Addr(); subnet.Contains(address); address = address.Next() {
			// The first address is the network's, the last one is for broadcasts.
			edge := network.Bits() < 31 && (address == network.Addr() || address == last)
			if edge || taken[address] {
				continue
			}
			if free = append(free, address.String()); len(free) == freeMax {
				return free, nil
			}
		}
		subnet = netip.PrefixFrom(netipx.PrefixLastIP(subnet).Next(), subnet.Bits())
	}
	return free, nil
}

// scan finds the addresses of a network that are in use. The host's own count as such.
func (a *Agent) scan(ctx context.Context, subnet netip.Prefix) (map[netip.Addr]bool, error) {
	nics, err := a.outgoing()
	if err != nil {
		return nil, err
	}
	var all []netip.Addr
	for address := subnet.Addr(); subnet.Contains(address); address = address.Next() {
		all = append(all, address)
	}
	taken, near := map[netip.Addr]bool{}, false
	for _, via := range nics {
		for _, prefix := range via.Addresses {
			taken[prefix.Addr()] = true
			if !prefix.Contains(subnet.Addr()) {
				continue
			}
			near = true
			found, err := a.host.Neighbours.Ask(ctx, via.Name, prefix.Addr(), all)
			if err != nil {
				return nil, err
			}
			for address := range found {
				taken[address] = true
			}
		}
	}
	if !near {
		return nil, fmt.Errorf("no interface in %s", subnet)
	}
	return taken, nil
}
