package liveisos

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// chunk is how much is read at a time.
const chunk = 1 << 20

// digest computes the sha256 of what is written, piece by piece.
type digest struct{ sum hash.Hash }

func newDigest() *digest { return &digest{sha256.New()} }

func (d *digest) add(p []byte) { d.sum.Write(p) } // never an error, says package hash

// String returns the digest so far, in hexadecimal digits.
func (d *digest) String() string { return hex.EncodeToString(d.sum.Sum(nil)) }

// read adds all of r. onProgress may be nil.
func (d *digest) read(ctx context.Context, r io.Reader, onProgress func(done int64)) error {
	buffer := make([]byte, chunk)
	var done int64
	for {
		n, err := r.Read(buffer)
		d.add(buffer[:n])
		done += int64(n)
		if onProgress != nil && n > 0 {
			onProgress(done)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read operating system image: %w", err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// readDigest computes the digest of all of r.
func readDigest(ctx context.Context, r io.Reader, onProgress func(done int64)) (string, error) {
	d := newDigest()
	if err := d.read(ctx, r, onProgress); err != nil {
		return "", err
	}
	return d.String(), nil
}
