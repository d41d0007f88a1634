// Package download serves a file described by a layout over HTTP: whole or a range of it,
// under the conditions of RFC 9110. What lies in the base file goes from the page cache to
// the socket by sendfile(2); nothing is copied through the process.
package download

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"slipway/internal/images/remaster/layout"
)

const (
	// PartSize is how much is handed to the kernel at once. It is several times what a
	// socket buffers (net.ipv4.tcp_wmem, 4 MiB at most), so that a part costs nothing
	// against what it moves, and small enough that its deadline notices a stalled reader soon.
	PartSize = 2 << 20
	// Patience is how long a reader may take for a part: 32 KiB/s, slower than any link
	// that could boot an image of a gigabyte within a working day.
	Patience = 64 * time.Second
)

// Why a file was not sent. Nothing was answered yet, except with ErrBroken.
var (
	// ErrBusy: as many bodies as may be are being sent (503).
	ErrBusy = errors.New("too many files are being sent")
	// ErrCondition: If-Match or If-Unmodified-Since does not hold (412).
	ErrCondition = errors.New("the file is not the one that the request is about")
	// ErrBroken: the body ended before its end, and with it the connection. The handler
	// must panic with http.ErrAbortHandler.
	ErrBroken = errors.New("sending ended early")
	// ErrShort: the base file is shorter than the layout has it; within ErrBroken, or alone
	// when that was seen in time.
	ErrShort = errors.New("the base file is shorter than it was")
)

// RangeError says that no byte of the file is in the range that was asked for (416). The
// header Content-Range is set.
type RangeError struct{ Size int64 }

func (e *RangeError) Error() string {
	return fmt.Sprintf("require a range that begins within the %d bytes of the file", e.Size)
}

// Content is a file to send.
type Content struct {
	Layout *layout.Layout
	// Open opens the base file; it is called once for a body with bytes of the base, and
	// never for HEAD. The file is closed when the body ended, however it did.
	Open func() (*os.File, error)
	// ETag tells this content from any other, without quotes.
	ETag     string
	Modified time.Time // zero: not told
	Name     string    // for those who save it; empty: none
	// Public content may be kept by caches that ask before they use it; other content
	// holds secrets.
	Public bool
	// Begin, when set, is told the status just before the first byte of an answer.
	Begin func(status int)
}

// Options are those of a Sender.
type Options struct {
	// Bodies is how many may be sent at once; zero: any number.
	Bodies int
	// Patience is how long a reader may take for PartSize; zero: the constant.
	Patience time.Duration
	Now      func() time.Time
	// Sent is told of bytes on their way, part by part; nil: nobody is.
	Sent func(bytes int64)
}

// Sender sends files. It is safe for many requests at once.
type Sender struct {
	Options
	bodies atomic.Int64
	zeros  []byte
}

// zeroSize is how many zeros are written at once.
const zeroSize = 64 << 10

// New makes a sender.
func New(o Options) *Sender {
	if o.Patience <= 0 {
		o.Patience = Patience
	}
	if o.Sent == nil {
		o.Sent = func(int64) {}
	}
	return &Sender{Options: o, zeros: make([]byte, zeroSize)}
}

// Full reports whether another body would be refused now.
func (s *Sender) Full() bool { return s.Bodies > 0 && s.bodies.Load() >= int64(s.Bodies) }

// enter counts a body in, unless there are as many as may be.
func (s *Sender) enter() bool {
	if n := s.bodies.Add(1); s.Bodies > 0 && n > int64(s.Bodies) {
		s.bodies.Add(-1)
		return false
	}
	return true
}

// Serve answers GET or HEAD. w must be the server's own: a wrapper hides the way to
// sendfile. An error is one of those above, or of Open, and leaves the answer to the caller.
func (s *Sender) Serve(w http.ResponseWriter, r *http.Request, c Content) error {
	switch c.conditions(r.Header) {
	case http.StatusPreconditionFailed:
		return ErrCondition
	case http.StatusNotModified:
		c.identify(w.Header())
		c.begin(w, http.StatusNotModified)
		return nil
	}
	if r.Method == http.MethodHead {
		c.describe(w.Header(), whole(c.Layout.Size()))
		c.begin(w, http.StatusOK)
		return nil
	}
	part, err := c.part(r.Header)
	if err != nil {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", c.Layout.Size()))
		return err
	}
	if !s.enter() {
		return ErrBusy
	}
	defer s.bodies.Add(-1)
	base, err := c.open(part)
	if err != nil {
		return err
	}
	defer base.Close() // also when the handler panics; a nil file ignores it
	c.describe(w.Header(), part)
	c.begin(w, part.status())
	return s.send(r.Context(), w, base, c.Layout.Range(part.offset, part.length))
}

func (c *Content) begin(w http.ResponseWriter, status int) {
	if c.Begin != nil {
		c.Begin(status)
	}
	w.WriteHeader(status)
}

// identify are the headers of every answer about the file.
func (c *Content) identify(h http.Header) {
	h.Set("ETag", `"`+c.ETag+`"`)
	if !c.Modified.IsZero() {
		h.Set("Last-Modified", c.Modified.UTC().Format(http.TimeFormat))
	}
	h.Set("Cache-Control", "no-store")
	if c.Public {
		h.Set("Cache-Control", "no-cache")
	}
}

// describe are the headers of an answer with the file, or a part of it.
func (c *Content) describe(h http.Header, p part) {
	c.identify(h)
	h.Set("Accept-Ranges", "bytes")
	h.Set("Content-Type", "application/octet-stream")
	if c.Name != "" {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": c.Name}))
	}
	h.Set("Content-Length", strconv.FormatInt(p.length, 10))
	if p.status() == http.StatusPartialContent {
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", p.offset, p.offset+p.length-1, c.Layout.Size()))
	}
}

// open opens the base file where the part has bytes of it, and looks whether it is long
// enough while that can still be told.
func (c *Content) open(p part) (*os.File, error) {
	need := int64(-1)
	for piece := range c.Layout.Range(p.offset, p.length) {
		if piece.Data == nil && !piece.Zeros {
			need = max(need, piece.Offset+piece.Length)
		}
	}
	if need < 0 {
		return nil, nil
	}
	file, err := c.Open()
	if err != nil {
		return nil, fmt.Errorf("open base file: %w", err)
	}
	if size, err := file.Seek(0, io.SeekEnd); err != nil || size < need {
		file.Close()
		return nil, fmt.Errorf("%w: require %d bytes, found %d", ErrShort, need, size)
	}
	return file, nil
}
