// Package front listens on port 443 of a bench cluster's masters: it stands in for the service network, of
// which only the API's address exists, and for the router.
package front

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// dialLimit bounds the wait for one API server.
const dialLimit = 5 * time.Second

// Front takes connections.
type Front struct {
	// Service is the address of the service "kubernetes"; what arrives there goes to the
	// first of APIs (host:port) that takes it.
	Service netip.Addr
	APIs    []string
	// Certificate is the router's; Hosts are the names of its routes.
	Certificate tls.Certificate
	Hosts       func() []string
	Log         *slog.Logger
}

// Serve serves until ctx ends or the listener fails.
func (f *Front) Serve(ctx context.Context, listener net.Listener) error {
	routed := &queue{listener: listener, next: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{
		Handler: http.HandlerFunc(f.route), ReadHeaderTimeout: 30 * time.Second,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{f.Certificate}, MinVersion: tls.VersionTLS12},
		ErrorLog:  slog.NewLogLogger(f.Log.Handler(), slog.LevelDebug),
	}
	go func() { _ = server.ServeTLS(routed, "", "") }()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	defer func() { _ = server.Close() }()
	for {
		conn, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if local, ok := conn.LocalAddr().(*net.TCPAddr); ok && local.AddrPort().Addr().Unmap() == f.Service {
			go f.pass(ctx, conn)
			continue
		}
		routed.put(conn)
	}
}

// pass hands a connection to an API server.
func (f *Front) pass(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	var api net.Conn
	var last error
	for _, address := range f.APIs {
		dialer := net.Dialer{Timeout: dialLimit}
		if api, last = dialer.DialContext(ctx, "tcp", address); last == nil {
			break
		}
	}
	if last != nil || api == nil {
		f.Log.Warn("no API server takes connections", "reason", last)
		return
	}
	defer func() { _ = api.Close() }()
	var both sync.WaitGroup
	both.Go(func() { copyHalf(api, conn) })
	both.Go(func() { copyHalf(conn, api) })
	both.Wait()
}

func copyHalf(to, from net.Conn) {
	_, _ = io.Copy(to, from) // the end of either side ends both
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// route answers for the names that have a route.
func (f *Front) route(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		_, _ = io.WriteString(w, "ok\n")
		return
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	for _, known := range f.Hosts() {
		if known == host {
			_, _ = io.WriteString(w, "bench route "+host+"\n")
			return
		}
	}
	http.Error(w, "no route of that name", http.StatusServiceUnavailable)
}

// queue is a listener whose connections somebody else has taken.
type queue struct {
	listener net.Listener
	next     chan net.Conn
	done     chan struct{}
	once     sync.Once
}

func (q *queue) put(conn net.Conn) {
	select {
	case q.next <- conn:
	case <-q.done:
		_ = conn.Close()
	}
}

// Accept implements net.Listener.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case conn := <-q.next:
		return conn, nil
	case <-q.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (q *queue) Close() error {
	q.once.Do(func() { close(q.done) })
	return nil
}

// Addr implements net.Listener.
func (q *queue) Addr() net.Addr { return q.listener.Addr() }
