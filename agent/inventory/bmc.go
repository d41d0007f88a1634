package inventory

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/run"
	"slipway/internal/wire"
)

// What the inventory says when there is no management controller (contract/agent.md 1.7).
const (
	noBMC   = "0.0.0.0"
	noBMCv6 = "::/0"
)

// lanChannels are those of IPMI that may be a network.
const lanChannels = 12

var ipmiDevices = []string{"/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0"}

func readBMC(ctx context.Context, m Machine, into *wire.Inventory) {
	into.BmcAddress, into.BmcV6Address = noBMC, noBMCv6
	if !slices.ContainsFunc(ipmiDevices, m.exists) {
		return
	}
	if address := m.channel(ctx, "lan", "IP Address"); address != "" {
		into.BmcAddress = address
	}
	if address := m.channel(ctx, "lan6", "Address"); address != "" {
		into.BmcV6Address = address
	}
}

// channel finds the first address that any channel has. What ipmitool prints for IPv6 is
// indented below each of the addresses.
func (m Machine) channel(ctx context.Context, kind, key string) string {
	for channel := 1; channel <= lanChannels; channel++ {
		result, err := m.Runner.Run(ctx, run.Cmd{Name: "ipmitool", Args: []string{kind, "print", strconv.Itoa(channel)}})
		if run.Missing(err) || ctx.Err() != nil {
			return ""
		}
		if err != nil {
			continue
		}
		for line := range strings.Lines(result.Stdout) {
			name, value, found := strings.Cut(line, ":")
			if found && strings.TrimSpace(name) == key && usableAddress(value) {
				return strings.TrimSpace(value)
			}
		}
	}
	return ""
}

func usableAddress(text string) bool {
	address, _, _ := strings.Cut(strings.TrimSpace(text), "/")
	parsed, err := netip.ParseAddr(address)
	return err == nil && !parsed.IsUnspecified() && !parsed.IsLinkLocalUnicast()
}
