package main

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

	"slipway/internal/images/download"
)

// requestGrace is what requests get to finish once the service ends. Those that only wait
// are ended at its beginning.
const requestGrace = 2 * time.Second

// server is the one HTTP listener of the process. It answers from the moment it is there,
// so that a port taken is known before a database is started, and a probe sees a process
// that lives.
type server struct {
	listener net.Listener
	http     *http.Server
	handler  atomic.Pointer[http.Handler]
	draining context.Context // ends when the service begins to end
	drain    context.CancelFunc
	abort    context.CancelFunc // ends every request
}

// listen opens the listener and serves start-up answers until use is called; security,
// when there is some, makes it HTTPS.
func listen(address string, security *tls.Config, logger *slog.Logger, fail func(error)) (*server, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("address %s is taken by another process: choose another with --listen", address)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s (--listen): %w", address, err)
	}
	if security != nil {
		listener = tls.NewListener(listener, security)
	}
	s := &server{listener: listener}
	requests, abort := context.WithCancel(context.Background())
	s.abort = abort
	s.draining, s.drain = context.WithCancel(context.Background())
	s.use(starting())
	s.http = &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.handler.Load()).ServeHTTP(w, r) }),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute, // longer than the 60 s between two polls of an agent
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnContext:       download.ConnContext,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fail(fmt.Errorf("serve on %s: %w", listener.Addr(), err))
		}
	}()
	return s, nil
}

func (s *server) address() string { return s.listener.Addr().String() }

// use answers requests with handler from here on.
func (s *server) use(handler http.Handler) {
	handler = s.endWaits(handler)
	s.handler.Store(&handler)
}

// endWaits ends the context of requests that prefer to be held (RFC 7240) as soon as the
// service begins to end. An agent asks again, and finds the next process or none.
func (s *server) endWaits(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Prefer") == "" {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.draining, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// stop takes no more requests and lets those that run finish.
func (s *server) stop(ctx context.Context) error {
	s.drain()
	defer s.abort()
	grace := time.AfterFunc(requestGrace, s.abort)
	defer grace.Stop()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
