package staticnet_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"slipway/internal/hostconfig/staticnet"
	"slipway/internal/model"
)

const (
	ethernet  = "interfaces:\n- name: eth0\n  type: ethernet\n"
	addressed = ethernet + "  ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}\n"
)

// fault is a network state and the report about it.
type fault struct{ state, want string }

func requireFaults(t *testing.T, faults map[string]fault) {
	t.Helper()
	for name, c := range faults {
		_, err := staticnet.Parse(config(t, c.state))
		require.ErrorIs(t, err, model.ErrInvalid, name)
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, "static_network_config[0].network_yaml: ", name)
	}
}

// of makes a state with one interface besides eth0 and eth1, of a type with settings.
func of(kind, settings string) string {
	return "interfaces:\n- {name: x, type: " + kind + ", " + settings + "}"
}

func withBond(settings string) string { return of("bond", "link-aggregation: {"+settings+"}") }

func withOption(option string) string {
	return withBond("mode: active-backup, port: [eth0, eth1], options: {" + option + "}")
}

func withBridge(settings string) string { return of("linux-bridge", "bridge: {"+settings+"}") }

func withPort(vlan string) string { return withBridge("port: [{name: eth0, vlan: {" + vlan + "}}]") }

func withIP(family, settings string) string {
	return ethernet + "  " + family + ": {enabled: true, " + settings + "}\n"
}

func withRoute(route string) string { return addressed + "routes: {config: [{" + route + "}]}" }

func withRule(rule string) string { return addressed + "route-rules: {config: [{" + rule + "}]}" }

func withDNS(dns string) string { return addressed + "dns-resolver: {config: {" + dns + "}}" }

