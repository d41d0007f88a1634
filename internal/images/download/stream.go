// Package download serves a file described by a layout over HTTP: the whole file or a range of it, under the
// conditions of RFC 9110. Parts of the base file go from the page cache to the socket by sendfile(2); they are
// not copied through the process.
package download

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"slipway/internal/images/remaster/layout"
)

const (
	// PartSize is how much is handed to the kernel at once. It is several times the size of a socket buffer
	// (net.ipv4.tcp_wmem, 4 MiB at most), so that the cost of a part is negligible, and small enough that its
	// deadline detects a stalled reader soon.
	PartSize = 2 << 20
	// Patience is how long a reader may take for a part: 32 KiB/s, slower than any link
	// that could boot an image of a gigabyte within a working day.
	Patience = 64 * time.Second
)

// Reasons why a file was not sent. No reply was sent yet, except with ErrBroken.
var (
	// ErrCondition: If-Match or If-Unmodified-Since does not hold (412).
	ErrCondition = errors.New("the file does not meet the condition of the request")
	// ErrBroken: the body ended before its end, and with it the connection. The handler
	// must panic with http.ErrAbortHandler.
	ErrBroken = errors.New("sending ended early")
	// ErrShort: the base file is shorter than the layout requires; within ErrBroken, or alone when detected
	// before the reply.
	ErrShort = errors.New("the base file is shorter than it was")
)

// RangeError: no byte of the file is in the requested range (416). The header Content-Range is set.
type RangeError struct{ Size int64 }

func (e *RangeError) Error() string {
	return fmt.Sprintf("require a range that begins within the %d bytes of the file", e.Size)
}

// Content is a file to send.
type Content struct {
	Layout *layout.Layout
	// Open opens the base file; it is called once for a body with bytes of the base, and never for HEAD. The
	// file is closed when the body ends, for whatever reason.
	Open func() (*os.File, error)
	// ETag identifies this content, without quotes.
	ETag     string
	Modified time.Time // zero: unknown
	// Owner is who the body counts for: one owner cannot take all places (see Options.Bodies).
	Owner string
	// Disposition is the Content-Disposition, with the file name for downloads; empty: none.
	Disposition string
	Type        string // media type; empty: application/octet-stream
	// Public content may be stored by caches that revalidate it; other content holds secrets.
	Public bool
	// Begin, when set, is called with the status just before the first byte of a reply.
	Begin func(status int)
}

// Options are the settings of a Sender.
type Options struct {
	// Bodies is how many may be sent at once; zero: any number. An owner has at most three times as many as are free.
	Bodies int
	// Patience is how long a reader may take for PartSize; zero: the constant.
	Patience time.Duration
	Now      func() time.Time
	// Sent is called with the number of bytes of each part when the kernel has taken it; optional.
	Sent func(bytes int64)
}

// Sender sends files. It is safe for many requests at once.
type Sender struct {
	Options
	places places
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
	return &Sender{Options: o, places: places{most: o.Bodies}, zeros: make([]byte, zeroSize)}
}

// Serve replies to GET or HEAD. w must be the server's own: a wrapper hides sendfile. With one of the errors
// above, or one of Open, the reply is left to the caller.
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
	requested, err := c.requestedRange(r.Header)
	if err != nil {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", c.Layout.Size()))
		return err
	}
	if err := s.places.enter(c.Owner); err != nil {
		return err
	}
	defer s.places.leave(c.Owner)
	base, err := c.open(requested)
	if err != nil {
		return err
	}
	defer base.Close() // also when the handler panics; a nil file ignores it
	c.describe(w.Header(), requested)
	c.begin(w, requested.status())
	return s.send(r.Context(), w, base, requested.pieces(c.Layout))
}

func (c *Content) begin(w http.ResponseWriter, status int) {
	if c.Begin != nil {
		c.Begin(status)
	}
	w.WriteHeader(status)
}

// identify sets the headers of every reply about the file.
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

// describe sets the headers of a reply with the file, or a part of it.
func (c *Content) describe(h http.Header, p byteRange) {
	c.identify(h)
	h.Set("Accept-Ranges", "bytes")
	h.Set("Content-Type", c.contentType())
	if c.Disposition != "" {
		h.Set("Content-Disposition", c.Disposition)
	}
	h.Set("Content-Length", strconv.FormatInt(p.length, 10))
	switch {
	case p.several != nil:
		h.Set("Content-Type", "multipart/byteranges; boundary="+p.boundary)
	case p.partial:
		h.Set("Content-Range", p.contentRange(c.Layout.Size()))
	}
}

func (c *Content) contentType() string { return cmp.Or(c.Type, "application/octet-stream") }

// open opens the base file if the range has bytes of it, and checks its length while the status can still say
// so.
func (c *Content) open(p byteRange) (*os.File, error) {
	need := int64(-1)
	for piece := range p.pieces(c.Layout) {
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
