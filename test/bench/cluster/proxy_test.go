package cluster_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// log counts what was asked of a server.
type log struct {
	mu    sync.Mutex
	asked map[string]int
}

func (l *log) add(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked == nil {
		l.asked = map[string]int{}
	}
	l.asked[what]++
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.asked))
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out strings.Builder
	for _, what := range slices.Sorted(maps.Keys(l.asked)) {
		fmt.Fprintf(&out, "\n  %4d  %s", l.asked[what], what)
	}
	return out.String()
}

// serveProxy serves the proxy of the site, which opens tunnels to the mirror (RFC 9110, 9.3.6) and refuses all else.
func (g *gap) serveProxy(t *testing.T) {
	t.Helper()
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what := r.Method + " " + r.Host
		g.proxied.add(what)
		if r.Method != http.MethodConnect || r.Host != mirrorHost {
			g.refused.add(what)
			http.Error(w, "this proxy leads to "+mirrorHost+" only", http.StatusForbidden)
			return
		}
		g.tunnel(w, r)
	})}
	go server.Serve(g.site.listen(t, proxyPort))
	t.Cleanup(func() { _ = server.Close() })
}

func (g *gap) tunnel(w http.ResponseWriter, r *http.Request) {
	far, err := g.site.Dial(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer near.Close()
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	pass := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from)
		done <- struct{}{}
	}
	go pass(far, early)
	go pass(near, far)
	<-done
}
