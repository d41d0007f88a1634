package netns_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"slipway/test/bench/netlab"
)

// fault is one way to break the network of a host.
type fault struct {
	name string
	// fails lists the validations that must fail, and then pass again; because is in what
	// they say.
	fails   []string
	because string
	// cluster: the validations are those of the cluster.
	cluster bool
	inject  injector
	// lasts is how long the fault is left there in the long form.
	lasts time.Duration
}

// injector breaks the network of a host and returns what mends it.
type injector func(ctx context.Context, b *bench, h *host) (mend func() error, err error)

// The faults that the small bench has as well.
var (
	wildcard = fault{name: "wildcard in DNS", fails: []string{"dns-wildcard-not-configured"}, because: "no wildcard", inject: nameServer(wildcardDNS)}
	away     = fault{name: "cut off", fails: []string{"connected"}, because: "sign of life", inject: cutOff, lasts: 5 * time.Minute}
)

// links are faults that leave hosts where they are; each has a victim of its own, and
// none makes the validations of another fail on it.
var links = []fault{
	{name: "packet loss, each 4th frame", fails: []string{"sufficient-packet-loss-requirement-for-role"}, because: "packet loss", inject: badCable(cable{loseEvery: 4})},
	{name: "latency, 600 ms each way", fails: []string{"sufficient-network-latency-requirement-for-role"}, because: "round trip", inject: badCable(cable{delay: 600 * time.Millisecond})},
	{name: "duplicate IP", fails: []string{"no-ip-collisions-in-network"}, because: "answered by 2 machines", inject: duplicate},
	{name: "MTU hole, 1500 of 9000", fails: []string{"mtu-valid"}, because: "configured MTU", inject: smallPort},
	{name: "no default route", fails: []string{"has-default-route"}, because: "found none", inject: noRoute},
	{name: "overlapping networks", fails: []string{"non-overlapping-subnets"}, because: "overlaps", inject: secondNIC},
	wildcard,
	{name: "clock skew, an hour between two time servers", fails: []string{"ntp-synced"}, because: "none of", inject: clockSkew},
	{name: "clock skew, two hours ahead of the service", fails: []string{"time-synced-between-host-and-service"}, because: "ahead of the service", inject: badCable(cable{skew: 2 * time.Hour})},
	{name: "platform that needs user-managed networking", fails: []string{"valid-platform-network-settings"}, because: "OpenStack", inject: openStack},
	{name: "API VIP in use", fails: []string{"api-vips-valid"}, because: apiVIP + " answers", cluster: true, inject: takeVIP},
}

// places are faults that take a host away from the others.
var places = []fault{
	{name: "another VLAN", fails: []string{"belongs-to-majority-group"}, because: "majority of hosts", inject: otherVLAN},
	{name: "another network", fails: []string{"belongs-to-machine-cidr"}, because: network, inject: moved},
	away,
}

// names are faults of networks that the user manages: there the hosts resolve the names
// of the cluster.
var names = []fault{
	{
		name: "DNS without the names of the cluster", because: "found no address", inject: nameServer(emptyDNS),
		fails: []string{"api-domain-name-resolved-correctly", "api-int-domain-name-resolved-correctly", "apps-domain-name-resolved-correctly"},
	},
}

// badCable puts a cable between the host and its port of the bridge.
func badCable(c cable) injector {
	return func(_ context.Context, b *bench, h *host) (func() error, error) {
		loose, bridged := "c"+h.port, "b"+h.port
		if err := b.lan.All(
			fmt.Sprintf("link add %s mtu %d type veth peer name %s mtu %d", loose, b.lan.mtu, bridged, b.lan.mtu),
			"link set "+h.port+" nomaster", "link set "+h.port+" arp off", "link set "+loose+" arp off up",
			"link set "+bridged+" master br0 up",
		); err != nil {
			return nil, err
		}
		stop, err := c.between(b.lan.Space, h.port, loose)
		return func() error {
			stop()
			return b.lan.All("link del "+loose, "link set "+h.port+" arp on", "link set "+h.port+" master br0")
		}, err
	}
}

