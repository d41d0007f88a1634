// Package diskspeed measures how long a disk takes to have a small write on stable
// storage, as etcd needs it (docs/reference/agent-protocol.md, "Disk speed").
package diskspeed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"slipway/internal/platform/hostexec"
)

// The load: two writers that write records one after the other over the beginning of the disk.
const (
	writers = 2
	area    = 22 << 20
	record  = 2300
	// A record is rounded to pages on both sides: direct writes have to begin and end with a sector,
	// which has 512 or 4096 bytes.
	page = 4096
)

// dying is how long a write that was given up may take to return: it waits for its disk.
const dying = 10 * time.Second

// Meter measures disks of this machine.
type Meter struct {
	Root hostexec.Root
	Now  func() time.Time
}

// outcome is a result of SyncLatency.
type outcome struct {
	latency time.Duration
	err     error
}

// SyncLatency overwrites the first 22 MiB of a disk, in the way of a log that is synced
// after each record, and returns the 99th percentile of the slower of two writers. It
// refuses a device that is mounted itself and makes no file of one that is absent.
func (m Meter) SyncLatency(ctx context.Context, path string) (time.Duration, error) {
	over := make(chan outcome, 1)
	go func() {
		latency, err := m.measure(ctx, path)
		over <- outcome{latency, err}
	}()
	select {
	case o := <-over:
		return o.latency, o.err
	case <-ctx.Done():
	}
	patience := time.NewTimer(dying)
	defer patience.Stop()
	select {
	case o := <-over:
		return o.latency, o.err
	case <-patience.C:
		return 0, fmt.Errorf("the disk does not answer: %w", context.Cause(ctx))
	}
}

// measure runs the writers at the same time and returns the worst of them.
func (m Meter) measure(ctx context.Context, path string) (time.Duration, error) {
	if err := m.refuseMounted(path); err != nil {
		return 0, err
	}
	results := make([]time.Duration, writers)
	group, ctx := errgroup.WithContext(ctx)
	for n := range results {
		group.Go(func() (err error) {
			results[n], err = m.write(ctx, path)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return slices.Max(results), nil
}

// write times the writes of one writer, each with its sync. A direct write does not wait
// in the page cache: what it writes are the pages that the cache would write for a record.
func (m Meter) write(ctx context.Context, path string) (time.Duration, error) {
	file, err := m.open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	content, err := noise(record/page + 2)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Munmap(content) }()
	latencies := make([]time.Duration, 0, area/record)
	for offset := int64(0); offset+record <= area; offset += record {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		from, to := offset&^(page-1), (offset+record+page-1)&^(page-1)
		begin := m.Now()
		if _, err := file.WriteAt(content[:to-from], from); err != nil {
			return 0, err
		}
		if err := datasync(file); err != nil {
			return 0, err
		}
		latencies = append(latencies, m.Now().Sub(begin))
	}
	slices.Sort(latencies)
	return latencies[len(latencies)*99/100], nil
}

// open opens a disk for direct writes, or for others where it has none.
func (m Meter) open(path string) (*os.File, error) {
	path = m.Root.Path(path)
	file, err := os.OpenFile(path, os.O_WRONLY|unix.O_DIRECT, 0)
	if errors.Is(err, unix.EINVAL) {
		return os.OpenFile(path, os.O_WRONLY, 0)
	}
	return file, err
}

// noise maps a number of pages that all have the same content, as direct writes need
// memory that begins with a page. Storage that packs its content would be too fast with
// zeros; noise that is always the same never looks like a boot sector or partition table.
func noise(count int) ([]byte, error) {
	content, err := unix.Mmap(-1, 0, count*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map %d pages: %w", count, err)
	}
	_, _ = rand.NewChaCha8([32]byte{}).Read(content[:page]) // never fails
	for n := 1; n < count; n++ {
		copy(content[n*page:], content[:page])
	}
	return content, nil
}

// datasync waits until the content of a file is on stable storage.
func datasync(file *os.File) error {
	for {
		err := syscall.Fdatasync(int(file.Fd()))
		if err != syscall.EINTR {
			return err
		}
	}
}
