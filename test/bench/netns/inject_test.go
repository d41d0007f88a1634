package netns_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"slipway/test/bench/netlab"
)

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

// duplicate adds another machine with the address of the host.
func duplicate(_ context.Context, b *bench, h *host) (func() error, error) {
	return b.lan.intruder("twin"+h.port, h.address.String())
}

func takeVIP(name, address string) injector {
	return func(_ context.Context, b *bench, _ *host) (func() error, error) { return b.lan.intruder(name, address) }
}

// intruder adds a machine to the bridge that the service knows nothing of.
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

// openStack makes the host a machine of a platform whose networks no one else may manage.
func openStack(_ context.Context, _ *bench, h *host) (func() error, error) {
	const product = "/sys/class/dmi/id/product_name"
	return func() error { return h.write(product, "Bench\n") }, h.write(product, "OpenStack Compute\n")
}

// otherVLAN leaves the host its gateway and no other host.
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

// iscsiDisks make a host that has no disk of its own: it reaches them over its NIC in the
// network of the hosts, and leaves that network over another one.
func iscsiDisks(_ context.Context, _ *bench, h *host) (func() error, error) {
	err := errors.Join(
		h.All("link add eth1 type veth peer name far1", "link set far1 up", "link set eth1 up", "addr add 10.81.0.2/24 dev eth1",
			"route replace default via 10.81.0.1 dev eth1"),
		h.write("/sys/class/iscsi_host/host9/ipaddress", h.address.String()+"\n"),
	)
	for n, disk := range planted {
		device := fmt.Sprintf("/sys/devices/platform/host9/session1/target9:0:0/9:0:0:%d", n)
		err = errors.Join(err, h.write(device+"/state", "running\n"), os.Symlink("../../.."+device, h.place("/sys/block/"+disk+"/device")))
	}
	return func() error {
		var errs []error
		for _, disk := range planted {
			errs = append(errs, os.Remove(h.place("/sys/block/"+disk+"/device")))
		}
		return errors.Join(append(errs, h.All("link del eth1", "route replace default via "+gateway+" dev eth0"))...)
	}, err
}

// noMedium disconnects the virtual medium the host booted from: it stays mounted, and
// what was read of it once. So it takes a boot to be sure of a medium that came back.
func noMedium(_ context.Context, _ *bench, h *host) (func() error, error) {
	return func() error { return errors.Join(h.write(bootMedium, mediumContent), h.reboot()) }, os.Remove(h.place(bootMedium))
}
