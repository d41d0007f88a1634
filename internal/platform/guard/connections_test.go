package guard_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"slipway/internal/platform/guard"
	"slipway/internal/testing/await"
)

// from is a connection of a client.
type from struct {
	net.Conn
	address string
	closed  bool
}

func (f *from) RemoteAddr() net.Addr {
	address, err := net.ResolveTCPAddr("tcp", f.address)
	if err != nil {
		panic(err)
	}
	return address
}

func (f *from) Close() error {
	f.closed = true
	return nil
}

// Attack: one client that opens connections and sends nothing.
func TestConnectionsOfOneClientAndOfAllAreBounded(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := &guard.Connections{Total: 6, PerAddress: 2, Log: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now}
	open := func(address string) *from {
		conn := &from{address: address}
		c.State(conn, http.StateNew)
		if conn.closed {
			c.State(conn, http.StateClosed)
		}
		return conn
	}
	first := open("192.0.2.1:1000")
	require.False(t, first.closed)
	require.False(t, open("192.0.2.1:1001").closed)
	require.True(t, open("192.0.2.1:1002").closed)
	require.True(t, open("[::ffff:192.0.2.1]:1003").closed, "the same client")
	require.False(t, open("192.0.2.2:1000").closed, "another client")
	c.State(first, http.StateClosed)
	require.False(t, open("192.0.2.1:1004").closed, "as soon as there is room")

	require.False(t, open("[2001:db8::1]:1").closed)
	require.False(t, open("[2001:db8::2]:1").closed)
	require.True(t, open("[2001:db8::3]:1").closed, "a network is one client")
	require.False(t, open("127.0.0.1:1").closed)
	require.True(t, open("127.0.0.1:2").closed, "all of them together")
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("too many are open")), "said once a minute")
}

func TestServerClosesConnectionsBeyondTheBounds(t *testing.T) {
	t.Parallel()
	c := &guard.Connections{Total: 3, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	server.Config.ConnState = c.State
	server.Start()
	t.Cleanup(server.Close)
	var silent []net.Conn
	for range 3 {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		silent = append(silent, conn)
	}
	get := func() error {
		once := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := once.Get(server.URL)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	await.True(t, func() bool { return get() != nil }, "the fourth is closed")
	require.NoError(t, silent[0].Close())
	await.True(t, func() bool { return get() == nil }, "there is room again")
}
