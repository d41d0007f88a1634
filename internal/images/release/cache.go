package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"slipway/internal/platform/filelock"
)

// cache stores programs as files named by what they were extracted from. A file with its
// final name is always complete: it is written beside it, synced and renamed.
//
// Every program has a lock file beside it. A process that runs the program holds it shared; one that
// writes or evicts the program holds it exclusively.
type cache struct {
	dir   string
	limit int64 // bytes
	now   func() time.Time
	mode  fs.FileMode // of programs
}

// program is a cached program that stays until it is released.
type program struct {
	path string
	lock *filelock.Lock
}

func (p *program) release() { p.lock.Release() }

func (c *cache) path(name string) string     { return filepath.Join(c.dir, name) }
func (c *cache) lockPath(name string) string { return filepath.Join(c.dir, "."+name+".lock") }
func (c *cache) partPath(name string) string { return filepath.Join(c.dir, "."+name+".partial") }

// get returns the program of that name, locked; nil when it is not cached.
func (c *cache) get(ctx context.Context, name string) (*program, error) {
	lock, err := filelock.Shared(ctx, c.lockPath(name))
	if err != nil {
		return nil, err
	}
	now := c.now()
	if err := os.Chtimes(c.path(name), now, now); err != nil { // eviction goes by this time
		lock.Release()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, fmt.Errorf("use cached program: %w", err)
	}
	if err := os.Chmod(c.path(name), c.mode); err != nil { // it can be from a time with another user
		lock.Release()
		return nil, fmt.Errorf("use cached program: %w", err)
	}
	return &program{path: c.path(name), lock: lock}, nil
}

// add writes a program with the content of fill, unless another process did so meanwhile, and evicts others
// beyond the limit.
func (c *cache) add(ctx context.Context, name string, fill func(io.Writer) error) error {
	lock, err := filelock.Exclusive(ctx, c.lockPath(name))
	if err != nil {
		return err
	}
	defer lock.Release()
	if _, err := os.Stat(c.path(name)); err == nil {
		return nil
	}
	if err := c.write(name, fill); err != nil {
		return err
	}
	return c.evict(name)
}

func (c *cache) write(name string, fill func(io.Writer) error) error {
	part := c.partPath(name)
	// Truncate what a killed process left under this name.
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write cached program: %w", err)
	}
	err = fill(f)
	if err == nil {
		err = errors.Join(f.Chmod(c.mode), f.Sync())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	now := c.now()
	if err := errors.Join(os.Chtimes(part, now, now), os.Rename(part, c.path(name))); err != nil {
		return fmt.Errorf("write cached program: %w", err)
	}
	return nil
}

// evict removes the least recently used programs until the rest is within the limit. The program keep and
// running programs stay.
func (c *cache) evict(keep string) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("list cached programs: %w", err)
	}
	var programs []fs.FileInfo
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || strings.HasPrefix(e.Name(), ".") {
			continue // removed meanwhile, or not a program
		}
		programs = append(programs, info)
		total += info.Size()
	}
	slices.SortFunc(programs, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, p := range programs {
		if total <= c.limit {
			return nil
		}
		if p.Name() == keep {
			continue
		}
		removed, err := c.remove(p.Name())
		if err != nil {
			return err
		}
		if removed {
			total -= p.Size()
		}
	}
	return nil
}

func (c *cache) remove(name string) (bool, error) {
	lock, err := filelock.Try(c.lockPath(name), 0o600)
	if lock == nil {
		return false, err
	}
	defer lock.Release()
	if err := os.Remove(c.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("evict cached program: %w", err)
	}
	return true, nil
}
