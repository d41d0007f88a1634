package inventory

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"slipway/internal/platform/hostexec"
	"slipway/internal/wire"
)

// What the inventory says when there is no management controller
// (docs/reference/agent-protocol.md, "No management controller").
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
	if address := m.channel(ctx, "lan", lanAddress); address != "" {
		into.BmcAddress = address
	}
	if address := m.channel(ctx, "lan6", lan6Address); address != "" {
		into.BmcV6Address = address
	}
}

// channel finds the first address that any channel has.
func (m Machine) channel(ctx context.Context, kind string, addressIn func(output string) string) string {
	for channel := 1; channel <= lanChannels; channel++ {
		result, err := m.Runner.Run(ctx, hostexec.Cmd{Name: "ipmitool", Args: []string{kind, "print", strconv.Itoa(channel)}})
		if hostexec.Missing(err) || ctx.Err() != nil {
			return ""
		}
		if err != nil {
			continue // not a network, or not this kind of network
		}
		if address := addressIn(result.Stdout); address != "" {
			return address
		}
	}
	return ""
}

// lanAddress reads the answer of "ipmitool lan print".
func lanAddress(output string) string {
	for line := range strings.Lines(output) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "IP Address" {
			return reachable(value)
		}
	}
	return ""
}

// lan6Address reads the answer of "ipmitool lan6 print": a paragraph for each address, a
// controller's own before one that a person gave it, as the first is what it answers to.
func lan6Address(output string) string {
	var dynamic, static string
	for _, p := range paragraphs(output) {
		address := reachable(p.values["Address"])
		switch {
		case strings.HasPrefix(p.title, "IPv6/IPv4 Addressing Enables: ipv4"):
			return ""
		case address == "" || p.values["Status"] != "active":
		case strings.HasPrefix(p.title, "IPv6 Dynamic Address") && dynamic == "":
			dynamic = address
		case strings.HasPrefix(p.title, "IPv6 Static Address") && p.values["Enabled"] == "yes" && static == "":
			static = address
		}
	}
	return first([]string{dynamic, static})
}

// paragraph is a line at the margin and the indented "key: value" lines below it.
type paragraph struct {
	title  string
	values map[string]string
}

func paragraphs(output string) []paragraph {
	var all []paragraph
	for line := range strings.Lines(output) {
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			all = append(all, paragraph{title: text, values: map[string]string{}})
			continue
		}
		if key, value, found := strings.Cut(text, ":"); found && len(all) > 0 {
			all[len(all)-1].values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return all
}

// reachable is an address without the length of its network, empty for one that others
// cannot use.
func reachable(text string) string {
	address, _, _ := strings.Cut(strings.TrimSpace(text), "/")
	parsed, err := netip.ParseAddr(address)
	if err != nil || parsed.Zone() != "" || parsed.IsUnspecified() || parsed.IsLinkLocalUnicast() {
		return ""
	}
	return parsed.String()
}
