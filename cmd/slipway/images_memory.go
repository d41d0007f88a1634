package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// imagesGC is how much the heap may grow before it is collected, in percent: what lives
	// is little, and answers leave hardly anything behind.
	imagesGC = 50
	// pagesLook is how often pages of the program are given back.
	pagesLook = time.Second
)

// leanMemory keeps the memory of the process small until ctx ends. The program has the
// whole service in it: initializing its packages reads most of the file, some 90 MB, and
// every garbage collection reads a third of that again, of which sending images needs a
// few. A page that is needed again is mapped again, in less than a microsecond.
func leanMemory(ctx context.Context, logger *slog.Logger) {
	debug.FreeOSMemory() // the start left as much again as what lives
	for ticker := time.NewTicker(pagesLook); ; {
		if err := dropReadOnlyPages(); err != nil {
			logger.Debug("pages of the program not given back", "error", err) // it only costs memory
			return
		}
		select {
		case <-ctx.Done():
			ticker.Stop()
			return
		case <-ticker.C:
		}
	}
}

// dropReadOnlyPages gives back the pages of this program's file that cannot be written
// to: madvise(2), MADV_DONTNEED. They come back from the page cache.
func dropReadOnlyPages() error {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return fmt.Errorf("read the mappings of this program: %w", err)
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		// address perms offset dev inode pathname, see proc_pid_maps(5)
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || strings.Join(fields[5:], " ") != self || strings.Contains(fields[1], "w") {
			continue
		}
		var from, to uintptr
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to); err != nil {
			return fmt.Errorf("read the mapping %s: %w", fields[0], err)
		}
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("give back the mapping %s: %w", fields[0], errno)
		}
	}
	return lines.Err()
}
