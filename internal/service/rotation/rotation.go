// Package rotation replaces the key that encrypts the secrets of the service while it runs: data of older keys is encrypted again,
// value by value, so that a process that is killed at any moment continues when it is started.
package rotation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"slipway/internal/platform/encryption"
	"slipway/internal/platform/store"
)

// Every is how often the key file is read, and counted what old keys still encrypt.
const Every = 5 * time.Second

// overlap is how long processes that have not read the file yet may encrypt with an old key after one uses the new one.
const overlap = time.Minute

// Tables count and encrypt again the encrypted values in the database.
type Tables interface {
	Reseal(ctx context.Context) (int, error)
	SealedValues(ctx context.Context) (map[string]int64, error)
	UseKey(ctx context.Context, id string) (time.Time, error)
	CountKey(ctx context.Context, u store.KeyUse) error
	KeyUses(ctx context.Context) ([]store.KeyUse, error)
	TryOnly(ctx context.Context, lock int64, work func(context.Context) error) (bool, error)
}

// Files encrypt again the files in the blob store.
type Files interface {
	Reseal(ctx context.Context) (done int, counts map[string]int64, err error)
}

// Temporal holds the inputs of workflows, encrypted; a history is never changed.
type Temporal interface {
	// UseKey replaces the inputs of workflows that will start by themselves.
	UseKey(ctx context.Context) error
	// StartedBefore counts the workflows in its database that started before a time.
	StartedBefore(ctx context.Context, t time.Time) (int64, error)
}

// Rotation encrypts again after the key file has changed.
type Rotation struct {
	Keys     *encryption.Keys
	Tables   Tables
	Files    Files
	Temporal Temporal
	Log      *slog.Logger

	using   string // id of the key that Tables knows to be used
	settled bool   // old keys have been counted since the last change, and encrypt nothing but histories
}

// Run works until ctx ends.
func (r *Rotation) Run(ctx context.Context) {
	ticker := time.NewTicker(Every)
	defer ticker.Stop()
	for {
		if err := r.Look(ctx); err != nil && ctx.Err() == nil {
			r.Log.Warn("not all secrets are encrypted with the current key yet; they will be", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Look records that the current key is used, and encrypts again the data of older keys.
func (r *Rotation) Look(ctx context.Context) error {
	keys := r.Keys.Held()
	if current := keys[0].ID(); r.using != current {
		if r.using != "" { // the start of the service has done it
			if err := r.Temporal.UseKey(ctx); err != nil {
				return err
			}
		}
		if _, err := r.Tables.UseKey(ctx, current); err != nil {
			return fmt.Errorf("record the use of key %s: %w", current, err)
		}
		r.using, r.settled = current, false
	}
	if len(keys) == 1 {
		return nil
	}
	_, err := r.Tables.TryOnly(ctx, store.ResealLock, func(ctx context.Context) error { return r.reseal(ctx, keys) })
	return err
}

// reseal encrypts everything again and counts what old keys encrypt after that.
func (r *Rotation) reseal(ctx context.Context, keys []encryption.Key) error {
	rows, failed := r.Tables.Reseal(ctx)
	objects, files, err := r.Files.Reseal(ctx)
	failed = errors.Join(failed, err)
	if rows+objects > 0 {
		r.Log.Info("encrypted again", "key", keys[0].ID(), "values", rows, "files", objects)
	}
	values, err := r.Tables.SealedValues(ctx)
	if err != nil {
		return errors.Join(failed, err)
	}
	uses, err := r.Tables.KeyUses(ctx)
	if err != nil {
		return errors.Join(failed, err)
	}
	left := int64(0)
	for n, key := range keys {
		use := store.KeyUse{ID: key.ID()}
		for _, header := range key.Headers() {
			use.Values += values[string(header)] + files[string(header)]
		}
		if n > 0 {
			if use.Workflows, err = r.Temporal.StartedBefore(ctx, replaced(keys[:n], uses).Add(overlap)); err != nil {
				return errors.Join(failed, err)
			}
			left += use.Values
		}
		if err := r.Tables.CountKey(ctx, use); err != nil {
			return errors.Join(failed, err)
		}
	}
	if failed == nil && left == 0 && !r.settled {
		r.settled = true
		r.Log.Info("all secrets of the service are encrypted with the current key", "key", keys[0].ID())
	}
	return failed
}

// replaced returns when a key was first replaced by a key above it.
func replaced(above []encryption.Key, uses []store.KeyUse) time.Time {
	var first time.Time
	for _, key := range above {
		for _, use := range uses {
			if use.ID == key.ID() && (first.IsZero() || use.UsedSince.Before(first)) {
				first = use.UsedSince
			}
		}
	}
	return first
}
