package sim

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"slipway/internal/platform/hostexec"
)

// roundTrip is the time a packet takes to another machine and back, in milliseconds.
const roundTrip = 0.4

// ping answers like iputils with -q.
func (s shell) ping(ctx context.Context, c hostexec.Cmd, out *reply) int {
	count := number(option(c.Args, "-c"), 1)
	to, err := destination(c.Args)
	if err != nil {
		return out.complain(2, "ping: %s: Name or service not known\n", last(c.Args))
	}
	size := number(option(c.Args, "-s"), 56)
	s.spend(ctx, time.Duration(count-1)*200*time.Millisecond)
	received := s.answers(to, count, size)
	lost := 100 * (count - received) / count
	out.printf("PING %s (%s) %d(%d) bytes of data.\n\n--- %s ping statistics ---\n", to, to, size, size+28, to)
	out.printf("%d packets transmitted, %d received, %d%% packet loss, time %dms\n", count, received, lost, 200*(count-1))
	if received == 0 {
		out.printf("\n")
		return 1
	}
	out.printf("rtt min/avg/max/mdev = %.3f/%.3f/%.3f/0.050 ms\n", roundTrip*0.8, roundTrip, roundTrip*1.3)
	return 0
}

// destination returns the argument of ping that is an address.
func destination(args []string) (netip.Addr, error) {
	for _, a := range slices.Backward(args) {
		if to, err := netip.ParseAddr(a); err == nil {
			return to, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("require an address, found %q", args)
}

// answers returns how many of count packets of a size come back.
func (s shell) answers(to netip.Addr, count, size int) int {
	stations := s.stations(to)
	if len(stations) == 0 {
		return 0
	}
	if mtu := stations[0].MTU; mtu > 0 && size+28 > mtu {
		return 0
	}
	return count - count*stations[0].Loss/100
}

// chronyc knows one server that is in step and the servers that were added.
func (s shell) chronyc(ctx context.Context, c hostexec.Cmd, out *reply) int {
	if slices.Contains(c.Args, "add") {
		out.printf("200 OK\n")
		return 0
	}
	s.spend(ctx, time.Second)
	server := "203.0.113.123"
	if gateway := s.options.Spec.Gateway; gateway.IsValid() {
		server = gateway.String()
	}
	out.printf("MS Name/IP address         Stratum Poll Reach LastRx Last sample               \n%s\n", strings.Repeat("=", 79))
	out.printf("^* %-27s   2   6   377    34    +12us[  +20us] +/-   12ms\n", server)
	return 0
}

// ip prints what logs collect.
func (s shell) ip(_ context.Context, _ hostexec.Cmd, out *reply) int {
	for n, nic := range s.options.Spec.NICs {
		out.printf("%d: %s: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu %d state UP\n    link/ether %s\n", n+2, nic.Name, nic.MTU, nic.MAC)
		for _, a := range nic.Addresses {
			out.printf("    inet %s scope global %s\n", a, nic.Name)
		}
	}
	return 0
}

func number(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return otherwise
}