func TestFaultsTellTheirPlace(t *testing.T) {
	t.Parallel()
	requireFaults(t, map[string]fault{
		"fails when it is no YAML":             {"a: [", "must be a network state in YAML"},
		"fails when it is empty":               {"", "a network state in YAML is required"},
		"fails when it is a list":              {"- a", "must be a network state in YAML"},
		"fails without interfaces":             {"interfaces: []", "interfaces: at least one interface is required"},
		"fails with another kind of value":     {ethernet + "  mtu: big", "a value of the network state has another type"},
		"fails with a word that is no boolean": {ethernet + "  ipv4: {enabled: perhaps}", "require true or false"},
		"fails without a name":                 {"interfaces:\n- {type: ethernet}", "interfaces[0].name: require the name"},
		"fails with a name that leaves its folder": {
			"interfaces:\n- {name: ../eth0, type: ethernet}",
			"interfaces[0].name: require the name",
		},
		"fails with a number where text is meant": {
			addressed + "- {name: 10, type: dummy}",
			"interfaces[1].name: require text, found 10, which has to be in quotes",
		},
		"fails with a number that reads otherwise": {
			of("dummy", "description: 1.10"),
			"interfaces[0].description: require text, found 1.1",
		},
		"fails with a boolean where text is meant": {
			of("dummy", "profile-name: yes"),
			"interfaces[0].profile-name: require text, found true",
		},
		"fails with a number in a list of names": {
			withBond("mode: 1, port: [eth0, 10]"),
			"interfaces[0].link-aggregation.port[1]: require text, found 10",
		},
		"fails with a name that the kernel keeps": {
			"interfaces: [{name: all, type: dummy}]",
			`interfaces[0].name: require a name that Linux does not reserve, found "all"`,
		},
		"fails with the name of the loopback": {
			"interfaces: [{name: lo, type: dummy}]",
			`require a name that Linux does not reserve, found "lo"`,
		},
		"fails with a name that is for aliases": {
			"interfaces: [{name: 'a:b', type: dummy}]",
			`interfaces[0].name: require at most 15 letters, digits and . _ @ -, found "a:b"`,
		},
		"fails when an interface has no MAC address": {
			"interfaces:\n- {name: eth7, type: ethernet}",
			"interfaces[0].name: eth7 has no MAC address in mac_interface_map",
		},
		"fails when the map has what is no hardware": {
			"interfaces:\n- {name: eth0, type: dummy}",
			"interfaces[0].name: require a name that is not in mac_interface_map",
		},
		"fails when an interface is there twice":   {ethernet + "- name: eth0\n  type: ethernet\n  mtu: 9000", "found eth0 again"},
		"fails with a state it cannot bring about": {ethernet + "  state: absent", "interfaces[0].state: require up or down"},
		"fails with an MTU that is too small":      {ethernet + "  mtu: 20", "interfaces[0].mtu: require 68 to 65535, found 20"},
		"fails with an MTU too small for IPv6": {
			ethernet + "  mtu: 1000\n  ipv6: {enabled: true}",
			"interfaces[0].mtu: require at least 1280 with IPv6",
		},
		"fails with a MAC address of a group": {
			ethernet + "  mac-address: '01:00:5e:00:00:01'",
			"interfaces[0].mac-address: require the MAC address of one interface, found 01:00:5e:00:00:01",
		},
		"fails with an invalid MAC address": {ethernet + "  mac-address: here", "interfaces[0].mac-address"},
		"fails with another identifier": {
			ethernet + "  identifier: pci-address",
			"interfaces[0].identifier: require name or mac-address",
		},
		"fails when identified by another address": {
			ethernet + "  identifier: mac-address\n  mac-address: 52:54:00:00:00:09",
			"interfaces[0].mac-address: require 52:54:00:aa:bb:01 as in mac_interface_map",
		},
		"fails when identified by one of the map": {
			ethernet + "- {name: x, type: ethernet, identifier: mac-address, mac-address: '52:54:00:AA:BB:01'}",
			"interfaces[1].mac-address: require each MAC address once",
		},
		"fails when a bond is identified by address": {
			of("bond", "identifier: mac-address, mac-address: '52:54:00:00:00:09'"),
			"interfaces[0].identifier: require mac-address only with type ethernet",
		},
		"fails with the same name of connections": {
			ethernet + "  profile-name: a\n- {name: eth1, type: ethernet, profile-name: a}",
			"interfaces[1].profile-name: require a name that no other interface has",
		},
		"fails with a connection that is a path": {ethernet + "  profile-name: a/b", "interfaces[0].profile-name"},
		"fails with a description of two lines": {
			ethernet + "  description: \"a\\nb\"",
			"interfaces[0].description: require one line",
		},
		"fails when waiting for something else": {ethernet + "  wait-ip: all", "interfaces[0].wait-ip"},
		"fails with a copy of an unknown interface's address": {
			of("linux-bridge", "copy-mac-from: eth7"),
			"interfaces[0].copy-mac-from: require one of the interfaces",
		},
		"fails with a copy of an unknown address": {
			of("linux-bridge", "copy-mac-from: d") + "\n- {name: d, type: dummy}",
			"copy-mac-from: require an interface whose address is known",
		},
		"fails with a copy for an interface": {
			ethernet + "  copy-mac-from: eth1",
			"copy-mac-from: require it only with a bond",
		},
		"fails with speed alone": {
			ethernet + "  ethernet: {auto-negotiation: false, speed: 1000}",
			"speed and duplex are required together",
		},
		"fails with speed alone that nothing negotiates": {
			ethernet + "  ethernet: {speed: 1000}",
			"speed and duplex are required together",
		},
		"fails with another duplex": {
			ethernet + "  ethernet: {duplex: both}",
			"ethernet.duplex: require full or half",
		},
		"fails with pauses that are negotiated": {
			ethernet + "  ethtool: {pause: {rx: true}}",
			"ethtool.pause.autoneg: false is required",
		},
		"fails with an unknown feature": {
			ethernet + "  ethtool: {feature: {speed-of-light: true}}",
			"interfaces[0].ethtool.feature.speed-of-light is not supported",
		},
		"fails with a ring of a negative size": {
			ethernet + "  ethtool: {ring: {rx: -1}}",
			"interfaces[0].ethtool.ring.rx: require 0 to",
		},
	})
}

