// Package userids leases ids of users to programs that are not trusted, one a run: two that run at once cannot read or signal each other,
// and share no limit of the kernel. A lease is a lock of the kernel, which ends with the process that holds it; before an id is used
// again, whatever still runs as it is killed, and its files are removed.
package userids

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"slipway/internal/model"
	"slipway/internal/platform/filelock"
)

// Range holds ids of users, and of groups with the same numbers. No account may have one of them.
type Range struct{ First, Last uint32 }

func (r Range) String() string { return fmt.Sprintf("%d-%d", r.First, r.Last) }

// most is how many ids a range may have, and least the first one that neither systems nor people use.
const most, least = 4096, 1000

// Parse reads FIRST-LAST.
func Parse(text string) (r Range, err error) {
	first, last, _ := strings.Cut(text, "-")
	from, firstErr := strconv.ParseUint(first, 10, 31)
	to, lastErr := strconv.ParseUint(last, 10, 31)
	if firstErr != nil || lastErr != nil || from < least || to < from || to-from >= most {
		return r, model.Invalidf("require FIRST-LAST, at most %d ids from %d on, found %q", most, least, text)
	}
	return Range{uint32(from), uint32(to)}, nil
}

// Pool leases the ids of a range to all processes of a machine.
type Pool struct {
	ids    Range
	folder string
	next   atomic.Uint32
}

// Open returns a pool whose locks are in a folder that belongs to this process's user alone; all processes that use the range name the
// same one. It returns an error where the machine has not all ids, or an account has one.
func Open(ids Range, folder string) (*Pool, error) {
	for _, kind := range []string{"uid", "gid"} {
		text, err := os.ReadFile("/proc/self/" + kind + "_map")
		if err != nil {
			return nil, fmt.Errorf("read the ids of this machine: %w", err)
		}
		if !mapped(text, ids) {
			return nil, model.Unprocessablef("require the ids %s in the user namespace of the service (/proc/self/%s_map), found others", ids, kind)
		}
	}
	for id := ids.First; id <= ids.Last; id++ {
		if account, err := user.LookupId(strconv.Itoa(int(id))); err == nil {
			return nil, model.Unprocessablef("require ids without an account, found %s (%d)", account.Username, id)
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of leases: %w", err)
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return nil, fmt.Errorf("make the folder of leases: %w", err)
	}
	if owner, known := ownerOf(info); !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !known || owner != uint32(os.Geteuid()) {
		return nil, model.Unprocessablef("require a folder of this user alone at %s, found %s", folder, info.Mode())
	}
	return &Pool{ids: ids, folder: folder}, nil
}

// mapped reports whether the lines of a uid_map have all ids: each has the first id in the namespace, the first outside and their number
// (user_namespaces(7)).
func mapped(text []byte, ids Range) bool {
	for line := range bytes.Lines(text) {
		var first, outside, number uint64
		if _, err := fmt.Sscan(string(line), &first, &outside, &number); err != nil {
			continue
		}
		if first <= uint64(ids.First) && uint64(ids.Last) < first+number {
			return true
		}
	}
	return false
}

// First returns the first id of the range, which stands for all where only the difference to the process's own user counts.
func (p *Pool) First() uint32 { return p.ids.First }

// Lease is the right to run programs as an id.
type Lease struct {
	ID uint32

	lock   *filelock.Lock
	folder string
}

// again is the time until taken ids are tried again.
const again = 100 * time.Millisecond

// Lease waits for an id that no process has a lease of, until ctx ends. What runs as the id is killed. Its files in work, and in folders
// that all users may write, are removed. Ids of which something stays are left out; without any other, that is the error.
func (p *Pool) Lease(ctx context.Context, work string) (*Lease, error) {
	for {
		var failed error
		taken := false
		for range p.ids.Last - p.ids.First + 1 {
			lease, err := p.try(work)
			if lease != nil {
				return lease, nil
			}
			failed = errors.Join(failed, err)
			taken = taken || err == nil
		}
		if !taken {
			return nil, fmt.Errorf("lease a user id of %s: %w", p.ids, failed)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a user id of %s: %w", p.ids, context.Cause(ctx))
		case <-time.After(again):
		}
	}
}

// try leases the next id; nil without an error: it is taken.
func (p *Pool) try(work string) (*Lease, error) {
	id := p.ids.First + (p.next.Add(1)-1)%(p.ids.Last-p.ids.First+1)
	lock, err := filelock.Try(filepath.Join(p.folder, strconv.Itoa(int(id))), 0o600)
	if lock == nil {
		return nil, err
	}
	lease := &Lease{ID: id, lock: lock, folder: work}
	if err := lease.Clear(); err != nil {
		lock.Release()
		return nil, err
	}
	return lease, nil
}

// Clear kills all processes of the id, and removes its files.
func (l *Lease) Clear() error {
	if err := kill(l.ID); err != nil {
		return err
	}
	for _, folder := range []string{l.folder, os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		if err := removeOf(l.ID, folder); err != nil {
			return err
		}
	}
	return nil
}

// Release gives the id back, cleared as far as possible: whoever leases it next does that again.
func (l *Lease) Release() {
	_ = l.Clear()
	l.lock.Release()
}
