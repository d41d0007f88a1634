package download

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"time"

	"slipway/internal/images/remaster/layout"
	"slipway/internal/platform/fair"
)

// body is one reply being sent.
type body struct {
	*Sender
	ctx     context.Context
	out     http.ResponseWriter
	control *http.ResponseController
	base    *os.File
	left    int64 // of the part whose deadline was set last
}

// send writes pieces. If fewer bytes than the announced length are sent, the connection is closed.
func (s *Sender) send(ctx context.Context, w http.ResponseWriter, base *os.File, pieces iter.Seq[layout.Piece]) error {
	b := &body{Sender: s, ctx: ctx, out: w, control: http.NewResponseController(w), base: base}
	defer gather(ctx)()
	defer fair.Large(ctx)()
	// When the service ends, it does not wait for a reader that has stopped reading.
	defer context.AfterFunc(ctx, func() { _ = b.control.SetWriteDeadline(time.Unix(1, 0)) })()
	for p := range pieces {
		if err := b.piece(p); err != nil {
			b.reset()
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
	// What is still buffered here must go while the deadline holds: afterwards the
	// connection has none, for the next request.
	if err := b.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		b.reset()
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	_ = b.control.SetWriteDeadline(time.Time{})
	return nil
}

func (b *body) piece(p layout.Piece) error {
	if p.Data == nil && !p.Zeros {
		if _, err := b.base.Seek(p.Offset, io.SeekStart); err != nil {
			return fmt.Errorf("find offset %d of the base file: %w", p.Offset, err)
		}
	}
	for sent := int64(0); sent < p.Length; {
		most, err := b.renew()
		if err != nil {
			return err
		}
		n, err := b.write(p, sent, min(p.Length-sent, most))
		sent += n
		b.left -= n
		b.Sent(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// renew extends the deadline when the last part is complete, and returns what is left of the part. Small pieces
// share one part.
func (b *body) renew() (int64, error) {
	if b.left > 0 {
		return b.left, nil
	}
	b.left = PartSize
	if err := b.control.SetWriteDeadline(b.Now().Add(b.Patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	// Set after the deadline, which must not undo the one for the end of the service.
	if err := b.ctx.Err(); err != nil {
		return 0, err // the service ends, or the client has disconnected
	}
	return b.left, nil
}

// write sends length bytes of a piece, starting at an offset in it.
func (b *body) write(p layout.Piece, from, length int64) (int64, error) {
	switch {
	case p.Data != nil:
		n, err := b.out.Write(p.Data[from : from+length])
		return int64(n), err
	case p.Zeros:
		n, err := b.out.Write(b.zeros[:min(length, zeroSize)])
		return int64(n), err
	}
	// The server's writer hands a limited *os.File to sendfile; the file is where the
	// last part left it.
	n, err := io.CopyN(b.out, b.base, length)
	if errors.Is(err, io.EOF) {
		err = ErrShort
	}
	return n, err
}

// reset closes the connection and discards its buffers: after an orderly close the kernel would keep megabytes
// for a stalled reader, for minutes. Where the server does not hand over the connection, the handler is aborted
// instead.
func (b *body) reset() {
	conn, _, err := b.control.Hijack()
	if err != nil {
		return
	}
	if c, ok := conn.(*tls.Conn); ok {
		conn = c.NetConn() // an orderly close would wait for the reader
	}
	if c, ok := conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = c.SetLinger(0)
	}
	_ = conn.Close()
}
