package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"gocloud.dev/gcerrors"
)

// headerSize is the length of the beginning of a sealed value, which names its key.
const headerSize = 2

// Reseal encrypts with the current key the objects that other keys have encrypted. It returns how many that were, and counts the
// encrypted objects after that by the two bytes their value begins with, which name the key. An object that cannot be decrypted is
// left as it is: the error names it, and the others are done.
func (s *Store) Reseal(ctx context.Context) (done int, counts map[string]int64, err error) {
	objects, err := s.all(ctx)
	if err != nil {
		return 0, nil, err
	}
	counts = map[string]int64{}
	var failed []error
	for _, o := range objects {
		header, err := s.header(ctx, o)
		if err != nil {
			return done, counts, errors.Join(append(failed, err)...)
		}
		if header == nil {
			continue
		}
		if !bytes.Equal(header, s.sealer.Header()) {
			switch again, err := s.reseal(ctx, o.Key); {
			case ctx.Err() != nil:
				return done, counts, ctx.Err()
			case err != nil:
				failed = append(failed, err)
			case again == nil: // it is gone
				continue
			default:
				header = again
				done++
			}
		}
		counts[string(header)]++
	}
	return done, counts, errors.Join(failed...)
}

// listTries is how often objects are listed while others write: in a folder, a file that was renamed meanwhile ends a listing.
const listTries = 20

func (s *Store) all(ctx context.Context) (found []Object, err error) {
	for range listTries {
		found, err = s.List(ctx, "")
		if gcerrors.Code(err) != gcerrors.NotFound {
			break
		}
	}
	return found, err
}

// header returns the beginning of the sealed value of an object; nil for one in clear, or gone.
func (s *Store) header(ctx context.Context, o Object) ([]byte, error) {
	if o.Size < int64(len(sealedMagic)+headerSize) {
		return nil, nil
	}
	r, err := s.bucket.NewRangeReader(ctx, o.Key, 0, int64(len(sealedMagic)+headerSize), nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", o.Key, err)
	}
	defer func() { _ = r.Close() }()
	var head bytes.Buffer
	if _, err := head.ReadFrom(r); err != nil {
		return nil, fmt.Errorf("read %s: %w", o.Key, err)
	}
	for _, magic := range [][]byte{sealedMagic, streamMagic} {
		if header, sealed := bytes.CutPrefix(head.Bytes(), magic); sealed {
			return header, nil
		}
	}
	return nil, nil
}

// reseal encrypts an object again, while no other process writes it, and returns how its value begins then; nil when it is gone.
func (s *Store) reseal(ctx context.Context, key string) ([]byte, error) {
	unlock, err := s.lock(ctx, key)
	if err != nil {
		return nil, err
	}
	defer unlock()
	switch stream, err := s.isStream(ctx, key); {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return nil, nil
	case err != nil:
		return nil, wrap("read", key, err)
	case stream:
		return s.resealStream(ctx, key)
	}
	stored, err := s.bucket.ReadAll(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, wrap("read", key, err)
	}
	plain, err := s.unseal(key, stored)
	if err != nil {
		return nil, err
	}
	stored = s.sealed(key, plain)
	if err := s.bucket.WriteAll(ctx, key, stored, writerOptions()); err != nil {
		return nil, fmt.Errorf("write %s: %w", key, err)
	}
	return stored[len(sealedMagic) : len(sealedMagic)+headerSize], nil
}

func (s *Store) isStream(ctx context.Context, key string) (bool, error) {
	r, err := s.bucket.NewRangeReader(ctx, key, 0, int64(len(streamMagic)), nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = r.Close() }()
	head, err := io.ReadAll(r)
	return bytes.Equal(head, streamMagic), err
}

// LockWith makes writers of secret objects and Reseal wait for each other, in all processes: lock waits until no other holds the
// key. Without it, only one process may write while Reseal runs.
func (s *Store) LockWith(lock func(ctx context.Context, key string) (unlock func(), err error)) {
	s.lock = lock
}
