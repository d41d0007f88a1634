package download

import (
	"context"
	"crypto/tls"
	"net"
)

type connKey struct{}

// packets is a TCP connection, which may be wrapped.
type packets interface{ SetNoDelay(noDelay bool) error }

// ConnContext serves as the http.Server.ConnContext of servers with handlers that use a Sender. Without it
// everything works, at one and a half times the cost.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*tls.Conn); ok {
		conn = c.NetConn()
	}
	if c, ok := conn.(packets); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// gather makes the kernel fill packets before it sends them, until the returned function is called, which sends
// what is left. Go's default (TCP_NODELAY) is for small messages: it cuts what sendfile moves into many packets
// too small for segmentation offload.
func gather(ctx context.Context) (end func()) {
	conn, ok := ctx.Value(connKey{}).(packets)
	if !ok {
		return func() {}
	}
	_ = conn.SetNoDelay(false) // a broken connection shows at the first write
	return func() { _ = conn.SetNoDelay(true) }
}
