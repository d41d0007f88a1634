package inventory

import (
	"net"
	"net/netip"
)

// Link is a network interface.
type Link struct {
	Name string
	// MAC is the permanent address where the device has one, else the current one.
	MAC net.HardwareAddr
	// Current is the address that the device uses, where a user gave it another one than MAC; nil for ports of bonds and teams, which
	// share one.
	Current net.HardwareAddr
	MTU     int // bytes
	// Type is the link type of rtnetlink: "device" for hardware, else "bond", "vlan", "veth"...
	Type       string
	Flags      net.Flags
	HasCarrier bool
	// Addresses are the interface's, with the length of their network.
	Addresses []netip.Prefix
}

// Route is an entry of the main routing table.
type Route struct {
	Interface string
	// Destination is 0.0.0.0/0 or ::/0 for the default route.
	Destination netip.Prefix
	Gateway     netip.Addr // not valid for networks on the link
	Metric      int
}

// Links are the interfaces and routes of a host: Netlink on a real one.
type Links interface {
	Links() ([]Link, error)
	Routes() ([]Route, error)
}