func TestUnsupportedKeysAreNamedWithAReason(t *testing.T) {
	t.Parallel()
	requireFaults(t, map[string]fault{
		"fails with a key it does not know": {
			"frobnicate: {}\n" + ethernet,
			"frobnicate is not supported",
		},
		"fails with a key it does not know far inside": {
			ethernet + "  ethernet: {sr-iov: {total-vfs: 2}}",
			"interfaces[0].ethernet.sr-iov is not supported (virtual functions",
		},
		"fails with Open vSwitch": {
			"ovs-db: {}\n" + ethernet,
			"ovs-db is not supported (Open vSwitch runs only after the network is up",
		},
		"fails with a bridge of Open vSwitch": {
			"interfaces:\n- {name: br-ex, type: ovs-bridge}",
			"interfaces[0].type: require one of bond, dummy, ethernet, linux-bridge, mac-vlan, vlan, vrf, vxlan, found \"ovs-bridge\" " +
				"(Open vSwitch",
		},
		"fails with an interface of Open vSwitch": {
			"interfaces:\n- {name: br-ex, type: ovs-interface}",
			"found \"ovs-interface\" (Open vSwitch",
		},
		"fails with InfiniBand": {
			"interfaces:\n- {name: ib0, type: infiniband}",
			"found \"infiniband\" (mac_interface_map takes addresses of Ethernet",
		},
		"fails with an unknown type": {"interfaces:\n- {name: eth0, type: carrier-pigeon}", "found \"carrier-pigeon\""},
		"fails with a host name": {
			"hostname: {config: a}\n" + ethernet,
			"hostname is not supported (a host gets its name",
		},
		"fails with a policy": {"capture: {}\n" + ethernet, "capture is not supported"},
		"fails with a route to remove": {
			withRoute("state: absent, next-hop-interface: eth0"),
			"routes.config[0].state is not supported (a machine that boots",
		},
		"fails with a route to nowhere": {
			withRoute("destination: 10.0.0.0/8, route-type: blackhole"),
			"routes.config[0].route-type is not supported (give a rule",
		},
		"fails with what the nmstate of hosts lacks": {
			withOption("arp_missed_max: 3"),
			"link-aggregation.options.arp_missed_max is not supported (the nmstate of OpenShift 4.18",
		},
		"fails with what routes there lack": {
			withRoute("destination: 10.0.0.0/8, next-hop-interface: eth0, mtu: 1400"),
			"routes.config[0].mtu is not supported (the nmstate",
		},
		"fails with the group address of a bridge": {
			withBridge("options: {group-addr: '01:80:C2:00:00:04'}"),
			"interfaces[0].bridge.options.group-addr is not supported (nmstate writes it",
		},
		"fails with a bond option it does not know": {
			withOption("a: 1"),
			"interfaces[0].link-aggregation.options.a is not supported",
		},
	})
}

