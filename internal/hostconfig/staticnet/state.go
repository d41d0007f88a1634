package staticnet

import "slices"

// state is the supported part of NMState's schema (nmstate.io, version 2).
type state struct {
	Interfaces []iface `json:"interfaces"`
	DNS        struct {
		Config dnsConfig `json:"config"`
	} `json:"dns-resolver"`
	Routes struct {
		Config []route `json:"config"`
	} `json:"routes"`
	Rules struct {
		Config []rule `json:"config"`
	} `json:"route-rules"`
}

type iface struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	State       string   `json:"state"` // up, down
	Description string   `json:"description"`
	ProfileName string   `json:"profile-name"`
	Identifier  string   `json:"identifier"` // name, mac-address
	MAC         string   `json:"mac-address"`
	CopyMACFrom string   `json:"copy-mac-from"`
	AcceptAll   *flag    `json:"accept-all-mac-addresses"`
	MTU         *number  `json:"mtu"`
	WaitIP      string   `json:"wait-ip"`
	IPv4        *ip      `json:"ipv4"`
	IPv6        *ip      `json:"ipv6"`
	VLAN        *vlan    `json:"vlan"`
	VXLAN       *vxlan   `json:"vxlan"`
	MACVLAN     *macvlan `json:"mac-vlan"`
	VRF         *vrf     `json:"vrf"`
	Bond        *bond    `json:"link-aggregation"`
	BondToo     *bond    `json:"bond"` // another name of link-aggregation
	Bridge      *bridge  `json:"bridge"`
	Ethernet    *link    `json:"ethernet"`
	Ethtool     *ethtool `json:"ethtool"`
	LLDP        *struct {
		Enabled flag `json:"enabled"`
	} `json:"lldp"`
}

func (one iface) up() bool { return one.State != "down" }

func (one iface) family(family string) *ip {
	if family == "ipv4" {
		return one.IPv4
	}
	return one.IPv6
}

type ip struct {
	Enabled        *flag     `json:"enabled"`
	DHCP           *flag     `json:"dhcp"`
	Autoconf       *flag     `json:"autoconf"` // IPv6
	Address        []address `json:"address"`
	AutoDNS        *flag     `json:"auto-dns"`
	AutoGateway    *flag     `json:"auto-gateway"`
	AutoRoutes     *flag     `json:"auto-routes"`
	AutoRouteTable *number   `json:"auto-route-table-id"`
	AutoMetric     *number   `json:"auto-route-metric"`
	AddrGenMode    string    `json:"addr-gen-mode"`  // IPv6
	Token          string    `json:"token"`          // IPv6
	ClientID       string    `json:"dhcp-client-id"` // IPv4
	DUID           string    `json:"dhcp-duid"`      // IPv6
	SendHostname   *flag     `json:"dhcp-send-hostname"`
	CustomHostname string    `json:"dhcp-custom-hostname"`
	AllowExtra     *flag     `json:"allow-extra-address"` // about checks after the fact, which are not made offline
}

func (p *ip) enabled() bool { return p != nil && p.Enabled.is(true) }
func (p *ip) auto() bool    { return p.enabled() && (p.DHCP.is(true) || p.Autoconf.is(true)) }
func (p *ip) static() bool  { return p.enabled() && !p.auto() && len(p.Address) > 0 }

type address struct {
	IP     string  `json:"ip"`
	Prefix *number `json:"prefix-length"`
}

type vlan struct {
	Base         string  `json:"base-iface"`
	ID           *number `json:"id"`
	Protocol     string  `json:"protocol"`
	Registration string  `json:"registration-protocol"`
	Reorder      *flag   `json:"reorder-headers"`
	Loose        *flag   `json:"loose-binding"`
}

type vxlan struct {
	Base     string  `json:"base-iface"`
	ID       *number `json:"id"`
	Learning *flag   `json:"learning"`
	Local    string  `json:"local"`
	Remote   string  `json:"remote"`
	Port     *number `json:"destination-port"`
}

type macvlan struct {
	Base        string `json:"base-iface"`
	Mode        string `json:"mode"`
	Promiscuous *flag  `json:"promiscuous"`
}

type vrf struct {
	Table *number  `json:"route-table-id"`
	Port  []string `json:"port"`
	Ports []string `json:"ports"` // another name of port
}

type bond struct {
	Mode        any            `json:"mode"` // a word or its number
	Options     map[string]any `json:"options"`
	Port        []string       `json:"port"`
	Ports       []string       `json:"ports"`  // another name of port
	Slaves      []string       `json:"slaves"` // the former name of port
	PortsConfig []bondPort     `json:"ports-config"`
}

type bondPort struct {
	Name     string  `json:"name"`
	Priority *number `json:"priority"`
	Queue    *number `json:"queue-id"`
}

// names lists the ports under whichever name they are given.
func (b *bond) names() []string { return slices.Concat(b.Port, b.Ports, b.Slaves) }

type bridge struct {
	Options    map[string]any `json:"options"`
	Port       []bridgePort   `json:"port"`
	Ports      []bridgePort   `json:"ports"` // another name of port
	AllowExtra *flag          `json:"allow-extra-ports"`
}

type bridgePort struct {
	Name     string          `json:"name"`
	Hairpin  *flag           `json:"stp-hairpin-mode"`
	PathCost *number         `json:"stp-path-cost"`
	Priority *number         `json:"stp-priority"`
	VLAN     *bridgePortVLAN `json:"vlan"`
}

type bridgePortVLAN struct {
	Mode         string     `json:"mode"` // trunk, access
	Tag          *number    `json:"tag"`
	EnableNative *flag      `json:"enable-native"`
	TrunkTags    []trunkTag `json:"trunk-tags"`
}

type trunkTag struct {
	ID    *number `json:"id"`
	Range *struct {
		Min number `json:"min"`
		Max number `json:"max"`
	} `json:"id-range"`
}

type link struct {
	AutoNegotiation *flag   `json:"auto-negotiation"`
	Speed           *number `json:"speed"` // Mb/s
	Duplex          string  `json:"duplex"`
}

type ethtool struct {
	Feature  map[string]any `json:"feature"`
	Ring     map[string]any `json:"ring"`
	Pause    map[string]any `json:"pause"`
	Coalesce map[string]any `json:"coalesce"`
}

type dnsConfig struct {
	Server  []string `json:"server"`
	Search  []string `json:"search"`
	Options []string `json:"options"`
}

type route struct {
	Destination string  `json:"destination"`
	NextHop     string  `json:"next-hop-address"`
	Interface   string  `json:"next-hop-interface"`
	Metric      *number `json:"metric"`
	Table       *number `json:"table-id"`
	VRF         string  `json:"vrf-name"`
	Weight      *number `json:"weight"`
	Source      string  `json:"source"`
	Window      *number `json:"cwnd"`
}

type rule struct {
	From     string  `json:"ip-from"`
	To       string  `json:"ip-to"`
	Priority *number `json:"priority"`
	Table    *number `json:"route-table"`
	Family   string  `json:"family"`
	Mark     *number `json:"fwmark"`
	Mask     *number `json:"fwmask"`
	Incoming string  `json:"iif"`
	Action   string  `json:"action"`
	Suppress *number `json:"suppress-prefix-length"`
}
