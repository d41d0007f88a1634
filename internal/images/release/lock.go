package release

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a taken lock is tried again; flock(2) itself cannot be given up.
const lockPoll = 50 * time.Millisecond

// fileLock is a lock between processes; the kernel releases it when its process dies.
// Lock files are never removed: another process could hold the removed one.
type fileLock struct{ file *flock.Flock }

// release unlocks before it closes: a child that was forked and has not yet executed its program holds a copy of the
// descriptor, and with it the lock.
func (l *fileLock) release() { _ = l.file.Unlock() }

func lockOf(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
}

// tryLock takes the lock exclusively; it returns false when another process has it.
func tryLock(path string) (*fileLock, bool, error) {
	file := lockOf(path)
	ok, err := file.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", path, err)
	}
	return &fileLock{file}, ok, nil
}

// lockExclusive waits for the lock until ctx ends.
func lockExclusive(ctx context.Context, path string) (*fileLock, error) {
	file := lockOf(path)
	return await(ctx, file, file.TryLockContext)
}

// lockShared waits for the lock until ctx ends; many may hold it.
func lockShared(ctx context.Context, path string) (*fileLock, error) {
	file := lockOf(path)
	return await(ctx, file, file.TryRLockContext)
}

func await(ctx context.Context, file *flock.Flock, take func(context.Context, time.Duration) (bool, error)) (*fileLock, error) {
	if _, err := take(ctx, lockPoll); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("wait for lock %s: %w", file.Path(), err)
	}
	return &fileLock{file}, nil
}