func TestFaultsOfBondsTellTheirPlace(t *testing.T) {
	t.Parallel()
	requireFaults(t, map[string]fault{
		"fails without settings": {
			"interfaces:\n- {name: b, type: bond}",
			"interfaces[0].link-aggregation: required with type bond",
		},
		"fails with settings under two names": {
			of("bond", "link-aggregation: {mode: 1}, bond: {mode: 1}"),
			"interfaces[0].bond: not allowed together with link-aggregation",
		},
		"fails without a mode": {
			withBond("port: [eth0]"),
			"link-aggregation.mode is required: one of balance-rr",
		},
		"fails with another mode": {
			withBond("mode: fastest, port: [eth0]"),
			"link-aggregation.mode: require one of balance-rr",
		},
		"fails with a mode by a number beyond": {
			withBond("mode: 7, port: [eth0]"),
			"link-aggregation.mode: require one of balance-rr",
		},
		"fails with ports under two names": {
			withBond("mode: 802.3ad, port: [eth0], slaves: [eth1]"),
			"link-aggregation.port: the ports must be under one name",
		},
		"fails without ports": {
			withBond("mode: 802.3ad"),
			"link-aggregation.port: at least one interface is required",
		},
		"fails with a port of two bonds": {
			withBond("mode: 802.3ad, port: [eth0]") + "\n- {name: c, type: bond, link-aggregation: {mode: 802.3ad, port: [eth0]}}",
			"found eth0, a port of x",
		},
		"fails with a port that is not there": {
			withBond("mode: 802.3ad, port: [eth7]"),
			"\"eth7\" is neither among the interfaces nor in mac_interface_map",
		},
		"fails with itself as a port": {
			withBond("mode: 802.3ad, port: [x]"),
			"require another interface than x itself",
		},
		"fails with addresses on a port": {
			addressed + "- {name: b, type: bond, link-aggregation: {mode: 802.3ad, port: [eth0]}}",
			"eth0 is a port of b and must not have addresses",
		},
		"fails with an option that adds a line": {
			withOption(`primary: "a\nb=c"`),
			"options.primary: require the name of an interface",
		},
		"fails with a primary that is not a port": {
			withOption("primary: eth7"),
			"options.primary: require one of the ports",
		},
		"fails with a number that is too large": {
			withOption("num_grat_arp: 256"),
			"options.num_grat_arp: require 0 to 255",
		},
		"fails with an unknown policy": {
			withOption("xmit_hash_policy: layer9"),
			"options.xmit_hash_policy: require one of layer2",
		},
		"fails with balancing in another mode": {
			withOption("balance-slb: 1"),
			"options.balance-slb: require mode balance-xor",
		},
		"fails with a multicast address of the system": {
			withBond("mode: 802.3ad, port: [eth0], options: {ad_actor_system: '01:00:5e:00:00:01'}"),
			"options.ad_actor_system: require an address that is no multicast one",
		},
		"fails with settings of an interface that is not a port": {
			withBond("mode: 1, port: [eth0], ports-config: [{name: eth1}]"),
			"ports-config[0].name: require one of the ports",
		},
		"fails with two ports of one queue": {
			withBond("mode: 1, ports-config: [{name: eth0, queue-id: 1}, {name: eth1, queue-id: 1}]"),
			"ports-config[1].queue-id: require an id other than eth0's",
		},
		"fails with settings of some ports only": {
			withBond("mode: 1, port: [eth0, eth1], ports-config: [{name: eth0}]"),
			"ports-config: require each port once",
		},
	})
}

