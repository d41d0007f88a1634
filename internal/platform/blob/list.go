package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
)

// Object is one entry of a listing.
type Object struct {
	Key     string
	Size    int64 // bytes as stored, so more than the plain data of a sealed object
	ModTime time.Time
}

// List returns the objects below folder, a key without a slash at its end, in the
// order of their keys; an empty folder means all objects.
func (s *Store) List(ctx context.Context, folder string) ([]Object, error) {
	var found []Object
	err := s.walk(ctx, folder, func(o *blob.ListObject) error {
		if !leftover.MatchString(o.Key) {
			found = append(found, Object{Key: o.Key, Size: o.Size, ModTime: o.ModTime})
		}
		return nil
	})
	return found, err
}

// DeletePrefix removes every object below folder, and temporary files of killed writers. It stops at the first
// error; a further call continues.
func (s *Store) DeletePrefix(ctx context.Context, folder string) error {
	if err := checkKey(folder); err != nil {
		return err
	}
	return s.walk(ctx, folder, func(o *blob.ListObject) error { return s.delete(ctx, o.Key) })
}

func (s *Store) walk(ctx context.Context, folder string, visit func(*blob.ListObject) error) error {
	opts := &blob.ListOptions{}
	if folder != "" {
		if err := checkKey(folder); err != nil {
			return err
		}
		opts.Prefix = folder + "/" // or "clusters/1" would match "clusters/10" as well
	}
	objects := s.bucket.List(opts)
	for {
		o, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list %s: %w", folder, err)
		}
		if err := visit(o); err != nil {
			return err
		}
	}
}
