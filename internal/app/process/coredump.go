package process

import (
	"log/slog"
	"syscall"
)

// NoCoreDumps keeps the memory of this process and of its children, with keys and passwords, from being written to a disk when one
// of them crashes.
func NoCoreDumps(log *slog.Logger) {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		log.Warn("core dumps not switched off", "error", err)
	}
}