// duplicate is another machine with the address of the host.
func duplicate(_ context.Context, b *bench, h *host) (func() error, error) {
	return b.lan.intruder("twin"+h.port, h.address.String())
}

func takeVIP(_ context.Context, b *bench, _ *host) (func() error, error) {
	return b.lan.intruder("vip", apiVIP)
}

// intruder is a machine on the bridge that the service knows nothing of.
func (l *lan) intruder(name, address string) (remove func() error, err error) {
	s := &netlab.Space{Name: netlab.Mine(name)}
	if err := netlab.Command("ip", "netns", "add", s.Name); err != nil {
		return nil, err
	}
	remove = func() error {
		netlab.RemoveSpace(s.Name)
		return nil
	}
	if err := l.All(
		fmt.Sprintf("link add i%s mtu %d type veth peer name eth0 mtu %[2]d netns %s", name, l.mtu, s.Name),
		"link set i"+name+" master br0 up",
	); err != nil {
		return remove, err
	}
	return remove, s.All("addr add "+address+"/24 dev eth0", "link set eth0 up")
}

// smallPort drops the large frames to the host without a word.
func smallPort(_ context.Context, b *bench, h *host) (func() error, error) {
	return func() error { return b.lan.IP("link", "set", h.port, "mtu", fmt.Sprint(b.lan.mtu)) },
		b.lan.IP("link", "set", h.port, "mtu", fmt.Sprint(ethernet))
}

func noRoute(_ context.Context, _ *bench, h *host) (func() error, error) {
	return func() error { return h.All("route add default via " + gateway + " dev eth0") }, h.All("route del default")
}

func secondNIC(_ context.Context, _ *bench, h *host) (func() error, error) {
	return func() error { return h.All("link del eth1") }, h.All(
		"link add eth1 type veth peer name far1", "link set far1 up", "link set eth1 up", "addr add "+overlap+" dev eth1",
	)
}

func nameServer(address string) injector {
	return func(_ context.Context, _ *bench, h *host) (func() error, error) {
		return func() error { return h.useDNS(gateway) }, h.useDNS(address)
	}
}

// clockSkew makes one of the two time servers wrong, for one host: its clock agrees with
// the other only, which is no majority.
func clockSkew(_ context.Context, b *bench, h *host) (func() error, error) {
	b.lan.clocks[1].Tell(h.address, time.Hour)
	return func() error {
		b.lan.clocks[1].Tell(h.address, 0)
		return nil
	}, nil
}

// openStack makes the host a machine of a platform whose networks nobody else may manage.
func openStack(_ context.Context, _ *bench, h *host) (func() error, error) {
	product := filepath.Join(h.dir, "root/sys/class/dmi/id/product_name")
	return func() error { return os.WriteFile(product, []byte("Bench\n"), 0o644) }, os.WriteFile(product, []byte("OpenStack Compute\n"), 0o644)
}

// otherVLAN leaves the host its gateway and nobody else.
func otherVLAN(_ context.Context, b *bench, h *host) (func() error, error) {
	route := h.address.String() + "/32 dev br1"
	return func() error { return b.lan.All("route del "+route, "link set "+h.port+" master br0") },
		b.lan.All("link set "+h.port+" master br1", "route add "+route)
}

// moved gives the host an address in another network, which is routed.
func moved(_ context.Context, _ *bench, h *host) (func() error, error) {
	other := fmt.Sprintf("10.78.0.%d/24", firstHost+h.index)
	return func() error {
			return h.All("addr flush dev eth0", "addr add "+h.address.String()+"/24 dev eth0", "route add default via "+gateway)
		}, h.All(
			"addr flush dev eth0", "addr add "+other+" dev eth0", "route add default via "+otherGateway,
		)
}

// cutOff pulls the cable.
func cutOff(_ context.Context, b *bench, h *host) (func() error, error) {
	return func() error { return b.lan.All("link set " + h.port + " up") }, b.lan.All("link set " + h.port + " down")
}
