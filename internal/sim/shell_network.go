package sim

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"slipway/internal/platform/hostexec"
	"slipway/internal/sim/site"
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

// destination is the argument of ping that is an address.
func destination(args []string) (netip.Addr, error) {
	for _, a := range slices.Backward(args) {
		if to, err := netip.ParseAddr(a); err == nil {
			return to, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("require an address, found %q", args)
}

// answers is how many of count packets of a size come back.
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

// stations are those this machine can reach.
func (s shell) stations(to netip.Addr) []site.Station {
	if s.cut() {
		return nil
	}
	return s.options.Site.Stations(to)
}

// arping answers like iputils.
func (s shell) arping(ctx context.Context, c hostexec.Cmd, out *reply) int {
	to, err := destination(c.Args)
	if err != nil {
		return out.complain(2, "arping: %s: Name or service not known\n", last(c.Args))
	}
	nic := option(c.Args, "-I")
	count := number(option(c.Args, "-c"), 3)
	s.spend(ctx, time.Duration(count-1)*time.Second)
	out.printf("ARPING %s from %s %s\n", to, s.addressOf(nic), nic)
	stations := s.stations(to)
	for range count {
		for _, st := range stations {
			out.printf("Unicast reply from %s [%s]  %.3fms\n", to, strings.ToUpper(st.MAC), roundTrip)
		}
	}
	out.printf("Sent %d probes (1 broadcast(s))\nReceived %d response(s)\n", count, count*len(stations))
	if len(stations) == 0 {
		return 1
	}
	return 0
}

// addressOf is the first IPv4 address of an interface.
func (s shell) addressOf(nic string) string {
	for _, n := range s.options.Spec.NICs {
		for _, a := range n.Addresses {
			if n.Name == nic && a.Addr().Is4() {
				return a.Addr().String()
			}
		}
	}
	return "0.0.0.0"
}

type nmapRun struct {
	XMLName xml.Name   `xml:"nmaprun"`
	Scanner string     `xml:"scanner,attr"`
	Hosts   []nmapHost `xml:"host"`
	Exit    struct {
		Exit string `xml:"exit,attr"`
	} `xml:"runstats>finished"`
}

type nmapHost struct {
	Status struct {
		State  string `xml:"state,attr"`
		Reason string `xml:"reason,attr"`
	} `xml:"status"`
	Addresses []nmapAddress `xml:"address"`
}

type nmapAddress struct {
	Address string `xml:"addr,attr"`
	Type    string `xml:"addrtype,attr"`
}

// nmap answers a host discovery (-sn) of one address or network in XML.
func (s shell) nmap(ctx context.Context, c hostexec.Cmd, out *reply) int {
	target := last(c.Args)
	network, err := netip.ParsePrefix(target)
	if err != nil {
		address, err := netip.ParseAddr(target)
		if err != nil {
			return out.complain(1, "Failed to resolve %q.\n", target)
		}
		network = netip.PrefixFrom(address, address.BitLen())
	}
	s.spend(ctx, 2*time.Second)
	report := nmapRun{Scanner: "nmap"}
	report.Exit.Exit = "success"
	for _, address := range s.options.Site.Addresses(network.Masked()) {
		for _, st := range s.stations(address) {
			host := nmapHost{Addresses: []nmapAddress{{address.String(), family(address)}, {strings.ToUpper(st.MAC), "mac"}}}
			host.Status.State, host.Status.Reason = "up", "arp-response"
			report.Hosts = append(report.Hosts, host)
		}
	}
	text, err := xml.MarshalIndent(report, "", " ")
	if err != nil {
		return out.complain(1, "%s\n", err)
	}
	out.printf("%s%s\n", xml.Header, text)
	return 0
}

func family(a netip.Addr) string {
	if a.Is4() {
		return "ipv4"
	}
	return "ipv6"
}

// chronyc knows one server that is in step and those that were added.
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
