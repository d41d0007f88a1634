package guard

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// bodyPatience is how long a body may take to begin, or to end when it is small.
	bodyPatience = 30 * time.Second
	// slowest is the rate that a body has to arrive with beyond it, in bytes a second; slowestLarge the rate of the bytes after smallBody.
	slowest      = 4 << 10
	slowestLarge = 64 << 10
	smallBody    = 1 << 20
)

// steadyBody ends requests whose body stops to arrive: each would hold a connection and what its handler has read.
func steadyBody(o Options, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		b := &body{ReadCloser: r.Body, control: http.NewResponseController(w), begun: o.Now(), now: o.Now}
		b.extend()
		r.Body = b
		next.ServeHTTP(w, r)
	})
}

// body is a body that has to keep arriving.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	begun   time.Time
	now     func() time.Time
	read    int64
	ended   bool
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		// What follows on the connection is the next request, or a client that waits.
		b.ended = true
		_ = b.control.SetReadDeadline(time.Time{})
	case err == nil && !b.ended:
		b.extend()
	}
	return n, err
}

// extend moves the deadline by what has arrived.
func (b *body) extend() {
	large := max(0, b.read-smallBody)
	allowed := bodyPatience + time.Duration((b.read-large)/slowest+large/slowestLarge)*time.Second
	_ = b.control.SetReadDeadline(b.begun.Add(allowed)) // connections of tests have none
}
