package agent

import (
	"context"
	"net/netip"
	"regexp"
	"strconv"

	"slipway/internal/platform/hostexec"
)

var (
	pingLoss    = regexp.MustCompile(`([\d.]+)% packet loss`)
	pingAverage = regexp.MustCompile(`= [\d.]+/([\d.]+)/`)
)

// echo is the result of a ping.
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

// neighbours returns the MAC addresses, in lower case, of the stations on the link of an interface that answer for an address,
// and whether any did: an answer may lack its MAC.
func (a *Agent) neighbours(ctx context.Context, via nic, source, address netip.Addr) (macs []string, answered bool) {
	found, err := a.host.Neighbours.Ask(ctx, via.Name, source, []netip.Addr{address})
	if err != nil {
		a.log.Warn("neighbour not asked for", "interface", via.Name, "address", address, "error", err)
	}
	macs, answered = found[address]
	return macs, answered
}
