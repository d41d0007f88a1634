package process

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"slipway/internal/images/download"
	"slipway/internal/platform/fair"
	"slipway/internal/platform/guard"
	"slipway/internal/platform/httpapi"
)

// RequestGrace is how long requests may take once the shutdown begins. Requests that only
// wait end at once.
const RequestGrace = 2 * time.Second

// Server is the one HTTP listener of the process. It answers from the moment it is there,
// so that a port taken is known before a database is started, and a probe sees a process
// that lives.
type Server struct {
	listener net.Listener
	http     *http.Server
	handler  atomic.Pointer[http.Handler]
	now      func() time.Time
	draining context.Context // done when the shutdown begins
	drain    context.CancelFunc
	abort    context.CancelFunc // ends every request
}

// maxHeader bounds the headers of a request, in bytes: tokens have less than 1 KiB, and whoever sends headers has shown none yet.
const maxHeader = 16 << 10

// maxUnsent is how much of an answer the kernel keeps for a client, in bytes, beside what it has sent and the client has not confirmed: it
// would take 4 MB for each client that reads nothing, and as much time to fill that.
const maxUnsent = 512 << 10

// boundUnsent sets that on a listener, whose connections have it then: tcp(7), TCP_NOTSENT_LOWAT.
func boundUnsent(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent)
	})
	return errors.Join(err, failed)
}

// Listen opens the listener and serves start-up answers until Use is called. With security
// it speaks HTTPS. connections bounds the open connections; nil: no bound. fail receives the error when serving ends by itself.
func Listen(
	address string, security *tls.Config, connections *guard.Connections, now func() time.Time, logger *slog.Logger, fail func(error),
) (*Server, error) {
	sockets := net.ListenConfig{Control: boundUnsent}
	sockets.SetMultipathTCP(false) // its listeners hand no options to connections
	listener, err := sockets.Listen(context.Background(), "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("address %s is taken by another process: choose another with --listen", address)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s (--listen): %w", address, err)
	}
	if security != nil {
		listener = tls.NewListener(fair.Listener(listener), security)
	}
	s := &Server{listener: listener, now: now}
	requests, abort := context.WithCancel(context.Background())
	s.abort = abort
	s.draining, s.drain = context.WithCancel(context.Background())
	s.Use(starting())
	s.http = &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.handler.Load()).ServeHTTP(w, r) }),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    maxHeader,
		IdleTimeout:       2 * time.Minute, // longer than the 60 s between two polls of an agent
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return fair.ConnContext(download.ConnContext(ctx, conn), conn)
		},
		ConnState: func(conn net.Conn, state http.ConnState) {
			if connections != nil {
				connections.State(conn, state)
			}
			fair.ConnState(conn, state)
		},
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fail(fmt.Errorf("serve on %s: %w", listener.Addr(), err))
		}
	}()
	return s, nil
}

// Address returns the host and port that it listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Use answers requests with handler from now on. Connections of clients that read nothing of an answer are closed.
func (s *Server) Use(handler http.Handler) {
	handler = guard.SteadyAnswers(s.now, s.endWaits(handler))
	s.handler.Store(&handler)
}

// endWaits ends the context of requests that prefer to be held (RFC 7240), or to be answered for long, as soon as the
// service begins to end. An agent asks again, and finds the next process or none.
func (s *Server) endWaits(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Prefer") == "" && !httpapi.AcceptsEvents(r) {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.draining, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Draining returns a context that is done when the shutdown begins.
func (s *Server) Draining() context.Context { return s.draining }

// Stop accepts no more requests and waits for running ones, RequestGrace at most.
func (s *Server) Stop(ctx context.Context) error {
	s.drain()
	defer s.abort()
	grace := time.AfterFunc(RequestGrace, s.abort)
	defer grace.Stop()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