func TestFaultsOfLinksTellTheirPlace(t *testing.T) {
	t.Parallel()
	requireFaults(t, map[string]fault{
		"fails with a VLAN without settings": {
			"interfaces:\n- {name: v, type: vlan}",
			"interfaces[0].vlan: required with type vlan",
		},
		"fails with VLAN settings elsewhere": {
			ethernet + "  vlan: {id: 1, base-iface: eth1}",
			"interfaces[0].vlan: require it only with type vlan",
		},
		"fails with a VLAN out of range": {
			of("vlan", "vlan: {id: 4095, base-iface: eth0}"),
			"interfaces[0].vlan.id: require 1 to 4094, found 4095",
		},
		"fails with a VLAN without a number": {
			of("vlan", "vlan: {base-iface: eth0}"),
			"interfaces[0].vlan.id: require 1 to 4094",
		},
		"fails with a VLAN on nothing": {of("vlan", "vlan: {id: 5}"), "interfaces[0].vlan.base-iface: an interface is required"},
		"fails with a VLAN on what is not there": {
			of("vlan", "vlan: {id: 5, base-iface: eth7}"),
			"\"eth7\" is neither among the interfaces nor in mac_interface_map",
		},
		"fails with a VLAN on itself": {
			of("vlan", "vlan: {id: 5, base-iface: x}"),
			"require another interface than x itself",
		},
		"fails with VLANs on each other": {
			of("vlan", "vlan: {id: 5, base-iface: z}") + "\n- {name: z, type: vlan, vlan: {id: 6, base-iface: x}}",
			"require interfaces that are not made of each other",
		},
		"fails with another protocol of VLANs": {
			of("vlan", "vlan: {id: 5, base-iface: eth0, protocol: 802.1x}"),
			"vlan.protocol: require 802.1q or 802.1ad",
		},
		"fails with another registration of VLANs": {
			of("vlan", "vlan: {id: 5, base-iface: eth0, registration-protocol: xvrp}"),
			"vlan.registration-protocol",
		},
		"fails with a name the kernel does not take": {"interfaces:\n- {name: a-very-long-interface, type: dummy}", "at most 15 letters"},
		"fails with a VXLAN out of range":            {of("vxlan", "vxlan: {id: 16777216}"), "vxlan.id: require 0 to 16777215"},
		"fails with a VXLAN to a name":               {of("vxlan", "vxlan: {id: 1, remote: here}"), "vxlan.remote: require an address"},
		"fails with a VXLAN between families": {
			of("vxlan", "vxlan: {id: 1, local: 192.0.2.1, remote: '2001:db8::1'}"),
			"vxlan.remote: must be of the same family as local",
		},
		"fails with a MACVLAN of another mode": {
			of("mac-vlan", "mac-vlan: {base-iface: eth0, mode: unknown}"),
			"mac-vlan.mode: require bridge",
		},
		"fails with a MACVLAN on nothing": {
			of("mac-vlan", "mac-vlan: {mode: bridge}"),
			"mac-vlan.base-iface: an interface is required",
		},
		"fails with a MACVLAN that hears too little": {
			of("mac-vlan", "mac-vlan: {base-iface: eth0, mode: bridge, promiscuous: false}"),
			"mac-vlan.promiscuous: require true",
		},
		"fails with a VRF without a table": {
			of("vrf", "vrf: {port: [eth0]}"),
			"vrf.route-table-id: require the number of a table",
		},
		"fails with a bridge whose tree is no map": {withBridge("options: {stp: true}"), "bridge.options.stp: require a map"},
		"fails with a bridge that greets too seldom": {
			withBridge("options: {stp: {hello-time: 11}}"),
			"bridge.options.stp.hello-time: require 1 to 10, found 11",
		},
		"fails with a bridge of another protocol": {
			withBridge("options: {vlan-protocol: 802.1x}"),
			"bridge.options.vlan-protocol: require one of",
		},
		"fails with a default VLAN without filtering": {
			withBridge("options: {vlan-default-pvid: 5}, port: [{name: eth0}]"),
			"bridge.options.vlan-default-pvid: require a port with vlan",
		},
		"fails with ports of a bridge by two names": {
			withBridge("port: [{name: eth0}], ports: []"),
			"bridge.port: the ports must be under one name",
		},
		"fails with ports of a VRF under two names": {
			of("vrf", "vrf: {port: [eth0], ports: [], route-table-id: 5}"),
			"vrf.port: the ports must be under one name",
		},
		"fails with a port without a name": {withBridge("port: [{}]"), "bridge.port[0].name: an interface is required"},
		"fails with a port that costs too much": {
			withBridge("port: [{name: eth0, stp-path-cost: 65536}]"),
			"bridge.port[0].stp-path-cost: require 0 to 65535",
		},
		"fails with a port before all others": {
			withBridge("port: [{name: eth0, stp-priority: 64}]"),
			"bridge.port[0].stp-priority: require 0 to 63",
		},
		"fails with VLANs in another mode": {withPort("mode: native"), "bridge.port[0].vlan.mode: require trunk or access"},
		"fails with VLANs in no mode": {
			withPort("tag: 5"),
			"bridge.port[0].vlan.mode is required: trunk or access",
		},
		"fails with a trunk of nothing": {
			withPort("mode: trunk"),
			"bridge.port[0].vlan.trunk-tags: required in mode trunk",
		},
		"fails with a native VLAN by the way": {
			withPort("mode: trunk, tag: 5, trunk-tags: [{id: 6}]"),
			"bridge.port[0].vlan.tag: enable-native is required",
		},
		"fails with trunks in access mode": {
			withPort("mode: access, tag: 5, trunk-tags: [{id: 6}]"),
			"bridge.port[0].vlan.trunk-tags: require them only in mode trunk",
		},
		"fails with a VLAN in a trunk twice": {
			withPort("mode: trunk, trunk-tags: [{id: 6}, {id-range: {min: 5, max: 7}}]"),
			"bridge.port[0].vlan.trunk-tags[1]: require each VLAN once, found 6 again",
		},
		"fails with a range of VLANs the wrong way": {
			withPort("mode: trunk, trunk-tags: [{id-range: {min: 7, max: 5}}]"),
			"bridge.port[0].vlan.trunk-tags[0]: must be id, or id-range",
		},
	})
}

