package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"gocloud.dev/blob"

	"slipway/internal/model"
)

// sealedMagic begins every sealed object. The zero byte keeps it apart from any text.
var sealedMagic = []byte("\x00slipway-sealed\x00")

// ErrDamaged marks an object that differs from the one its reference was made for.
var ErrDamaged = errors.New("object does not match its reference")

// Put stores data under key, in clear, and returns its reference.
func (s *Store) Put(ctx context.Context, key string, data []byte) (model.BlobRef, error) {
	if bytes.HasPrefix(data, sealedMagic) || bytes.HasPrefix(data, streamMagic) {
		// Data that looks encrypted would not be readable again: encrypt it a second time.
		return s.PutSecret(ctx, key, data)
	}
	return s.put(ctx, key, data, data)
}

// PutSecret stores data under key, encrypted for that key: the object cannot be decrypted under another one.
// Its reference holds the hash and size of the plain data.
func (s *Store) PutSecret(ctx context.Context, key string, data []byte) (model.BlobRef, error) {
	unlock, err := s.lock(ctx, key)
	if err != nil {
		return model.BlobRef{}, err
	}
	defer unlock()
	return s.put(ctx, key, data, s.sealed(key, data))
}

func (s *Store) sealed(key string, data []byte) []byte {
	return append(bytes.Clone(sealedMagic), s.sealer.Seal(sealedKind, data, []byte(key))...)
}

func (s *Store) put(ctx context.Context, key string, plain, stored []byte) (model.BlobRef, error) {
	if err := checkKey(key); err != nil {
		return model.BlobRef{}, err
	}
	if err := s.bucket.WriteAll(ctx, key, stored, writerOptions()); err != nil {
		return model.BlobRef{}, fmt.Errorf("write %s: %w", key, err)
	}
	return reference(key, plain), nil
}

// writerOptions name the type, or the driver guesses it from the first bytes.
func writerOptions() *blob.WriterOptions {
	return &blob.WriterOptions{ContentType: "application/octet-stream"}
}

func reference(key string, plain []byte) model.BlobRef {
	sum := sha256.Sum256(plain)
	return model.BlobRef{Key: key, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(plain))}
}

// Get returns the whole object under key, decrypted if necessary; model.ErrNotFound when it does not exist.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	data, err := s.bucket.ReadAll(ctx, key)
	if err != nil {
		return nil, wrap("read", key, err)
	}
	return s.unseal(key, data)
}

// GetRef returns the object of a reference. It returns ErrDamaged when the object was replaced or changed
// since, and model.ErrNotFound when it does not exist.
func (s *Store) GetRef(ctx context.Context, ref model.BlobRef) ([]byte, error) {
	data, err := s.Get(ctx, ref.Key)
	if err != nil {
		return nil, err
	}
	if got := reference(ref.Key, data); got != ref {
		return nil, fmt.Errorf("read %s: require sha256 %s, found %s: %w", ref.Key, ref.SHA256, got.SHA256, ErrDamaged)
	}
	return data, nil
}

func (s *Store) unseal(key string, stored []byte) ([]byte, error) {
	if content, ok := bytes.CutPrefix(stored, streamMagic); ok {
		plain, err := s.decrypted(key, bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(plain)
	}
	sealed, ok := bytes.CutPrefix(stored, sealedMagic)
	if !ok {
		return stored, nil
	}
	plain, err := s.sealer.Open(sealedKind, sealed, []byte(key))
	if err != nil {
		return nil, fmt.Errorf("open sealed object %s: %w", key, err)
	}
	return plain, nil
}
