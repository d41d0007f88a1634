package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("read the mappings of this program: %w", err)
	}
	defer maps.Close()
	list, err := pagesOfFile(maps, self)
	if err != nil {
		return fmt.Errorf("read the mappings of this program: %w", err)
	}
	for _, p := range list {
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, p.from, p.to-p.from, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("give back the mapping %x-%x: %w", p.from, p.to, errno)
		}
	}
	return nil
}

// pages are a mapping, by its addresses.
type pages struct{ from, to uintptr }

// pagesOfFile are the mappings in proc_pid_smaps(5) that hold what is in a file, and cannot
// be written to. What the loader relocated before it was protected (PIE, -z relro) is not
// in the file: without it the program ends at its next step.
func pagesOfFile(smaps io.Reader, file string) ([]pages, error) {
	var found []pages
	var at pages
	ours := false
	for lines := bufio.NewScanner(smaps); ; {
		if !lines.Scan() {
			return found, lines.Err()
		}
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) > 4 && !strings.HasSuffix(fields[0], ":"): // address perms offset dev inode pathname
			ours = strings.Join(fields[5:], " ") == file && !strings.Contains(fields[1], "w")
			if _, err := fmt.Sscanf(fields[0], "%x-%x", &at.from, &at.to); err != nil {
				return nil, fmt.Errorf("read the mapping %s: %w", fields[0], err)
			}
		case ours && len(fields) > 1 && fields[0] == "Anonymous:" && fields[1] == "0":
			found = append(found, at)
		}
	}
}