func TestFaultsOfAddressesTellTheirPlace(t *testing.T) {
	t.Parallel()
	requireFaults(t, map[string]fault{
		"fails with an address of the other family": {
			withIP("ipv4", "address: [{ip: '::1', prefix-length: 64}]"),
			"interfaces[0].ipv4.address[0].ip: require an IPv4 address",
		},
		"fails with an IPv4 address in an IPv6 one": {
			withIP("ipv6", "address: [{ip: '::ffff:192.0.2.1', prefix-length: 64}]"),
			"interfaces[0].ipv6.address[0].ip: require an IPv6 address",
		},
		"fails with an address of a group": {
			withIP("ipv6", "address: [{ip: 'ff02::5', prefix-length: 64}]"),
			"interfaces[0].ipv6.address[0].ip: require an address that an interface can have, found ff02::5",
		},
		"fails with the address of the loopback": {
			withIP("ipv6", "address: [{ip: '::1', prefix-length: 128}]"),
			"require an address that an interface can have, found ::1",
		},
		"fails with a link-local address": {
			withIP("ipv6", "address: [{ip: 'fe80::1', prefix-length: 64}]"),
			"interfaces[0].ipv6.address[0].ip: require an address that is not link-local",
		},
		"fails without a prefix": {
			withIP("ipv4", "address: [{ip: 192.0.2.1}]"),
			"interfaces[0].ipv4.address[0].prefix-length is required",
		},
		"fails with a prefix that is too long": {
			withIP("ipv4", "address: [{ip: 192.0.2.1, prefix-length: 33}]"),
			"require 0 to 32, found 33",
		},
		"fails with addresses that are not enabled": {ethernet + "  ipv4: {dhcp: true}", "interfaces[0].ipv4.enabled: true is required"},
		"fails with router advertisements alone":    {withIP("ipv6", "autoconf: true"), "ipv6.autoconf: dhcp is required with it"},
		"fails with router advertisements of IPv4": {
			withIP("ipv4", "dhcp: true, autoconf: true"),
			"ipv4.autoconf: allowed only for ipv6",
		},
		"fails with a client ID of IPv6": {
			withIP("ipv6", "dhcp: true, dhcp-client-id: ll"),
			"ipv6.dhcp-client-id: allowed only for ipv4",
		},
		"fails with another way to make addresses": {withIP("ipv6", "addr-gen-mode: random"), "ipv6.addr-gen-mode: require eui64"},
		"fails with a DUID that NetworkManager refuses": {
			withIP("ipv6", "dhcp: true, dhcp-duid: uuid"),
			"ipv6.dhcp-duid: require ll, llt",
		},
		"fails with a token that names a network": {
			withIP("ipv6", "dhcp: true, autoconf: true, token: '2001:db8::1'"),
			"ipv6.token: require the last 64 bits",
		},
		"fails with a token without router advertisements": {withIP("ipv6", "dhcp: true, token: '::1'"), "ipv6.token: autoconf is required"},
		"fails with a host name that adds a line": {
			withIP("ipv4", "dhcp: true, dhcp-custom-hostname: \"a\\nb\""),
			"ipv4.dhcp-custom-hostname: require a host name",
		},
		"fails with a negative metric": {
			withIP("ipv4", "dhcp: true, auto-route-metric: -2"),
			"ipv4.auto-route-metric: require -1 to",
		},
	})
}

