package blob

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/sio"
	"gocloud.dev/blob"
)

// streamMagic begins every object that a Writer made. After it comes the key of the object, sealed for the object's own key (the
// name), and then the content in the DARE format, 64 KiB a package, encrypted with that key (github.com/minio/sio).
var streamMagic = []byte("\x00slipway-stream\x00")

// keySize is the length of the key of an object, and sealedKeySize the length of the sealed key: seal.go adds a header, a nonce and a
// tag.
const (
	keySize       = 32
	sealedKeySize = 2 + 12 + keySize + 16
)

// streamHeader is the length of what stands before the content.
var streamHeader = len(streamMagic) + sealedKeySize

func streamConfig(key []byte) sio.Config { return sio.Config{Key: key, MinVersion: sio.Version20} }

// Writer writes an object piece by piece. Either Close, which makes the object visible, or Abort, which keeps
// the previous object, must be called.
type Writer struct {
	store  *Store
	ctx    context.Context //nolint:containedctx // of the object, until Close
	key    string
	out    *blob.Writer
	sealed io.WriteCloser // encrypts, and writes to out
	cancel context.CancelFunc
	done   bool
}

// Writer starts an object under key, for data too big to hold in memory: logs. It is encrypted for that key. The object is
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
	w := &Writer{store: s, ctx: ctx, key: key, out: out, cancel: cancel}
	own := make([]byte, keySize)
	_, _ = rand.Read(own) // never fails: the runtime aborts without randomness
	w.sealed, err = sio.EncryptWriter(out, streamConfig(own))
	if err == nil {
		_, err = out.Write(append(bytes.Clone(streamMagic), s.sealer.Seal(sealedKind, own, []byte(key))...))
	}
	if err != nil {
		w.Abort()
		return nil, fmt.Errorf("write %s: %w", key, err)
	}
	return w, nil
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.sealed.Write(p)
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
	unlock, err := w.store.lock(w.ctx, w.key)
	if err != nil {
		return errors.Join(err, w.abort())
	}
	defer unlock()
	if err := w.sealed.Close(); err != nil { // closes out too
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

// Reader opens the object under key, encrypted or not; model.ErrNotFound when it does not exist. What PutSecret has encrypted
// is read and verified as a whole before its first byte is returned, what a Writer has written in packages of 64 KiB: a damaged
// one ends the object with an error.
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
	switch {
	case bytes.Equal(head, streamMagic):
		plain, err := s.decrypted(key, in)
		if err != nil {
			return nil, err
		}
		size, err := sio.DecryptedSize(uint64(max(0, in.Size()-int64(streamHeader))))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w: %w", key, ErrDamaged, err)
		}
		return &Reader{ReadCloser: joined{plain, in}, Size: int64(size), ModTime: in.ModTime()}, nil
	case !bytes.Equal(head, sealedMagic):
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

// ownKey reads the key of an object that a Writer made, after streamMagic.
func (s *Store) ownKey(key string, in io.Reader) ([]byte, error) {
	sealed := make([]byte, sealedKeySize)
	if _, err := io.ReadFull(in, sealed); err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", key, ErrDamaged, err)
	}
	own, err := s.sealer.Open(sealedKind, sealed, []byte(key))
	if err != nil {
		return nil, fmt.Errorf("open sealed object %s: %w", key, err)
	}
	return own, nil
}

// decrypted reads what follows streamMagic.
func (s *Store) decrypted(key string, in io.Reader) (io.Reader, error) {
	own, err := s.ownKey(key, in)
	if err != nil {
		return nil, err
	}
	content := bufio.NewReader(in)
	if _, err := content.Peek(1); errors.Is(err, io.EOF) {
		return content, nil // nothing was written
	}
	plain, err := sio.DecryptReader(content, streamConfig(own))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", key, ErrDamaged, err)
	}
	return plain, nil
}

// resealStream seals the key of an object again, and leaves its content as it is.
func (s *Store) resealStream(ctx context.Context, key string) (header []byte, err error) {
	in, err := s.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, wrap("read", key, err)
	}
	defer func() { _ = in.Close() }()
	if _, err := io.CopyN(io.Discard, in, int64(len(streamMagic))); err != nil {
		return nil, wrap("read", key, err)
	}
	own, err := s.ownKey(key, in)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // discards what is not closed
	out, err := s.bucket.NewWriter(ctx, key, writerOptions())
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", key, err)
	}
	sealed := s.sealer.Seal(sealedKind, own, []byte(key))
	if _, err = out.Write(append(bytes.Clone(streamMagic), sealed...)); err == nil {
		_, err = io.Copy(out, in)
	}
	if err != nil {
		cancel()
		return nil, errors.Join(fmt.Errorf("write %s: %w", key, err), out.Close())
	}
	if err := out.Close(); err != nil {
		return nil, fmt.Errorf("write %s: %w", key, err)
	}
	return sealed[:headerSize], nil
}

// joined reads from one and closes another.
type joined struct {
	io.Reader
	io.Closer
}
