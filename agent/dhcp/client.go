// Package dhcp leases IPv4 addresses over an interface that is not configured (RFC 2131), and
// writes and reads leases in the form of ISC's client (dhclient.leases(5)): this keeps virtual
// addresses alive on the hosts of a cluster.
package dhcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
)

const (
	// firstPause is how long the answer to a message may take before it is sent again; each
	// later pause is twice as long. Servers look for three seconds whether an address is in use.
	firstPause = 4 * time.Second
	// knownWait is how long a server may take to confirm an address. One that does not know
	// the lease says nothing (RFC 2131, section 4.3.2).
	knownWait = 6 * time.Second
	// withoutLimit lets the context decide how often a message is sent.
	withoutLimit = -1
)

// requested are the options asked for: the same as dhclient requests by itself.
var requested = dhcpv4.WithRequestedOptions(
	dhcpv4.OptionSubnetMask, dhcpv4.OptionBroadcastAddress, dhcpv4.OptionRouter, dhcpv4.OptionDomainName,
	dhcpv4.OptionDomainNameServer, dhcpv4.OptionHostName, dhcpv4.OptionNTPServers,
)

// Client leases addresses on this machine.
type Client struct {
	Now func() time.Time
	// Open opens a socket for the DHCP messages of an interface and returns its hardware
	// address; a raw socket when nil.
	Open func(nic string) (net.PacketConn, net.HardwareAddr, error)
}

// openRaw opens a socket that needs no address on the interface.
func openRaw(nic string) (net.PacketConn, net.HardwareAddr, error) {
	link, err := net.InterfaceByName(nic)
	if err != nil {
		return nil, nil, err
	}
	conn, err := nclient4.NewRawUDPConn(nic, nclient4.ClientPort)
	return conn, link.HardwareAddr, err
}

// Lease leases an address over an interface that is up, under the interface's hardware
// address and a host name. A known lease is confirmed if its server still gives it. The
// lease is neither renewed nor released, and the interface gets no address.
func (c Client) Lease(ctx context.Context, nic, hostname, known string) (lease string, address netip.Addr, err error) {
	client, err := c.client(nic)
	if err != nil {
		return "", address, fmt.Errorf("open a socket on %s: %w", nic, err)
	}
	defer func() { _ = client.Close() }()
	ack, err := c.acknowledged(ctx, client, dhcpv4.WithOption(dhcpv4.OptHostName(hostname)), known)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", address, fmt.Errorf("ask for an address on %s: %w", nic, err)
	}
	address, ok := netip.AddrFromSlice(ack.YourIPAddr.To4())
	if !ok || address.IsUnspecified() {
		return "", address, errors.New("the lease has no address")
	}
	return write(nic, ack, c.Now()), address, nil
}

func (c Client) client(nic string) (*nclient4.Client, error) {
	open := c.Open
	if open == nil {
		open = openRaw
	}
	conn, hardware, err := open(nic)
	if err != nil {
		return nil, err
	}
	return nclient4.NewWithConn(conn, hardware, nclient4.WithTimeout(firstPause), nclient4.WithRetry(withoutLimit))
}

// acknowledged returns the server's last word: of the known lease, else of a new one.
func (c Client) acknowledged(
	ctx context.Context, client *nclient4.Client, hostname dhcpv4.Modifier, known string,
) (*dhcpv4.DHCPv4, error) {
	modifiers := []dhcpv4.Modifier{hostname, requested}
	if address, found := Address(known); found {
		wanted := dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(address.AsSlice()))
		ack, err := confirm(ctx, client, append(modifiers, wanted)...)
		if err != nil || ack.MessageType() == dhcpv4.MessageTypeAck {
			return ack, err
		}
	}
	lease, err := client.Request(ctx, modifiers...)
	if err != nil {
		return nil, err
	}
	return lease.ACK, nil
}

// confirm asks for a known address without looking for others (RFC 2131, section 3.2).
// The answer is a NAK also where no server says anything.
func confirm(ctx context.Context, client *nclient4.Client, modifiers ...dhcpv4.Modifier) (*dhcpv4.DHCPv4, error) {
	request, err := dhcpv4.New(dhcpv4.PrependModifiers(modifiers,
		dhcpv4.WithHwAddr(client.InterfaceAddr()), dhcpv4.WithBroadcast(true), dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest),
		dhcpv4.WithOption(dhcpv4.OptMaxMessageSize(nclient4.MaxMessageSize)))...)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, knownWait)
	defer cancel()
	answer, err := client.SendAndRead(limited, client.RemoteAddr(), request,
		nclient4.IsMessageType(dhcpv4.MessageTypeAck, dhcpv4.MessageTypeNak))
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return dhcpv4.New(dhcpv4.WithMessageType(dhcpv4.MessageTypeNak))
	}
	return answer, err
}
