package kubeapi

import (
	"context"
	"net/http"
	"sync"
)

// reach is whether clients get to the server.
type reach struct {
	mu   sync.Mutex
	away bool
	// watches maps each open watch to the function that ends it.
	watches map[*http.Request]context.CancelFunc
}

// SetAway lets the server answer no client, or all again. While it is away watches end and requests are dropped without an answer, as at
// an address without a server.
func (s *Server) SetAway(away bool) {
	s.reach.mu.Lock()
	defer s.reach.mu.Unlock()
	s.reach.away = away
	if away {
		for _, end := range s.reach.watches {
			end()
		}
	}
}

func (h *reach) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := context.WithCancel(r.Context())
		defer end()
		if !h.admit(r, end) {
			panic(http.ErrAbortHandler) // ends the connection
		}
		defer h.leave(r)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// admit reports whether a request is answered, and notes how to end one that lasts.
func (h *reach) admit(r *http.Request, end context.CancelFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watches == nil {
		h.watches = map[*http.Request]context.CancelFunc{}
	}
	if !h.away && r.URL.Query().Has("watch") {
		h.watches[r] = end
	}
	return !h.away
}

func (h *reach) leave(r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watches, r)
}
