package sim

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"slipway/agent"
	"slipway/internal/sim/site"
)

// lan is the network of the site as the machine's agent asks it.
type lan struct{ *Machine }

var (
	_ agent.Neighbours = lan{}
	_ agent.Leases     = lan{}
)

// errNoServer: a site has no DHCP server.
var errNoServer = errors.New("no DHCP server answers")

// neighbourTime is how long it takes to ask for addresses.
const neighbourTime = 2 * time.Second

// Ask implements agent.Neighbours. All addresses of a site are on one link.
func (l lan) Ask(ctx context.Context, _ string, _ netip.Addr, addresses []netip.Addr) (map[netip.Addr][]string, error) {
	if err := l.clock.Wait(ctx, neighbourTime); err != nil {
		return nil, err
	}
	found := map[netip.Addr][]string{}
	for _, address := range addresses {
		for _, station := range l.stations(address) {
			if !l.own(address, station.MAC) {
				found[address] = append(found[address], strings.ToLower(station.MAC))
			}
		}
	}
	return found, nil
}

// Lease implements agent.Leases. A site has no DHCP server.
func (l lan) Lease(ctx context.Context, _, _, _ string) (string, netip.Addr, error) {
	return "", netip.Addr{}, errors.Join(errNoServer, ctx.Err())
}

// own reports whether a station is the machine itself, which does not hear its own requests.
func (l lan) own(address netip.Addr, mac string) bool {
	for _, nic := range l.options.Spec.NICs {
		has := slices.ContainsFunc(nic.Addresses, func(p netip.Prefix) bool { return p.Addr() == address })
		if has && strings.EqualFold(nic.MAC, mac) {
			return true
		}
	}
	return false
}

// stations lists the stations this machine can reach.
func (m *Machine) stations(to netip.Addr) []site.Station {
	if m.cut() {
		return nil
	}
	return m.options.Site.Stations(to)
}
