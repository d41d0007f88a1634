package agent

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	"go4.org/netipx"
	"golang.org/x/sync/errgroup"

	"slipway/internal/platform/hostexec"
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
			// The first and the last address are those of the network and of all its hosts.
			edge := network.Bits() < 31 && (address == network.Addr() || address == last)
			if _, used := taken[address]; edge || used {
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
func (a *Agent) scan(ctx context.Context, subnet netip.Prefix) (map[netip.Addr][]string, error) {
	up, err := a.nmap(ctx, "-sn", "-PR", "-n", "-oX", "-", subnet.String())
	if hostexec.Missing(err) {
		up, err = a.scanByARP(ctx, subnet)
	}
	if err != nil {
		return nil, err
	}
	nics, err := a.outgoing()
	if err != nil {
		return nil, err
	}
	for _, n := range nics {
		for _, prefix := range n.Addresses {
			up[prefix.Addr()] = nil
		}
	}
	return up, nil
}

// scanByARP asks for each address by itself, on the interface of its network.
func (a *Agent) scanByARP(ctx context.Context, subnet netip.Prefix) (map[netip.Addr][]string, error) {
	nics, err := a.outgoing()
	if err != nil {
		return nil, err
	}
	via, near := nicFor(nics, subnet.Addr())
	if !near {
		return nil, fmt.Errorf("no interface in %s", subnet)
	}
	var mu sync.Mutex
	up := map[netip.Addr][]string{}
	var group errgroup.Group
	group.SetLimit(probesAtOnce)
	for address := subnet.Addr(); subnet.Contains(address); address = address.Next() {
		group.Go(func() error {
			_, err := a.host.Runner.Run(ctx, hostexec.Cmd{
				Name: "arping", Args: []string{"-f", "-c", "2", "-w", "2", "-I", via.Name, address.String()},
			})
			if hostexec.Missing(err) || ctx.Err() != nil {
				return err
			}
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				up[address] = nil
			}
			return nil
		})
	}
	return up, group.Wait()
}
