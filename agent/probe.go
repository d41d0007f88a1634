package agent

import (
	"context"
	"encoding/xml"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/platform/hostexec"
)

var (
	pingLoss    = regexp.MustCompile(`([\d.]+)% packet loss`)
	pingAverage = regexp.MustCompile(`= [\d.]+/([\d.]+)/`)
	// arpReply is a line of iputils' arping: Unicast reply from 192.0.2.1 [52:54:00:0A:0B:0C]  0.7ms.
	arpReply = regexp.MustCompile(`reply from (\S+) \[([0-9A-Fa-f:]{17})\]`)
	// linkAddress is in a line of ip neigh: 2001:db8::1 lladdr 52:54:00:0a:0b:0c REACHABLE.
	linkAddress = regexp.MustCompile(`lladdr ([0-9A-Fa-f:]{17})`)
)

// echo is what ping found out.
type echo struct {
	answered    bool
	averageMS   float64
	lossPercent float64
}

// ping runs ping and reads its summary. No answer at all is a loss of 100 %.
func (a *Agent) ping(ctx context.Context, args ...string) echo {
	result, err := a.host.Runner.Run(ctx, hostexec.Cmd{Name: "ping", Args: args})
	found := echo{answered: err == nil, lossPercent: 100}
	if match := pingLoss.FindStringSubmatch(result.Stdout); match != nil {
		found.lossPercent, _ = strconv.ParseFloat(match[1], 64) // digits and dots, by the pattern
	}
	if match := pingAverage.FindStringSubmatch(result.Stdout); match != nil {
		found.averageMS, _ = strconv.ParseFloat(match[1], 64)
	}
	return found
}

// neighbours are the stations on the link of an interface that answer for an address:
// their MAC addresses in lower case.
func (a *Agent) neighbours(ctx context.Context, nic string, address netip.Addr) []string {
	if address.Is6() {
		hosts, err := a.nmap(ctx, "-6", "-sn", "-n", "-oX", "-", "-e", nic, address.String())
		if hostexec.Missing(err) {
			return a.neighbourTable(ctx, nic, address)
		}
		return hosts[address]
	}
	// arping ends with an error when too few answers came; those that came count.
	result, _ := a.host.Runner.Run(ctx, hostexec.Cmd{
		Name: "arping", Args: []string{"-c", "3", "-w", "3", "-I", nic, address.String()},
	})
	var macs []string
	for _, match := range arpReply.FindAllStringSubmatch(result.Stdout, -1) {
		mac := strings.ToLower(match[2])
		if match[1] == address.String() && !slices.Contains(macs, mac) {
			macs = append(macs, mac)
		}
	}
	return macs
}

// neighbourTable asks the kernel who answered for an address, after making it ask.
func (a *Agent) neighbourTable(ctx context.Context, nic string, address netip.Addr) []string {
	if !a.ping(ctx, "-6", "-c", "2", "-W", "2", "-q", "-I", nic, address.String()).answered {
		return nil
	}
	result, err := a.host.Runner.Run(ctx, hostexec.Cmd{
		Name: "ip", Args: []string{"-6", "neigh", "show", "to", address.String(), "dev", nic},
	})
	match := linkAddress.FindStringSubmatch(result.Stdout)
	if err != nil || match == nil {
		return nil
	}
	return []string{strings.ToLower(match[1])}
}

// nmapRun is the part of nmap's XML that names the hosts that are up.
type nmapRun struct {
	Hosts []struct {
		Status struct {
			State string `xml:"state,attr"`
		} `xml:"status"`
		Addresses []struct {
			Address string `xml:"addr,attr"`
			Type    string `xml:"addrtype,attr"`
		} `xml:"address"`
	} `xml:"host"`
}

// nmap scans and returns the hosts that are up with their MAC addresses, where known.
func (a *Agent) nmap(ctx context.Context, args ...string) (map[netip.Addr][]string, error) {
	result, err := a.host.Runner.Run(ctx, hostexec.Cmd{Name: "nmap", Args: args})
	if err != nil {
		return nil, err
	}
	var report nmapRun
	if err := xml.Unmarshal([]byte(result.Stdout), &report); err != nil {
		return nil, err
	}
	up := map[netip.Addr][]string{}
	for _, host := range report.Hosts {
		if host.Status.State != "up" {
			continue
		}
		var macs []string
		for _, a := range host.Addresses {
			if a.Type == "mac" {
				macs = append(macs, strings.ToLower(a.Address))
			}
		}
		for _, a := range host.Addresses {
			if address, err := netip.ParseAddr(a.Address); err == nil {
				up[address] = append(up[address], macs...)
			}
		}
	}
	return up, nil
}
