package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockPoll is how often a taken lock is tried again; flock(2) itself cannot be given up.
const lockPoll = 50 * time.Millisecond

// fileLock is a lock between processes; the kernel releases it when its process dies.
// Lock files are never removed: another process could hold the removed one.
type fileLock struct{ file *os.File }

func (l *fileLock) release() { _ = l.file.Close() }

// tryLock takes the lock exclusively; it returns false when another process has it.
func tryLock(path string) (*fileLock, bool, error) { return flock(path, syscall.LOCK_EX) }

// lockExclusive waits for the lock until ctx ends.
func lockExclusive(ctx context.Context, path string) (*fileLock, error) {
	return await(ctx, path, syscall.LOCK_EX)
}

// lockShared waits for the lock until ctx ends; many may hold it.
func lockShared(ctx context.Context, path string) (*fileLock, error) {
	return await(ctx, path, syscall.LOCK_SH)
}

func await(ctx context.Context, path string, how int) (*fileLock, error) {
	for {
		lock, ok, err := flock(path, how)
		if err != nil || ok {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for lock %s: %w", path, context.Cause(ctx))
		case <-time.After(lockPoll):
		}
	}
}

func flock(path string, how int) (*fileLock, bool, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("open lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		return &fileLock{f}, true, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("lock %s: %w", path, err)
}
