package download

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"time"

	"slipway/internal/images/remaster/layout"
)

// body is one answer on its way.
type body struct {
	*Sender
	ctx     context.Context
	out     http.ResponseWriter
	control *http.ResponseController
	base    *os.File
	left    int64 // of the part whose deadline was set last
}

// send writes pieces. After less than the length that was told, the connection ends.
func (s *Sender) send(ctx context.Context, w http.ResponseWriter, base *os.File, pieces iter.Seq[layout.Piece]) error {
	b := &body{Sender: s, ctx: ctx, out: w, control: http.NewResponseController(w), base: base}
	defer gather(ctx)()
	// When the service ends, it does not wait for a reader that takes no more.
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

// renew gives the reader time for another part when the last one is through, and tells
// what is left of the part. Small pieces share one.
func (b *body) renew() (int64, error) {
	if b.left > 0 {
		return b.left, nil
	}
	b.left = PartSize
	if err := b.control.SetWriteDeadline(b.Now().Add(b.Patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	// Behind the deadline, which must not undo that of the end.
	if err := b.ctx.Err(); err != nil {
		return 0, err // the service ends, or the reader has gone
	}
	return b.left, nil
}

// write sends length bytes of a piece from one of its bytes on.
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

// reset ends the connection with what is in its buffers: closed politely, the kernel would
// keep megabytes for a reader that stalls, for minutes. Where the server does not give the
// connection away, aborting the handler has to do.
func (b *body) reset() {
	conn, _, err := b.control.Hijack()
	if err != nil {
		return
	}
	if c, ok := conn.(*tls.Conn); ok {
		conn = c.NetConn() // closing it politely would wait for the reader
	}
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
	_ = conn.Close()
}
