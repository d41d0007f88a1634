package inventory

import (
	"context"
	"slices"
	"strings"

	"slipway/internal/wire"
)

// readHostname names a host that calls itself localhost after its first interface with
// an address, so that hosts without names can be distinguished.
func readHostname(_ context.Context, m Machine, into *wire.Inventory) {
	into.Hostname = m.text("/proc/sys/kernel/hostname")
	if into.Hostname != "" && !strings.HasPrefix(into.Hostname, "localhost") {
		return
	}
	usable := func(nic wire.Interface) bool { return len(nic.Ipv4Addresses)+len(nic.Ipv6Addresses) > 0 }
	if n := slices.IndexFunc(into.Interfaces, usable); n >= 0 {
		into.Hostname = strings.ReplaceAll(into.Interfaces[n].MacAddress, ":", "-")
	}
}
