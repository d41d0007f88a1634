package netlab

import (
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Clock is a time server of the bench (RFC 5905, server mode only). It can tell single
// hosts another time than the right one.
type Clock struct {
	mu   sync.Mutex
	skew map[netip.Addr]time.Duration
}

// NewClock serves time on an address of the namespace until the test ends.
func NewClock(t *testing.T, s *Space, address string) *Clock {
	t.Helper()
	c := &Clock{skew: map[netip.Addr]time.Duration{}}
	var conn net.PacketConn
	require.NoError(t, s.Inside(func() (err error) {
		conn, err = net.ListenPacket("udp4", net.JoinHostPort(address, "123"))
		return err
	}))
	t.Cleanup(func() { _ = conn.Close() })
	go c.serve(conn)
	return c
}

// Tell makes the server wrong for one host; zero makes it right again.
func (c *Clock) Tell(host netip.Addr, skew time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skew[host] = skew
}

// The fields of an NTP packet that the server fills, by their place in it.
const (
	ntpSize      = 48
	ntpReference = 16
	ntpOrigin    = 24
	ntpReceive   = 32
	ntpTransmit  = 40
)

func (c *Clock) serve(conn net.PacketConn) {
	request, reply := make([]byte, 512), make([]byte, ntpSize)
	for {
		n, from, err := conn.ReadFrom(request)
		if err != nil {
			return // closed
		}
		address, err := netip.ParseAddrPort(from.String())
		if err != nil || n < ntpSize {
			continue
		}
		c.mu.Lock()
		now := time.Now().Add(c.skew[address.Addr().Unmap()])
		c.mu.Unlock()
		clear(reply)
		reply[0] = request[0]&0b00111000 | 4 // the version of the client, mode server
		reply[1], reply[2], reply[3] = 2, request[2], 0xEC
		copy(reply[12:16], "BNCH")
		binary.BigEndian.PutUint32(reply[4:8], 1<<4)  // root delay and dispersion, 16.16 fixed point:
		binary.BigEndian.PutUint32(reply[8:12], 1<<4) // a quarter of a millisecond
		copy(reply[ntpOrigin:], request[ntpTransmit:ntpSize])
		binary.BigEndian.PutUint64(reply[ntpReference:], ntpTime(now.Add(-time.Second)))
		binary.BigEndian.PutUint64(reply[ntpReceive:], ntpTime(now))
		binary.BigEndian.PutUint64(reply[ntpTransmit:], ntpTime(now))
		_, _ = conn.WriteTo(reply, from) // a lost answer is asked for again
	}
}

// ntpTime returns seconds since 1900 in 32.32 fixed point.
func ntpTime(at time.Time) uint64 {
	const since1900 = 2208988800
	return uint64(at.Unix()+since1900)<<32 | uint64(at.Nanosecond())<<32/uint64(time.Second)
}
