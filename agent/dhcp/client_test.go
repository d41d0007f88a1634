package dhcp_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/stretchr/testify/require"

	"slipway/agent/dhcp"
)

var hardware = net.HardwareAddr{2, 0, 0, 0, 0, 0x0a}

// server is a DHCP server behind a socket in memory.
type server struct {
	net.PacketConn // of an ended socket: only what is below is used
	// answer returns what the server says to a message; nil: nothing.
	answer  func(m *dhcpv4.DHCPv4) *dhcpv4.DHCPv4
	heard   []*dhcpv4.DHCPv4
	replies chan []byte
	ended   chan struct{}
}

func newServer(answer func(m *dhcpv4.DHCPv4) *dhcpv4.DHCPv4) *server {
	return &server{answer: answer, replies: make(chan []byte, 8), ended: make(chan struct{})}
}

func (s *server) WriteTo(content []byte, _ net.Addr) (int, error) {
	message, err := dhcpv4.FromBytes(content)
	if err != nil {
		return 0, err
	}
	s.heard = append(s.heard, message)
	if reply := s.answer(message); reply != nil {
		s.replies <- reply.ToBytes()
	}
	return len(content), nil
}

func (s *server) ReadFrom(into []byte) (int, net.Addr, error) {
	select {
	case reply := <-s.replies:
		return copy(into, reply), &net.UDPAddr{}, nil
	case <-s.ended:
		return 0, nil, net.ErrClosed
	}
}

func (s *server) Close() error {
	close(s.ended)
	return nil
}

// lease asks the server for an address at noon.
func (s *server) lease(ctx context.Context, known string) (string, netip.Addr, error) {
	return dhcp.Client{
		Now:  func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) },
		Open: func(string) (net.PacketConn, net.HardwareAddr, error) { return s, hardware, nil },
	}.Lease(ctx, "api", "02-00-00-00-00-0a-api", known)
}

// kinds lists the types of the messages that the server heard, with the requested address.
func (s *server) kinds() []string {
	var kinds []string
	for _, m := range s.heard {
		kind := m.MessageType().String()
		if address := m.RequestedIPAddress(); address != nil {
			kind += " " + address.String()
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// gives answers with an address, for an hour.
func gives(address string, modifiers ...dhcpv4.Modifier) func(m *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
	return func(m *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
		kind := dhcpv4.MessageTypeOffer
		if m.MessageType() == dhcpv4.MessageTypeRequest {
			kind = dhcpv4.MessageTypeAck
		}
		reply, err := dhcpv4.NewReplyFromRequest(m, dhcpv4.PrependModifiers(modifiers,
			dhcpv4.WithMessageType(kind), dhcpv4.WithYourIP(net.ParseIP(address)), dhcpv4.WithLeaseTime(3600),
			dhcpv4.WithOption(dhcpv4.OptServerIdentifier(net.IPv4(192, 0, 2, 1))),
			dhcpv4.WithNetmask(net.IPv4Mask(255, 255, 255, 0)))...)
		if err != nil {
			panic(err)
		}
		return reply
	}
}

func TestALeaseHasTheFormOfDhclient(t *testing.T) {
	t.Parallel()
	s := newServer(gives("192.0.2.50", dhcpv4.WithRouter(net.IPv4(192, 0, 2, 1)),
		dhcpv4.WithDNS(net.IPv4(192, 0, 2, 2), net.IPv4(192, 0, 2, 3)),
		dhcpv4.WithOption(dhcpv4.OptHostName(`evil"; }`)), dhcpv4.WithOption(dhcpv4.OptDomainName("example.com")),
		dhcpv4.WithOption(dhcpv4.OptRenewTimeValue(1200*time.Second))))
	lease, address, err := s.lease(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "192.0.2.50", address.String())
	// dhclient.leases(5) of ISC DHCP 4.4; Sunday is day 0.
	require.Equal(t, `lease {
  interface "api";
  fixed-address 192.0.2.50;
  option subnet-mask 255.255.255.0;
  option routers 192.0.2.1;
  option domain-name-servers 192.0.2.2,192.0.2.3;
  option domain-name "example.com";
  option dhcp-lease-time 3600;
  option dhcp-message-type 5;
  option dhcp-server-identifier 192.0.2.1;
  option dhcp-renewal-time 1200;
  renew 0 2026/11/22 12:20:00;
  rebind 0 2026/11/22 12:52:30;
  expire 0 2026/11/22 13:00:00;
}
`, lease)
	require.Equal(t, []string{"DISCOVER", "REQUEST 192.0.2.50"}, s.kinds())
	for _, m := range s.heard {
		require.Equal(t, "02-00-00-00-00-0a-api", m.HostName())
		require.Equal(t, hardware, m.ClientHWAddr)
	}
}

func TestALeaseWithoutAnEndHasNoTimes(t *testing.T) {
	t.Parallel()
	lease, _, err := newServer(gives("192.0.2.50", dhcpv4.WithLeaseTime(0xffffffff))).lease(t.Context(), "")
	require.NoError(t, err)
	require.Contains(t, lease, "  renew never;\n  rebind never;\n  expire never;\n}\n")
}

const known = "lease {\n  fixed-address 192.0.2.40;\n}\nlease {\n  interface \"api\";\n  fixed-address 192.0.2.50;\n  expire never;\n}\n"

func TestAKnownLeaseIsConfirmedWithoutASearch(t *testing.T) {
	t.Parallel()
	s := newServer(gives("192.0.2.50"))
	_, address, err := s.lease(t.Context(), known)
	require.NoError(t, err)
	require.Equal(t, "192.0.2.50", address.String())
	require.Equal(t, []string{"REQUEST 192.0.2.50"}, s.kinds(), "the last lease holds")
	require.Nil(t, s.heard[0].ServerIdentifier(), "any server may answer (RFC 2131, section 4.3.2)")
}

func TestALeaseThatItsServerDeniesIsReplaced(t *testing.T) {
	t.Parallel()
	s := newServer(func(m *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
		reply := gives("192.0.2.60")(m)
		if m.MessageType() == dhcpv4.MessageTypeRequest && m.ServerIdentifier() == nil {
			reply.UpdateOption(dhcpv4.OptMessageType(dhcpv4.MessageTypeNak))
		}
		return reply
	})
	_, address, err := s.lease(t.Context(), known)
	require.NoError(t, err)
	require.Equal(t, "192.0.2.60", address.String())
	require.Equal(t, []string{"REQUEST 192.0.2.50", "DISCOVER", "REQUEST 192.0.2.60"}, s.kinds())
}

func TestNoLeaseIsMadeUp(t *testing.T) {
	t.Parallel()
	silent := newServer(func(*dhcpv4.DHCPv4) *dhcpv4.DHCPv4 { return nil })
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, late)
	defer cancel()
	_, _, err := silent.lease(ctx, known)
	require.ErrorIs(t, err, late)

	_, _, err = newServer(gives("0.0.0.0")).lease(t.Context(), "")
	require.ErrorContains(t, err, "the lease has no address")
}

func TestAddressIsThatOfTheLeaseThatHolds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		known: "192.0.2.50", "": "", "lease {\n}\n": "", "lease {\n  fixed-address 300.1.1.1;\n}\n": "",
	} {
		address, found := dhcp.Address(text)
		require.Equal(t, want != "", found, text)
		if found {
			require.Equal(t, want, address.String())
		}
	}
}
