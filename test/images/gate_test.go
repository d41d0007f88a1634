package images_test

import (
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// gate is a way to a service on which a download can be held: after so many bytes of an
// answer nothing is sent until it is opened again.
type gate struct {
	net.Listener
	to string

	left    atomic.Int64 // bytes until it holds; none: never
	reached chan struct{}
	open    chan struct{}
}

// newGate listens on loopback, and leads to an address.
func newGate(t *testing.T, to string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{Listener: l, to: to, reached: make(chan struct{}), open: make(chan struct{})}
	t.Cleanup(func() { _ = l.Close() })
	go g.serve()
	return g
}

// hold stops what comes after so many bytes; once.
func (g *gate) hold(after int64) { g.left.Store(after) }

func (g *gate) serve() {
	for {
		client, err := g.Accept()
		if err != nil {
			return
		}
		go g.lead(client)
	}
}

func (g *gate) lead(client net.Conn) {
	defer client.Close()
	service, err := net.Dial("tcp", g.to)
	if err != nil {
		return
	}
	defer service.Close()
	go func() {
		_, _ = io.Copy(service, client)
		_ = service.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := service.Read(buffer)
		if before := g.left.Load(); before > 0 && g.left.Add(-int64(n)) <= 0 {
			close(g.reached)
			<-g.open
		}
		if _, failed := client.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}
