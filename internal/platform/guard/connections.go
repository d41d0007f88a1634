package guard

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Connections bounds how many are open: each costs memory before its first request, whoever opens it. The zero value of a bound is
// none.
type Connections struct {
	Total      int
	PerAddress int // of one client: an IPv4 address, or an IPv6 network /64; not of loopback, where proxies are
	Log        *slog.Logger
	Now        func() time.Time

	mu       sync.Mutex
	all      int
	open     map[netip.Prefix]int
	closed   int
	reported time.Time
}

// reportEvery is how often closed connections are logged.
const reportEvery = time.Minute

// State serves as http.Server.ConnState and closes connections beyond the bounds as they come.
func (c *Connections) State(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !c.enter(clientOf(conn)) {
			_ = conn.Close() // the server finds it closed, and says so
		}
	case http.StateClosed, http.StateHijacked:
		c.leave(clientOf(conn))
	case http.StateActive, http.StateIdle:
	}
}

// clientOf returns the prefix that connections are counted by; the zero prefix: loopback.
func clientOf(conn net.Conn) netip.Prefix {
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil || remote.Addr().Unmap().IsLoopback() {
		return netip.Prefix{}
	}
	ip := remote.Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	client, _ := ip.Prefix(bits)
	return client
}

// enter counts a connection; it reports whether the connection is within the bounds.
func (c *Connections) enter(client netip.Prefix) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[netip.Prefix]int{}
	}
	c.all++
	c.open[client]++
	if (c.Total == 0 || c.all <= c.Total) && (c.PerAddress == 0 || !client.IsValid() || c.open[client] <= c.PerAddress) {
		return true
	}
	c.closed++
	if now := c.Now(); now.Sub(c.reported) >= reportEvery {
		c.Log.Warn("connections closed: too many are open", "closed", c.closed, "client", client.String(), "open", c.all-1,
			"of_client", c.open[client]-1)
		c.closed, c.reported = 0, now
	}
	return false
}

func (c *Connections) leave(client netip.Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.open[client]--; c.open[client] == 0 {
		delete(c.open, client)
	}
}
