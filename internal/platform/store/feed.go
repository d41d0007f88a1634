package store

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// feedEvery is how often changes are numbered while somebody waits for them.
	feedEvery = 200 * time.Millisecond
	// feedIdle is how often they are numbered otherwise, so that the log stays short.
	feedIdle = 30 * time.Second
	// feedRetry is how soon it is tried again after a failure.
	feedRetry = time.Second
	// forgetEvery is how often old deletions are removed, and deletionsFor how long they are kept (api/slipway.yaml, ListChanges).
	forgetEvery  = time.Hour
	deletionsFor = 7 * 24 * time.Hour
)

// Feed wakes who waits for changes, whichever process made them.
type Feed struct {
	store *Store
	log   *slog.Logger

	mu      sync.Mutex
	end     Cursor
	moved   chan struct{} // closed when end moves
	waiting int
	wanted  chan struct{}
}

// NewFeed makes a Feed; Run must be running for changes to arrive.
func NewFeed(s *Store, log *slog.Logger) *Feed {
	return &Feed{store: s, log: log, moved: make(chan struct{}), wanted: make(chan struct{}, 1)}
}

// Run numbers changes, and removes old deletions, until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	var forgot time.Time
	for {
		if now := f.store.Now(); now.Sub(forgot) > forgetEvery {
			if err := f.store.ForgetChanges(ctx, now.Add(-deletionsFor)); err != nil && ctx.Err() == nil {
				f.log.Warn("old deletions stay in the feed of changes", "error", err)
			}
			forgot = now
		}
		end, err := f.store.NumberChanges(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.log.Warn("changes not numbered", "error", err)
		} else {
			f.move(end)
		}
		f.pause(ctx, err != nil)
	}
}

// move sets the end of the feed and wakes all who wait.
func (f *Feed) move(end Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if end != f.end {
		f.end = end
		close(f.moved)
		f.moved = make(chan struct{})
	}
}

func (f *Feed) pause(ctx context.Context, failed bool) {
	f.mu.Lock()
	every, wanted := feedIdle, f.wanted
	switch {
	case failed:
		every, wanted = feedRetry, nil
	case f.waiting > 0:
		every, wanted = feedEvery, nil
	}
	f.mu.Unlock()
	timer := time.NewTimer(every)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-wanted:
	}
}

// Wait returns true when the feed has moved beyond a cursor, and false when ctx ends. It returns true at once for a cursor of
// another epoch.
func (f *Feed) Wait(ctx context.Context, after Cursor) bool {
	if ctx.Err() != nil {
		return false
	}
	f.mu.Lock()
	f.waiting++
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.waiting--
		f.mu.Unlock()
	}()
	wake(f.wanted)
	for ctx.Err() == nil {
		f.mu.Lock()
		end, moved := f.end, f.moved
		f.mu.Unlock()
		if end.epoch == after.epoch && end.n > after.n || end != (Cursor{}) && end.epoch != after.epoch {
			return true
		}
		select {
		case <-ctx.Done():
		case <-moved:
		}
	}
	return false
}
