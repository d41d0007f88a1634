// Package idlememory keeps the memory of a process small that mostly waits. Most of the memory of such a
// process is not data but pages of its own file: initializing its packages reads most of it, and every garbage
// collection a third of that again, of which waiting needs little.
package idlememory

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// worthwhile is the amount of new memory, in bytes, after which the heap is collected and returned.
const worthwhile = 1 << 20

// Pace is how often memory is returned to the system.
type Pace struct {
	Pages time.Duration // of the program
	// Heap is the minimum time between two collections for it, because of their cost.
	Heap time.Duration
}

// Keep returns memory to the system at once and then periodically, until ctx ends: pages of the program, each
// of which is mapped again in less than a microsecond when needed, and heap left over from busy times, which
// the runtime would keep for minutes.
func Keep(ctx context.Context, pace Pace, log *slog.Logger) {
	program, err := Self()
	if err != nil {
		log.Debug("pages of the program not given back", "error", err) // it only costs memory
	}
	ticker := time.NewTicker(pace.Pages)
	defer ticker.Stop()
	looks, rest := 0, int(pace.Heap/pace.Pages)
	for collected := uint64(0); ; looks-- {
		// The runtime reports as live what was in use at the last collection, if there was one.
		if taken := allocated(); looks <= 0 && taken-collected > worthwhile {
			debug.FreeOSMemory()
			collected, looks = taken, rest
		}
		if err := program.GiveBack(); err != nil {
			log.Debug("pages of the program not given back", "error", err)
			program = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// allocated returns how much memory the process has ever allocated on its heap.
func allocated() uint64 {
	all := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(all)
	return all[0].Value.Uint64()
}

// Program lists where a program's file is mapped in memory.
type Program []Mapping

// Mapping is a part of the address space.
type Mapping struct{ From, To uintptr }

// Self finds the program of this process.
func Self() (Program, error) {
	file, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil, fmt.Errorf("read the mappings of this program: %w", err)
	}
	defer func() { _ = smaps.Close() }()
	program, err := Read(smaps, file)
	if err != nil {
		return nil, fmt.Errorf("read the mappings of this program: %w", err)
	}
	return program, nil
}

// GiveBack returns the pages to the system: madvise(2), MADV_DONTNEED. They are read again from the page cache.
func (p Program) GiveBack() error {
	for _, m := range p {
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.From, m.To-m.From, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("give back the mapping %x-%x: %w", m.From, m.To, errno)
		}
	}
	return nil
}

// Read finds the mappings in proc_pid_smaps(5) that hold parts of a file and are not writable. Pages that the
// loader relocated before it protected them (PIE, -z relro) differ from the file, even when they are swapped
// out: without them the program crashes at its next step.
func Read(smaps io.Reader, file string) (Program, error) {
	var found Program
	var at Mapping
	ours, untouched := false, false
	for lines := bufio.NewScanner(smaps); ; {
		if !lines.Scan() {
			return found, lines.Err()
		}
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) > 4 && !strings.HasSuffix(fields[0], ":"): // address perms offset dev inode pathname
			untouched = false
			ours = len(fields) > 5 && strings.Join(fields[5:], " ") == file && !strings.Contains(fields[1], "w")
			if _, err := fmt.Sscanf(fields[0], "%x-%x", &at.From, &at.To); err != nil {
				return nil, fmt.Errorf("read the mapping %s: %w", fields[0], err)
			}
		case !ours || len(fields) < 2 || fields[1] != "0":
		case fields[0] == "Anonymous:":
			untouched = true
		case fields[0] == "Swap:" && untouched: // always after Anonymous
			found = append(found, at)
		}
	}
}
