// Package filelock locks files between processes, see flock(2). The kernel releases a lock when its process dies. Lock files
// are never removed: another process could hold the removed one.
package filelock

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// poll is how often a taken lock is tried again; flock(2) itself cannot be given up.
const poll = 50 * time.Millisecond

// Lock is a lock that this process holds.
type Lock struct{ file *flock.Flock }

// Release unlocks before it closes: a child that was forked and has not yet executed its program holds a copy of the
// descriptor, and with it the lock.
func (l *Lock) Release() { _ = l.file.Unlock() }

// Try takes a lock exclusively, or returns nil when another process has it. A missing file is made with mode.
func Try(path string, mode os.FileMode) (*Lock, error) { return try(at(path, os.O_CREATE, mode)) }

// TryExisting works as Try, for a file that exists.
func TryExisting(path string) (*Lock, error) { return try(at(path, 0, 0)) }

// Exclusive waits for a lock until ctx ends.
func Exclusive(ctx context.Context, path string) (*Lock, error) {
	file := at(path, os.O_CREATE, 0o600)
	return wait(ctx, file, file.TryLockContext)
}

// Shared waits for a lock until ctx ends; many may hold it.
func Shared(ctx context.Context, path string) (*Lock, error) {
	file := at(path, os.O_CREATE, 0o600)
	return wait(ctx, file, file.TryRLockContext)
}

// at opens for writing, because locks over NFS require that.
func at(path string, flags int, mode os.FileMode) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_RDWR|flags), flock.SetPermissions(mode))
}

func try(file *flock.Flock) (*Lock, error) {
	taken, err := file.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", file.Path(), err)
	}
	if !taken {
		return nil, nil //nolint:nilnil // as documented
	}
	return &Lock{file}, nil
}

func wait(ctx context.Context, file *flock.Flock, take func(context.Context, time.Duration) (bool, error)) (*Lock, error) {
	if _, err := take(ctx, poll); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("wait for lock %s: %w", file.Path(), err)
	}
	return &Lock{file}, nil
}