func TestFaultsOfRoutesRulesAndNamesTellTheirPlace(t *testing.T) {
	t.Parallel()
	requireFaults(t, map[string]fault{
		"fails with a route to everything": {
			withRoute("destination: all, next-hop-interface: eth0"),
			"routes.config[0].destination: require a network",
		},
		"fails with a route to this network": {
			withRoute("destination: 0.0.0.0/8, next-hop-interface: eth0"),
			"routes.config[0].destination: require 0.0.0.0/0",
		},
		"fails with a route over an interface that is not there": {
			withRoute("destination: 0.0.0.0/0, next-hop-interface: eth9"),
			"routes.config[0].next-hop-interface: require one of the interfaces",
		},
		"fails with a route over an interface that is down": {
			addressed + "  state: down\nroutes: {config: [{destination: 10.0.0.0/8, next-hop-interface: eth0}]}",
			"require an interface that is up, found eth0 down",
		},
		"fails with a route of a family the interface lacks": {
			withRoute("destination: '::/0', next-hop-interface: eth0"),
			"has no IPv6 addresses",
		},
		"fails with a route over an interface without addresses": {
			ethernet + "  ipv4: {enabled: true}\nroutes: {config: [{destination: 10.0.0.0/8, next-hop-interface: eth0}]}",
			"has no IPv4 addresses, static or of DHCP",
		},
		"fails with a next hop of the other family": {
			withRoute("destination: 0.0.0.0/0, next-hop-address: '::1', next-hop-interface: eth0"),
			"next-hop-address: require an IPv4 address",
		},
		"fails with a source of the other family": {
			withRoute("destination: 0.0.0.0/0, next-hop-interface: eth0, source: '::1'"),
			"routes.config[0].source: require an IPv4 address",
		},
		"fails with a metric beyond": {
			withRoute("destination: 0.0.0.0/0, next-hop-interface: eth0, metric: 4294967296"),
			"routes.config[0].metric: require 0 to",
		},
		"fails with a weight beyond": {
			withRoute("destination: 0.0.0.0/0, next-hop-interface: eth0, weight: 257"),
			"routes.config[0].weight: require 1 to 256",
		},
		"fails with a window of nothing": {
			withRoute("destination: 0.0.0.0/0, next-hop-interface: eth0, cwnd: 0"),
			"routes.config[0].cwnd: require 1 to",
		},
		"fails with a route of a VRF that is not there": {
			withRoute("destination: 0.0.0.0/0, next-hop-interface: eth0, vrf-name: eth0"),
			"routes.config[0].vrf-name: require a VRF",
		},
		"fails with a name server that is a name": {
			withDNS("server: [dns.example.com]"),
			"dns-resolver.config.server[0]: require an address",
		},
		"fails with an unreachable name server": {
			withDNS("server: ['2001:db8::1']"),
			"no interface with IPv6 addresses for 2001:db8::1",
		},
		"fails with a link-local name server anywhere": {
			withDNS("server: ['fe80::1']"),
			"dns-resolver.config.server[0]: require an interface with a link-local address",
		},
		"fails with a link-local name server nowhere": {
			withDNS("server: ['fe80::1%eth9']"),
			"require an interface that is up and has IPv6 addresses, found \"eth9\"",
		},
		"fails with families of name servers that alternate": {
			withDNS("server: [192.0.2.1, '2001:db8::1', 192.0.2.2]"),
			"dns-resolver.config.server: require servers of one family together",
		},
		"fails with a search domain that adds a line": {
			withDNS(`search: ["a\nb=c"]`),
			"dns-resolver.config.search[0]: require a name",
		},
		"fails with an option resolvers do not know": {
			withDNS("options: ['ndots']"),
			"dns-resolver.config.options[0]: require an option of resolv.conf",
		},
		"fails with search domains and no addresses": {
			ethernet + "dns-resolver: {config: {search: [example.com]}}",
			"dns-resolver.config.search: no interface with addresses",
		},
		"fails with a rule of no family": {
			withRule("route-table: 5"),
			"route-rules.config[0].family: ip-from",
		},
		"fails with a rule of two families": {
			withRule("ip-from: 192.0.2.1, ip-to: '::/0', route-table: 5"),
			"route-rules.config[0].ip-to: require a network of one family",
		},
		"fails with a rule without a table": {
			withRule("ip-from: 192.0.2.1"),
			"route-rules.config[0].route-table: a table or an action is required",
		},
		"fails with a rule that does something else": {
			withRule("ip-from: 192.0.2.1, action: drop"),
			"route-rules.config[0].action: require blackhole",
		},
		"fails with a mask of no mark": {
			withRule("ip-from: 192.0.2.1, route-table: 5, fwmask: 1"),
			"route-rules.config[0].fwmask: fwmark is required",
		},
		"fails with a rule for an interface that is not there": {
			withRule("ip-from: 192.0.2.1, route-table: 5, iif: eth9"),
			"route-rules.config[0].iif: require an interface",
		},
		"fails with a rule of a family no interface has": {
			withRule("family: ipv6, route-table: 5"),
			"route-rules.config[0].family: no interface with IPv6 addresses",
		},
	})
}

