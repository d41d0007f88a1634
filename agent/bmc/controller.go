// Package bmc asks a machine's management controller for its addresses, by the commands of
// IPMI 2.0 (revision 1.1 with errata 7) over the interface of the host.
package bmc

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
)

// Device carries commands to a controller and their responses back.
type Device interface {
	// Ask sends a command and returns the data of its response, which stands after the
	// completion code. A code other than zero is a CompletionError.
	Ask(ctx context.Context, command Command) ([]byte, error)
	Close() error
}

// Command is a command of IPMI: function, number and data.
type Command struct {
	Function, Number byte
	Data             []byte
}

// CompletionError is the code of a command that the controller refused (IPMI, table 5-2).
type CompletionError byte

func (e CompletionError) Error() string { return fmt.Sprintf("completion code 0x%02x", byte(e)) }

// Controller is a management controller.
type Controller struct {
	// Open opens the device of the controller: an error where there is none.
	Open func() (Device, error)
}

// channels lists the IPMI channels that may be LAN channels: 1 to 11, and the one some controllers
// have beyond.
const channels = 12

// Addresses finds the first IPv4 and the first IPv6 address that any channel has and others can
// reach; invalid ones where there is none. A controller that stops to answer ends the search.
func (c Controller) Addresses(ctx context.Context) (v4, v6 netip.Addr, err error) {
	device, err := c.Open()
	if err != nil {
		return v4, v6, err
	}
	defer func() { _ = device.Close() }()
	asked := conversation{ctx: ctx, device: device}
	for channel := byte(1); channel <= channels; channel++ {
		if v4.IsValid() && v6.IsValid() {
			break
		}
		if !asked.isLAN(channel) {
			continue
		}
		if !v4.IsValid() {
			v4 = asked.ipv4(channel)
		}
		if !v6.IsValid() {
			v6 = asked.ipv6(channel)
		}
	}
	return v4, v6, asked.err
}

// conversation asks until the controller does not answer any more.
type conversation struct {
	ctx    context.Context
	device Device
	err    error
}

// ask returns the data of a response of at least so many bytes, nil for another one.
func (c *conversation) ask(function, number byte, least int, data ...byte) []byte {
	if c.err != nil {
		return nil
	}
	response, err := c.device.Ask(c.ctx, Command{function, number, data})
	var refused CompletionError
	if err != nil && !errors.As(err, &refused) {
		c.err = err
	}
	if err != nil || len(response) < least {
		return nil
	}
	return response
}

// isLAN reports whether a channel is a network (IPMI, section 22.24 and table 6-3).
func (c *conversation) isLAN(channel byte) bool {
	const application, getChannelInfo = 0x06, 0x42
	const ethernet, otherLAN = 4, 6
	info := c.ask(application, getChannelInfo, 2, channel)
	if info == nil {
		return false
	}
	medium := info[1] & 0x7f
	return medium == ethernet || medium == otherLAN
}

// The parameters of a network (IPMI, table 23-4).
const (
	parameterIPv4    = 3
	parameterEnables = 51
	parameterStatus  = 55
	parameterStatic  = 56
	parameterDynamic = 59
)

// parameter returns a parameter of a channel, without the revision that stands before it.
func (c *conversation) parameter(channel, selector, set byte, least int) []byte {
	const transport, getLANConfiguration = 0x0c, 0x02
	response := c.ask(transport, getLANConfiguration, 1+least, channel, selector, set, 0)
	if response == nil {
		return nil
	}
	return response[1:]
}

func (c *conversation) ipv4(channel byte) netip.Addr {
	address, _ := netip.AddrFromSlice(c.parameter(channel, parameterIPv4, 0, 4))
	return reachable(address)
}

// ipv6 prefers an address that the controller got from the network to one that a person gave it, as
// it answers to the first.
func (c *conversation) ipv6(channel byte) netip.Addr {
	const ipv4Only = 0
	enables := c.parameter(channel, parameterEnables, 0, 1)
	if enables == nil || enables[0] == ipv4Only {
		return netip.Addr{}
	}
	counts := c.parameter(channel, parameterStatus, 0, 2)
	if counts == nil {
		return netip.Addr{}
	}
	for set := range counts[1] {
		if address, _ := c.entry(channel, parameterDynamic, set); address.IsValid() {
			return address
		}
	}
	for set := range counts[0] {
		if address, enabled := c.entry(channel, parameterStatic, set); address.IsValid() && enabled {
			return address
		}
	}
	return netip.Addr{}
}

// entry reads an address of a list, and whether it is in use: after its number and the byte with
// its origin come the address, the length of its prefix and its status.
func (c *conversation) entry(channel, parameter, set byte) (address netip.Addr, enabled bool) {
	const length, from, to, status, active = 20, 2, 18, 19, 0
	data := c.parameter(channel, parameter, set, length)
	if data == nil || data[status] != active {
		return netip.Addr{}, false
	}
	address, _ = netip.AddrFromSlice(data[from:to])
	return reachable(address), data[1]&0x80 != 0
}

// reachable returns an address that others can use, else an invalid one.
func reachable(address netip.Addr) netip.Addr {
	if !address.IsValid() || address.IsUnspecified() || address.IsLinkLocalUnicast() {
		return netip.Addr{}
	}
	return address
}
