package fair

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"
)

// strangersWait is how long a stranger waits for its turn. It runs without one then, as others do.
const strangersWait = time.Second

// Listener returns a listener of TCP whose connections give way. It is for TLS, whose bytes pass through the process; files would not be
// sent by the kernel any more.
//
// A connection is a stranger until a request of it is admitted, and after one that was refused. Strangers take turns with handshakes, the
// headers of requests, and what Begin covers: however many come, one of them runs for each two processors. ConnState and ConnContext
// have to serve the http.Server of the listener.
func Listener(l net.Listener) net.Listener {
	return &listener{l, NewTurns(), NewTurns(), strangersWait}
}

type listener struct {
	net.Listener
	strangers *Turns
	large     *Turns
	patience  time.Duration
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if tcp, ok := accepted.(*net.TCPConn); ok {
		return &conn{
			TCPConn: tcp, read: newMover(), written: newMover(),
			stranger: ownTurn{of: l.strangers, patience: l.patience}, large: ownTurn{of: l.large, patience: l.patience},
		}, nil
	}
	return accepted, err //nolint:wrapcheck // the server distinguishes errors of its listener
}

type conn struct {
	*net.TCPConn
	read, written mover // each has one user at a time, which crypto/tls sees to

	stranger, large ownTurn
	known           atomic.Bool // the last request was admitted
	serving         atomic.Bool // a request is with its handler
	sending         atomic.Bool // a large answer
}

// ownTurn is a turn that a connection has, or waits for.
type ownTurn struct {
	of       *Turns
	patience time.Duration
	has      atomic.Bool
}

// enter waits for the turn.
func (t *ownTurn) enter() {
	if t.of.takeWithin(t.patience) && t.has.Swap(true) {
		t.of.leave() // it has one
	}
}

// leave gives the turn back, if there is one.
func (t *ownTurn) leave() {
	if t.has.CompareAndSwap(true, false) {
		t.of.leave()
	}
}

// Read implements net.Conn. What the server reads ahead while a handler runs takes no turn.
func (c *conn) Read(p []byte) (int, error) {
	if !c.serving.Load() {
		c.stranger.leave()
	}
	n, err := c.TCPConn.Read(p)
	c.read.moved(n)
	if n > 0 && !c.serving.Load() {
		c.enter()
	}
	return n, err //nolint:wrapcheck // the connection's own
}

// Write implements net.Conn. It may wait for the client.
func (c *conn) Write(p []byte) (int, error) {
	c.stranger.leave()
	c.large.leave()
	n, err := c.TCPConn.Write(p)
	if c.sending.Load() && err == nil {
		c.large.enter()
	} else {
		c.written.moved(n)
	}
	return n, err //nolint:wrapcheck // the connection's own
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.stranger.leave()
	c.large.leave()
	return c.TCPConn.Close() //nolint:wrapcheck // the connection's own
}

// enter waits for the turn of a stranger.
func (c *conn) enter() {
	if !c.known.Load() {
		c.stranger.enter()
	}
}

// Large makes an answer take turns with others while it is sent, from its second write on: what encrypts it runs on half the processors.
// Between two writes the handler may read files, and wait for nothing else. It ends the answer.
func Large(ctx context.Context) (end func()) {
	c, _ := ctx.Value(connKey{}).(*conn)
	if c == nil {
		return func() {}
	}
	c.sending.Store(true)
	return func() {
		c.sending.Store(false)
		c.large.leave()
	}
}

// ConnState serves as http.Server.ConnState.
func ConnState(served net.Conn, state http.ConnState) {
	c := inner(served)
	if c == nil {
		return
	}
	switch state {
	case http.StateActive:
		c.serving.Store(true)
		c.stranger.leave()
	case http.StateIdle:
		c.serving.Store(false)
		if c.known.Load() {
			runtime.Gosched() // who sends many requests at once has answered one
			return
		}
		c.enter()
	case http.StateHijacked, http.StateClosed:
		c.stranger.leave()
	case http.StateNew:
	}
}

// inner returns the connection of a Listener that TLS is spoken on, or nil.
func inner(served net.Conn) *conn {
	if over, ok := served.(interface{ NetConn() net.Conn }); ok {
		served = over.NetConn()
	}
	c, _ := served.(*conn)
	return c
}

type connKey struct{}

// ConnContext serves as http.Server.ConnContext.
func ConnContext(ctx context.Context, served net.Conn) context.Context {
	if c := inner(served); c != nil {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// Begin waits for the turn of a request of a stranger, whose credential is checked then. The caller ends the turn, and reports whether the
// request is admitted.
func Begin(ctx context.Context) (end func(admitted bool)) {
	c, _ := ctx.Value(connKey{}).(*conn)
	if c == nil {
		return func(bool) {}
	}
	c.enter()
	return func(admitted bool) {
		c.known.Store(admitted)
		c.stranger.leave()
	}
}
