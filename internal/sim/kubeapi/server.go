package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Options configure a Server; the zero value keeps everything in memory.
type Options struct {
	// Journal is the file every change is appended to before it is answered, so that a
	// server started again on it holds the same objects. Empty: memory only.
	Journal string
	// WatchLimit ends every watch after that long, as real servers do after some minutes; zero: as long as it was asked for.
	WatchLimit time.Duration
	// Audit, when set, is called for every request of a service account.
	Audit func(Access)
	// Now is the clock of creation times and certificates; time.Now if nil.
	Now func() time.Time
}

// Server is the API of one simulated cluster.
type Server struct {
	store  *store
	signer *signer
	now    func() time.Time
	http   *http.Server
	limit  time.Duration
	audit  func(Access)
	reach  reach
}

// New loads the journal, if there is one, and returns a server that is not listening yet.
func New(o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	st, err := openStore(o.Journal, o.Now)
	if err != nil {
		return nil, err
	}
	sg, err := loadSigner(st, o.Now)
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	return &Server{store: st, signer: sg, now: o.Now, limit: o.WatchLimit, audit: o.Audit}, nil
}

// Start listens on addr ("127.0.0.1:0" picks a port) and serves until Close. It
// returns the URL of the API, to be given to Config, Kubeconfig and RunKubelet.
func (s *Server) Start(addr string) (string, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen for the simulated kube API: %w", err)
	}
	s.http = &http.Server{Handler: s.reach.limit(s.Handler()), ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(listener) //nolint:errcheck // ends with ErrServerClosed on Close
	return "http://" + listener.Addr().String(), nil
}

// Close stops listening, ends all watches and closes the journal. The objects remain
// in the journal.
func (s *Server) Close(context.Context) error {
	var err error
	if s.http != nil {
		err = s.http.Close()
	}
	return errors.Join(err, s.store.close())
}
