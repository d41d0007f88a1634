// Package blob stores what is too big for a database row: Ignition configs, manifests, logs, parts of images. A
// store is a folder or an S3 bucket, chosen by its address; secret objects are encrypted before they leave the
// process.
package blob

import (
	"context"
	"fmt"
	"net/url"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file:// addresses work everywhere; cmd/ links other schemes
	"gocloud.dev/gcerrors"

	"slipway/internal/model"
)

// Store is a place for objects, each under a key like "clusters/<id>/bootstrap.ign".
// It is safe for concurrent use. Writes are atomic: a reader, or a crash, sees the old
// object or the new one, never a part.
type Store struct {
	bucket *blob.Bucket
	sealer Sealer
	lock   func(ctx context.Context, key string) (unlock func(), err error)
}

// sealedKind is the kind of values that objects are encrypted as.
const sealedKind = "files"

// Sealer encrypts objects; aad binds one to its key.
type Sealer interface {
	Seal(kind string, plain, aad []byte) []byte
	Open(kind string, sealed, aad []byte) ([]byte, error)
	// Header returns the start of everything that is sealed now: two bytes, which name the current key.
	Header() []byte
}

// Open opens the store at address: file:///folder[?create_dir=1], or the address of any other scheme whose
// driver the program links (s3://bucket?region=...). Folders and files are private to the user of the process.
// The sealer encrypts and decrypts secrets.
func Open(ctx context.Context, address string, sealer Sealer) (*Store, error) {
	bucket, err := OpenBucket(ctx, address)
	if err != nil {
		return nil, err
	}
	alone := func(context.Context, string) (func(), error) { return func() {}, nil }
	return &Store{bucket: bucket, sealer: sealer, lock: alone}, nil
}

// OpenBucket opens the folder or bucket at an address, whose objects it does not seal.
func OpenBucket(ctx context.Context, address string) (*blob.Bucket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("read blob store address: %w", err)
	}
	if u.Scheme == "file" {
		u.RawQuery = fileOptions(u.Query()).Encode()
	}
	bucket, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, fmt.Errorf("open blob store %s: %w", u.Redacted(), err)
	}
	return bucket, nil
}

// fileOptions returns the settings of a folder: temporary files beside the final ones (a rename across file
// systems fails), no file of attributes beside every object, and folders that other users cannot enter.
func fileOptions(q url.Values) url.Values {
	q.Set("no_tmp_dir", "1")
	q.Set("metadata", "skip")
	if !q.Has("dir_file_mode") {
		q.Set("dir_file_mode", "0700")
	}
	return q
}

// Ready returns an error when the store does not answer.
func (s *Store) Ready(ctx context.Context) error {
	ok, err := s.bucket.IsAccessible(ctx)
	if err != nil {
		return fmt.Errorf("reach blob store: %w", err)
	}
	if !ok {
		return fmt.Errorf("reach blob store: no such folder or bucket: %w", model.ErrUnavailable)
	}
	return nil
}

// Close releases the store; objects being written are discarded.
func (s *Store) Close() error { return s.bucket.Close() }

// Exists reports whether an object exists under key.
func (s *Store) Exists(ctx context.Context, key string) (bool, error) {
	if err := checkKey(key); err != nil {
		return false, err
	}
	ok, err := s.bucket.Exists(ctx, key)
	if err != nil {
		return false, fmt.Errorf("find %s: %w", key, err)
	}
	return ok, nil
}

// Delete removes the object under key; a missing object is not an error.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return s.delete(ctx, key)
}

func (s *Store) delete(ctx context.Context, key string) error {
	unlock, err := s.lock(ctx, key) // or Reseal could bring it back
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// wrap adds to a driver's error what was tried, and makes a missing object a model.ErrNotFound.
func wrap(doing, key string, err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return fmt.Errorf("%s: %w", doing, model.NotFoundf("no object %s", key))
	}
	return fmt.Errorf("%s %s: %w", doing, key, err)
}
