package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"

	"slipway/internal/model"
)

// Writer writes an object piece by piece. Either Close, which makes the object visible, or Abort, which keeps
// the previous object, must be called.
type Writer struct {
	key    string
	out    *blob.Writer
	cancel context.CancelFunc
	head   []byte // the first bytes, up to the length of sealedMagic
	done   bool
}

// Writer starts an object under key, in clear, for data too big to hold in memory: logs, images. The object is
// discarded when ctx ends before Close.
func (s *Store) Writer(ctx context.Context, key string) (*Writer, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	out, err := s.bucket.NewWriter(ctx, key, writerOptions())
	if err != nil {
		cancel()
		return nil, fmt.Errorf("write %s: %w", key, err)
	}
	return &Writer{key: key, out: out, cancel: cancel}, nil
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.head = append(w.head, p[:min(len(p), len(sealedMagic)-len(w.head))]...)
	if bytes.Equal(w.head, sealedMagic) {
		return 0, model.Invalidf("require data in clear, found a sealed object for %s", w.key)
	}
	n, err := w.out.Write(p)
	if err != nil {
		return n, fmt.Errorf("write %s: %w", w.key, err)
	}
	return n, nil
}

// Close makes the object visible. When it fails, the previous object still exists.
func (w *Writer) Close() error {
	if w.done {
		return nil
	}
	w.done = true
	defer w.cancel()
	if bytes.Equal(w.head, sealedMagic) {
		return w.abort()
	}
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("write %s: %w", w.key, err)
	}
	return nil
}

// Abort discards the object; after Close it does nothing, so it can be deferred.
func (w *Writer) Abort() {
	if !w.done {
		w.done = true
		_ = w.abort()
	}
}

func (w *Writer) abort() error {
	w.cancel()
	return errors.Join(fmt.Errorf("write %s: given up", w.key), w.out.Close())
}

// Reader reads an object piece by piece; close it after use.
type Reader struct {
	io.ReadCloser
	Size    int64 // bytes, of the plain data
	ModTime time.Time
}

// Reader opens the object under key, encrypted or not; model.ErrNotFound when it does not exist. An encrypted
// object is read and verified as a whole before its first byte is returned.
func (s *Store) Reader(ctx context.Context, key string) (*Reader, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	in, err := s.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, wrap("read", key, err)
	}
	r, err := s.openStream(key, in)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return r, nil
}

func (s *Store) openStream(key string, in *blob.Reader) (*Reader, error) {
	head := make([]byte, len(sealedMagic))
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, wrap("read", key, err)
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), in)
	if !bytes.Equal(head, sealedMagic) {
		return &Reader{ReadCloser: joined{whole, in}, Size: in.Size(), ModTime: in.ModTime()}, nil
	}
	stored, err := io.ReadAll(whole)
	if err != nil {
		return nil, wrap("read", key, err)
	}
	plain, err := s.unseal(key, stored)
	if err != nil {
		return nil, err
	}
	return &Reader{ReadCloser: joined{bytes.NewReader(plain), in}, Size: int64(len(plain)), ModTime: in.ModTime()}, nil
}

// joined reads from one and closes another.
type joined struct {
	io.Reader
	io.Closer
}