func TestFaultsOfTheMapTellTheirPlace(t *testing.T) {
	t.Parallel()
	nic := func(mac, name string) string {
		return `{"mac_address":"` + mac + `","logical_nic_name":"` + name + `"}`
	}
	state := `"network_yaml":"interfaces:\n- {name: eth0, type: ethernet}"`
	host := func(nics ...string) string {
		return `{` + state + `,"mac_interface_map":[` + strings.Join(nics, ",") + `]}`
	}
	identified := `{"network_yaml":"interfaces:\n- {name: eth0, type: ethernet}\n- {name: a, type: ethernet, identifier: mac-address, mac-address: '52:54:00:AA:BB:01'}","mac_interface_map":[` + nic(
		"52:54:00:aa:bb:09",
		"eth0",
	) + `]}`
	for name, c := range map[string]struct{ text, want string }{
		"fails when it is no list": {`{}`, "must be a JSON list"},
		"fails without an interface": {
			`[` + host() + `]`, "static_network_config[0].mac_interface_map: the MAC address of at least one interface is required",
		},
		"fails with an invalid MAC address": {
			`[` + host(nic("52:54", "eth0")) + `]`, "mac_interface_map[0].mac_address: require a MAC address",
		},
		"fails with a MAC address of InfiniBand": {`[` + host(nic("52:54:00:aa:bb:cc:dd:ee", "eth0")) + `]`, "require a MAC address"},
		"fails with the MAC address of the loopback": {
			`[` + host(nic("00:00:00:00:00:00", "eth0")) + `]`,
			"mac_interface_map[0].mac_address: require the MAC address of one interface, found 00:00:00:00:00:00",
		},
		"fails with a MAC address of a group": {
			`[` + host(nic("01:00:5E:00:00:01", "eth0")) + `]`, "require the MAC address of one interface, found 01:00:5e:00:00:01",
		},
		"fails with a MAC address in another notation": {
			`[` + host(nic("5254.00aa.bb01", "eth0")) + `]`, "require a MAC address such as 52:54:00:aa:bb:01",
		},
		"fails with a name that adds a line": {
			`[` + host(nic("52:54:00:aa:bb:01", `eth0\nx`)) + `]`, "logical_nic_name: require the name",
		},
		"fails with a name twice": {
			`[` + host(nic("52:54:00:aa:bb:01", "eth0"), nic("52:54:00:aa:bb:02", "eth0")) + `]`, `found "eth0" again`,
		},
		"fails with a MAC address twice": {
			`[` + host(nic("52:54:00:aa:bb:01", "eth0"), nic("52:54:00:AA:bb:01", "eth1")) + `]`, "found 52:54:00:aa:bb:01 again",
		},
		"fails with a MAC address of two hosts": {
			`[` + host(nic("52:54:00:aa:bb:01", "eth0")) + `,` + host(nic("52:54:00:AA:BB:01", "eth0")) + `]`,
			"static_network_config[1].mac_interface_map[0].mac_address: require each MAC address once",
		},
		"fails with an address that settings identify": {
			`[` + host(nic("52:54:00:aa:bb:01", "eth0")) + `,` + identified + `]`,
			"static_network_config[1].network_yaml: interfaces[1].mac-address: require each MAC address once, found 52:54:00:aa:bb:01 " +
				"again, first for host 0",
		},
	} {
		_, err := staticnet.Parse(c.text)
		require.ErrorIs(t, err, model.ErrInvalid, name)
		require.ErrorContains(t, err, c.want, name)
	}
	hosts, err := staticnet.Parse("")
	require.NoError(t, err)
	require.Empty(t, hosts)
}
