package agent

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"slipway/internal/wire"
)

// probesAtOnce bounds the probes that run at the same time: each is a process or a socket
// that mostly waits.
const probesAtOnce = 64

// connectivityCheck probes the addresses of the other hosts: whether they answer and how
// fast (L3), who answers on the same network (L2), and whether packets of the size of
// the interface pass (MTU).
func (a *Agent) connectivityCheck(ctx context.Context, hosts *wire.ConnectivityCheckParams) (wire.ConnectivityReport, error) {
	report := wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{}}
	nics, err := a.outgoing()
	if err != nil {
		return report, err
	}
	probes := &probes{agent: a, nics: nics}
	probes.group.SetLimit(probesAtOnce)
	found := make([]remoteReport, len(*hosts))
	for n, host := range *hosts {
		probes.host(ctx, host, &found[n])
	}
	if err := probes.group.Wait(); err != nil {
		return report, err
	}
	for n := range found {
		report.RemoteHosts = append(report.RemoteHosts, found[n].sorted((*hosts)[n]))
	}
	slices.SortFunc(report.RemoteHosts, func(x, y wire.ConnectivityRemoteHost) int {
		return strings.Compare(x.HostID.String(), y.HostID.String())
	})
	return report, ctx.Err()
}

// remoteReport collects what the probes of one host find.
type remoteReport struct {
	mu  sync.Mutex
	l2  []wire.L2Connectivity
	l3  []wire.L3Connectivity
	mtu []wire.MtuReport
}

func (r *remoteReport) sorted(host wire.ConnectivityCheckHost) wire.ConnectivityRemoteHost {
	slices.SortFunc(r.l2, func(x, y wire.L2Connectivity) int {
		return strings.Compare(x.RemoteIPAddress+" "+x.OutgoingNic+" "+x.RemoteMac, y.RemoteIPAddress+" "+y.OutgoingNic+" "+y.RemoteMac)
	})
	slices.SortFunc(r.l3, func(x, y wire.L3Connectivity) int { return strings.Compare(x.RemoteIPAddress, y.RemoteIPAddress) })
	slices.SortFunc(r.mtu, func(x, y wire.MtuReport) int {
		return strings.Compare(x.RemoteIPAddress+" "+x.OutgoingNic, y.RemoteIPAddress+" "+y.OutgoingNic)
	})
	return wire.ConnectivityRemoteHost{
		HostID: host.HostID, L2Connectivity: r.l2, L3Connectivity: r.l3, MtuReport: r.mtu,
	}
}

// probes start the checks of all hosts within one limit.
type probes struct {
	agent *Agent
	nics  []nic
	group errgroup.Group
}

// host starts the checks of each address of a host, once however many interfaces list it.
func (p *probes) host(ctx context.Context, host wire.ConnectivityCheckHost, into *remoteReport) {
	var macs []string
	var addresses []netip.Addr
	for _, remote := range host.Nics {
		macs = append(macs, strings.ToLower(remote.Mac))
		for _, text := range remote.IPAddresses {
			address, err := netip.ParseAddr(text)
			if err == nil && !slices.Contains(addresses, address) {
				addresses = append(addresses, address)
			}
		}
	}
	for _, address := range addresses {
		p.run(ctx, func() { p.l3(ctx, address, into) })
		for _, nic := range p.nics {
			source, near := nic.sourceFor(address)
			if !near {
				continue
			}
			p.run(ctx, func() { p.l2(ctx, nic, source, address, macs, into) })
			if nic.MTU != defaultMTU {
				p.run(ctx, func() { p.mtu(ctx, nic, address, into) })
			}
		}
	}
}

func (p *probes) run(ctx context.Context, probe func()) {
	if ctx.Err() != nil {
		return
	}
	p.group.Go(func() error {
		probe()
		return ctx.Err()
	})
}

func (p *probes) l3(ctx context.Context, remote netip.Addr, into *remoteReport) {
	found := p.agent.ping(ctx, "-c", "10", "-i", "0.2", "-W", "3", "-q", remote.String())
	into.mu.Lock()
	defer into.mu.Unlock()
	into.l3 = append(into.l3, wire.L3Connectivity{
		RemoteIPAddress: remote.String(), Successful: found.answered,
		AverageRttMs: found.averageMS, PacketLossPercentage: found.lossPercent,
	})
}

// l2 reports every station that answers for the address: a second one is a duplicate. An answer without a MAC address counts
// for the host: an advertisement may leave it out (RFC 4861, section 4.4).
func (p *probes) l2(ctx context.Context, via nic, source, remote netip.Addr, macs []string, into *remoteReport) {
	answers, answered := p.agent.neighbours(ctx, via, source, remote)
	unnamed := answered && len(answers) == 0
	if len(answers) == 0 {
		answers = []string{""}
	}
	into.mu.Lock()
	defer into.mu.Unlock()
	for _, mac := range answers {
		into.l2 = append(into.l2, wire.L2Connectivity{
			OutgoingNic: via.Name, OutgoingIPAddress: source.String(), RemoteIPAddress: remote.String(),
			RemoteMac: mac, Successful: unnamed || slices.Contains(macs, mac),
		})
	}
}

// What IPv4 and IPv6 put before the payload of an echo request, in bytes.
const (
	defaultMTU   = 1500
	echoOverhead = 28
	echoOverIPv6 = 48
)

// mtu reports nothing about a host that does not answer small packets either: it is away, or refuses all.
func (p *probes) mtu(ctx context.Context, via nic, remote netip.Addr, into *remoteReport) {
	if !p.agent.ping(ctx, "-c", "3", "-W", "3", "-q", "-I", via.Name, remote.String()).answered {
		return
	}
	overhead := echoOverhead
	if remote.Is6() {
		overhead = echoOverIPv6
	}
	found := p.agent.ping(ctx, "-c", "3", "-W", "3", "-q", "-M", "do", "-s", fmt.Sprint(via.MTU-overhead), "-I", via.Name, remote.String())
	into.mu.Lock()
	defer into.mu.Unlock()
	into.mtu = append(into.mtu, wire.MtuReport{
		OutgoingNic: via.Name, RemoteIPAddress: remote.String(), MtuSuccessful: found.answered,
	})
}
